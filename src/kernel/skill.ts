import { basename, dirname } from 'node:path'

import type { ProposedCommand } from './commands.ts'
import type { Diagnostic } from './failures.ts'
import type { JsonObject } from './json.ts'
import { nameKey } from './safe-text.ts'

/** Where a skill comes from, high to low: a higher tier wins when two skills share a name. Source: decisions, "tiers". */
export const TIERS = ['workspace', 'local', 'bundled', 'source', 'extra'] as const
export type Tier = (typeof TIERS)[number]

/** Requirements before the skill can run. Every list may be empty. Source: seed 001 §1.4. */
export interface Requirements {
  readonly bins: readonly string[]
  readonly anyBins: readonly string[]
  readonly env: readonly string[]
  readonly config: readonly string[]
  /** Hosts that its commands reach, as in `execution.network.allowedDomains`. */
  readonly network: readonly string[]
}

/** A requirement that is written so that it cannot be read. */
export interface UnreadableRequirement {
  /** Such as `requires.env`. */
  readonly key: string
  /** Line in SKILL.md, from 1. */
  readonly line: number
  /** A line that is right. */
  readonly example: string
}

/** One way to install what a skill needs; shown, and run only on explicit request. Source: seed 001 §1.4, contracts §2.3. */
export interface InstallSpec {
  readonly id: string
  readonly kind: string
  readonly label?: string
  readonly bins: readonly string[]
  readonly os: readonly string[]
  /** The remaining keys as written: formula, package, module, url … */
  readonly details: JsonObject
}

/** The gating and display part of `metadata`, read from every accepted place and alias. */
export interface SkillMetadata {
  readonly emoji?: string
  readonly homepage?: string
  readonly os: readonly string[]
  readonly requires: Requirements
  /** Absent when every requirement was read. */
  readonly unreadable?: readonly UnreadableRequirement[]
  readonly primaryEnv?: string
  readonly install: readonly InstallSpec[]
  readonly always: boolean
  /** While the skill is in use, only its `allowed-tools` and the skill tools may be called. */
  readonly restrict?: true
  readonly skillKey?: string
  /** Other skills that it works with, as written; an install names those that are missing. Absent when there are none. */
  readonly requiredSkills?: readonly string[]
}

/** Content of a SKILL.md, independent of its place. */
export interface SkillDocument {
  /** The label as written, or undefined when it is missing. Never part of a path or a shell word. */
  readonly name: string | undefined
  readonly description: string | undefined
  readonly license?: string | undefined
  readonly compatibility?: string | undefined
  /** Tool names or patterns such as `Bash(git add:*)`, from any accepted form. They never widen power. */
  readonly allowedTools: readonly string[]
  /** Names of positional arguments, when the skill declares `arguments:`. */
  readonly arguments: readonly string[]
  /** May the model start it by itself; may a person start it by name. */
  readonly invocation: { readonly model: boolean; readonly user: boolean }
  readonly metadata: SkillMetadata
  /** Every frontmatter key as parsed, in order, unknown ones too; an object without a prototype. */
  readonly frontmatter: JsonObject
  /** The Markdown after the frontmatter, byte for byte as decoded. */
  readonly body: string
}

/** Identity of a file's content at a moment; two equal stamps mean "not changed". */
export interface FileStamp {
  readonly mtimeMs: number
  readonly size: number
  readonly inode: number
}

/** A stamp as one word, for comparing and for keeping. */
export function stampText({ mtimeMs, size, inode }: FileStamp): string {
  return `${mtimeMs}-${size}-${inode}`
}

/** Which source found a skill. `source` is unique within a runtime and forms the address `source/name`. */
export interface SkillOrigin {
  readonly source: string
  readonly tier: Tier
  /** Position of the source among those of the same tier, from 0; the lower wins. */
  readonly rank: number
  /** False for a workspace that the user has not trusted: its skills are shown but run nothing. */
  readonly trusted: boolean
}

/** A skill that was found and read: the document's head plus where it lies. The body is read again on load. */
export interface Skill extends Omit<SkillDocument, 'body' | 'name' | 'description'> {
  /** The label; the directory's name when the frontmatter has none. */
  readonly name: string
  /** Empty when the frontmatter has none; such a skill is held. */
  readonly description: string
  readonly origin: SkillOrigin
  /** Real path of the skill's directory. */
  readonly directory: string
  /** Path of its SKILL.md inside `directory`. */
  readonly file: string
  /** Real path of what SKILL.md leads to, when it is a link inside the source's root; it was there when the skill was found. */
  readonly linkedTo?: string | undefined
  readonly stamp: FileStamp
  readonly diagnostics: readonly Diagnostic[]
}

