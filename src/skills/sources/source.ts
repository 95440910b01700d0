import { DEFAULTS, type Diagnostic, type InvalidSkill, type Skill, type Tier, compareUtf8 } from '../../kernel/index.ts'

/** Nothing is dropped silently: each candidate is a skill or invalid, the rest is in `diagnostics`. */
export interface SourceResult {
  /** In byte order of their paths, directory by directory. */
  readonly skills: readonly Skill[]
  readonly invalid: readonly InvalidSkill[]
  /** Findings about the source itself; those about one skill are with that skill. */
  readonly diagnostics: readonly Diagnostic[]
  /** Tree digests by the path of SKILL.md, for copies of one name whose SKILL.md files are equal; a tree that cannot be read has none. */
  readonly treeDigests?: ReadonlyMap<string, string>
}

export interface SourceFolder {
  readonly path: string
  /** The real path of `path` must lie inside this directory, or it is neither searched nor watched. */
  readonly within?: string
}

/** A place where skills come from. `id` has no slash: `id/name` is the address of a skill. */
export interface SkillSource {
  readonly id: string
  readonly tier: Tier
  /** Position among the sources of the same tier, from 0; the lower wins. */
  readonly rank: number
  readonly trusted: boolean
  /** The directory whose changes are changes of this source; absent when it cannot be watched. */
  readonly folder?: SourceFolder
  /** Rejects only with NexusError CANCELLED, or for a fault of the source as a whole. */
  discover(signal?: AbortSignal): Promise<SourceResult>
}

export const SOURCE_LIMITS = {
  /** Levels below the root at which a SKILL.md is still found. */
  maxDepth: 8,
  /** Directories that are looked into. */
  maxDirectories: 50_000,
  /** Skills taken of one source. */
  maxSkills: 20_000,
  /** Bytes of a SKILL.md. */
  maxFileBytes: DEFAULTS.maxSkillFileBytes,
} as const

/** `SOURCE_LIMITS` with other numbers. */
export type SourceLimits = { readonly [name in keyof typeof SOURCE_LIMITS]: number }

const SURROGATE = /[\ud800-\udfff]/

/** True for a directory in which no skills are searched. */
export function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/** Sorts names. Only characters above U+FFFF sort otherwise as UTF-16, which is what `sort` does by itself, than as bytes. */
export function inByteOrder(names: string[]): string[] {
  return SURROGATE.test(names.join('')) ? names.sort(compareUtf8) : names.sort()
}
