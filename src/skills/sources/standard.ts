import { basename, join, resolve } from 'node:path'
import { keptPlace } from '../../machine/files/index.ts'
import type { KeptSearches } from './found/kept-search.ts'
import { createFolderSource, type FolderSourceOptions } from './folder.ts'
import type { SkillSource } from './source.ts'

export interface NamedDirectory {
  readonly path: string
  readonly id?: string
  readonly nested?: boolean
  /** A missing directory is an error. Default true. */
  readonly required?: boolean
}

export interface StandardSourcesOptions {
  /** Root of the workspace; without it there are no workspace sources. */
  readonly workspace?: string | undefined
  readonly workspaceTrusted: boolean
  /** Whether what is in `nexusHome` and `home` is the user's own; default true. */
  readonly homeTrusted?: boolean
  /** The user's home directory; without it `~/.agents/skills` is left out. */
  readonly home?: string | undefined
  /** Usually `~/.nexus`. */
  readonly nexusHome: string
  /** Version of this build. With it, what was read is kept in the Nexus home for the next process. */
  readonly version?: string | undefined
  /** The skills that are shipped with Nexus. */
  readonly bundledDir?: string | undefined
  /** Configured `sources[]`, in order; of git the directory of its copies. */
  readonly localSources?: readonly (string | NamedDirectory)[]
  /** `load.extraDirs` and `skill_dirs`, in order. They come from trusted configuration only. */
  readonly extraDirs?: readonly (string | NamedDirectory)[]
}

/**
 * The usual places in their order of precedence: workspace (`skills`, `.agents/skills`, `.claude/skills`), local (`skills` of the Nexus
 * home, `~/.agents/skills`), bundled, configured sources, extra directories. Source: decisions, "tiers, high to low".
 */
export function createStandardSources(options: StandardSourcesOptions): SkillSource[] {
  const { workspace, home, nexusHome, bundledDir, homeTrusted: trusted = true } = options
  const folders: FolderSourceOptions[] = []
  if (workspace !== undefined) {
    const common = { tier: 'workspace', trusted: options.workspaceTrusted, within: workspace } as const
    folders.push({ ...common, id: 'workspace', rank: 0, path: join(workspace, 'skills') })
    folders.push({ ...common, id: 'workspace:.agents', rank: 1, path: join(workspace, '.agents', 'skills') })
    folders.push({ ...common, id: 'workspace:.claude', rank: 2, path: join(workspace, '.claude', 'skills') })
  }
  folders.push({ id: 'local', tier: 'local', rank: 0, trusted, path: join(nexusHome, 'skills') })
  if (home !== undefined && home !== '') {
    folders.push({ id: 'local:.agents', tier: 'local', rank: 1, trusted, path: join(home, '.agents', 'skills') })
  }
  if (bundledDir !== undefined)
    folders.push({ id: 'bundled', tier: 'bundled', rank: 0, trusted: true, path: bundledDir })
  const taken = new Set(folders.map(({ id }) => id))
  folders.push(...named(options.localSources ?? [], { tier: 'source', taken }))
  folders.push(...named(options.extraDirs ?? [], { tier: 'extra', taken }))
  const keepIn = keptSearches(options)
  return folders.map((folder) => createFolderSource({ ...folder, keepIn, others: othersOf(folder, folders) }))
}

/** Roots of the same workspace, or of the same user. */
function othersOf({ id, tier }: FolderSourceOptions, folders: readonly FolderSourceOptions[]): readonly string[] {
  return folders.filter((each) => each.tier === tier && each.id !== id).map(({ path }) => path)
}

/** Undefined where others could write what the next process believes. */
function keptSearches({ nexusHome, version, homeTrusted = true }: StandardSourcesOptions): KeptSearches | undefined {
  if (version === undefined || !homeTrusted) return undefined
  try {
    const { directory } = keptPlace(nexusHome, 'skills')
    return directory === undefined ? undefined : { directory, version }
  } catch {
    // There is no home, or no right to write there.
    return undefined
  }
}

function named(
  directories: readonly (string | NamedDirectory)[],
  { tier, taken }: { tier: 'source' | 'extra'; taken: Set<string> },
): FolderSourceOptions[] {
  return directories.map((entry, rank) => {
    const { path, id, nested = false, required = true } = typeof entry === 'string' ? { path: entry } : entry
    return { id: freeId(id ?? `${tier}:${shortName(path)}`, taken), tier, rank, path, nested, trusted: true, required }
  })
}

function shortName(path: string): string {
  const name = basename(resolve(path))
  const word = /^[\w.-]*$/.test(name) ? name : name.replace(/[^\p{L}\p{N}._-]+/gu, '-')
  return word.slice(0, 40) || 'root'
}

/** The id itself, or with a number when another source has it. */
function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted
  for (let number = 2; taken.has(id); number++) id = `${wanted}~${number}`
  taken.add(id)
  return id
}