/** A directory with a SKILL.md that could not become a skill; `diagnostics` say why, the first error first. */
export interface InvalidSkill {
  /** Name as far as it could be read, else the directory's name. */
  readonly name: string
  readonly file: string
  readonly origin: SkillOrigin
  readonly diagnostics: readonly Diagnostic[]
}

/** One file of a skill in its manifest. `path` is relative with forward slashes. */
export interface ManifestEntry {
  readonly path: string
  readonly size: number
  readonly executable: boolean
  /** Lower-case hex sha256 of the bytes. */
  readonly sha256: string
}

/** All files of a skill, byte-sorted by path, and the digest over them: the skill's revision. Source: reference/security §6. */
export interface Manifest {
  readonly files: readonly ManifestEntry[]
  /** `sha256:` followed by 64 hex digits. */
  readonly treeDigest: string
}

/**
 * The key under which configuration speaks of a skill: `skillKey` from a trusted source, else its name. Where secrets go along,
 * `isNameOfSkill` says whether a trusted skill has a name: what is configured for it is its own, and no `skillKey` reaches it.
 */
export function configKey(
  { name, metadata, origin }: Pick<Skill, 'name' | 'metadata' | 'origin'>,
  isNameOfSkill?: (name: string) => boolean,
): string {
  const { skillKey } = metadata
  if (!origin.trusted || !skillKey || skillKey === name) return name
  return isNameOfSkill?.(skillKey) ? name : skillKey
}

/**
 * Keys of the names that trusted skills have: what is configured under them is theirs. A skill that cannot be read may not have given its
 * name, so the name of its directory counts as well.
 */
export function trustedNames(
  skills: Iterable<Pick<Skill, 'name' | 'origin'>>,
  invalid: Iterable<InvalidSkill>,
): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { name, origin } of skills) if (origin.trusted) names.add(nameKey(name))
  for (const { name, file, origin } of invalid) {
    if (origin.trusted) names.add(nameKey(name)).add(nameKey(basename(dirname(file))))
  }
  return names
}

/** The address that names one copy of a skill even when another shadows it: `source/name`. */
export function skillAddress(skill: Pick<Skill, 'name' | 'origin'>): string {
  return `${skill.origin.source}/${skill.name}`
}

/** Platform names as skills write them in `os`. */
export type OsName = 'linux' | 'darwin' | 'windows' | (string & {})

/**
 * Facts about the place where commands would run. For the local sandbox these are derived from its profile
 * without starting one, so that gating speaks of the target and not of the host.
 */
export interface TargetFacts {
  /** For people: "local sandbox (uid 200000)", "e2b template base". */
  readonly target: string
  readonly os: OsName
  /** True when an executable of that name is on the target's PATH. */
  readonly hasBin: (name: string) => boolean
  /** True when that variable would be set and not empty. */
  readonly hasEnv: (name: string) => boolean
  /** The end of what the setup of a skill wrote, where it failed a short time ago; undefined where it did not. Absent where none is run. */
  readonly failedSetup?: (skill: Skill, command: string) => string | undefined
  /** Directories in which commands find programs, in their order; absent when that is not known. */
  readonly programDirectories?: readonly string[]
  /** Whether commands reach other machines; absent when that is not known. */
  readonly network?: boolean
  /** The directory below which commands read the files of skills and cannot change them; absent where there is none. */
  readonly skillsDirectory?: string
}

/** The gates in their order. Source: decisions, "gate order". */
export type HeldCode =
  | 'missing-description'
  | 'untrusted'
  | 'disabled'
  | 'not-allowed'
  | 'os'
  | 'invalid-requirement'
  | 'bin'
  | 'any-bins'
  | 'env'
  | 'config'
  | 'network'
  | 'setup'
  | 'tool-group'

/**
 * One reason why a skill cannot run there. `text` is fixed by seed 001; `fix` says what to do. Code acts on `code` and `missing` only.
 */
export interface HeldReason {
  readonly code: HeldCode
  /** The missing thing: the program, variable, setting, tool group or systems; several for `any-bins` and `os`; empty when nothing is named. */
  readonly missing: readonly string[]
  /** Keys of the setting that would lift it, or that causes it; absent when no setting would help. */
  readonly setting?: readonly (string | number)[]
  /** True when that setting holds a reference that cannot be resolved; `fix` says what is wrong with it. */
  readonly broken?: true
  readonly text: string
  readonly fix: string
  /** The command that `fix` ends with. */
  readonly proposal?: ProposedCommand
}

/** A skill that is kept back, with every reason, never only the first. */
export interface HeldSkill {
  readonly skill: Skill
  readonly reasons: readonly HeldReason[]
}

/** The outcome of gating: every skill is in exactly one of the two lists, in the order found. */
export interface Gated {
  readonly ready: readonly Skill[]
  readonly held: readonly HeldSkill[]
}
