import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Diagnostic, nearest, NexusError, type Tier } from '../../kernel/index.ts'
import { finding } from './codes.ts'
import { codeOf } from '../../machine/files/index.ts'
import { reasonOf, createPace } from '../../machine/skill-files/index.ts'
import type { KeptSearches } from './found/kept-search.ts'
import { createPreviousSearch } from './found/previous-search.ts'
import { MESSAGES } from './messages.ts'
import { isInside } from './skill-file.ts'
import { type SkillSource, SOURCE_LIMITS, type SourceFolder, type SourceLimits } from './source.ts'
import { walkFolder } from './walk.ts'

export interface FolderSourceOptions {
  /** Unique in a runtime, without slashes and blanks. */
  readonly id: string
  readonly tier: Tier
  readonly rank: number
  /** The directory to search; relative to the working directory, may be a link. */
  readonly path: string
  readonly trusted: boolean
  /** Search below skills too. Default false. Source: decisions, "descent". */
  readonly nested?: boolean
  /** A missing directory is an error. Default false. */
  readonly required?: boolean
  /** The real path of `path` must lie inside this directory; for roots in a workspace, whose files others write. */
  readonly within?: string
  readonly limits?: Partial<SourceLimits>
  /** The other roots of the same workspace: a link into one of them is no fault, as its skills are found there. */
  readonly others?: readonly string[]
  /** Where what was read is kept for the next process. Default: nowhere. */
  readonly keepIn?: KeptSearches | undefined
}

/** A source that searches a directory on each `discover`. Throws INVALID_ARGUMENT for an id that cannot be part of an address. */
export function createFolderSource(options: FolderSourceOptions): SkillSource {
  const { id, tier, rank, trusted } = options
  // The first pattern is a part of the second, which costs a millisecond before its first answer.
  if (!/^[\w.:~-]{1,64}$/.test(id) && !/^[^\s/\\\p{C}]{1,64}$/u.test(id)) {
    throw new NexusError('INVALID_ARGUMENT', `${JSON.stringify(id)} cannot be the id of a source`, {
      fix: 'use 1 to 64 characters without slashes and blanks',
    })
  }
  const folder: SourceFolder = { path: options.path, within: options.within }
  const limits = { ...SOURCE_LIMITS, ...options.limits }
  const origin = Object.freeze({ source: id, tier, rank, trusted })
  const { keepIn } = options
  // A file that is too large for one limit may be read under another.
  const searches = keepIn && { ...keepIn, version: `${keepIn.version}-${limits.maxFileBytes}` }
  const previousSearch = createPreviousSearch(searches && { origin, searches })
  return {
    ...{ id, tier, rank, trusted, folder },
    async discover(signal) {
      const root = findRoot(options)
      if (typeof root !== 'string') {
        previousSearch.forget()
        return { skills: [], invalid: [], diagnostics: [root] }
      }
      const recall = previousSearch.begin(root)
      const { maxFileBytes } = limits
      const context = { origin, root, maxFileBytes, recall, buffer: { bytes: new Uint8Array(0) } }
      const pace = createPace(signal)
      const result = await walkFolder(root, {
        ...{ pace, nested: options.nested ?? false, limits, context },
        elsewhere: () => (options.others ?? []).flatMap(realRoot),
      })
      recall.keep()
      return result
    },
  }
}

function realRoot(path: string): string[] {
  try {
    return [realpathSync.native(path)]
  } catch {
    // It is not there.
    return []
  }
}

function findRoot({ path, required = false, within }: FolderSourceOptions): string | Diagnostic {
  const asked = resolve(path)
  try {
    const root = realpathSync.native(asked)
    if (!statSync(root).isDirectory()) {
      return finding('root-not-directory', asked, MESSAGES['root-not-directory'](asked))
    }
    if (within !== undefined && !isInside(root, realpathSync.native(within))) {
      return finding('root-outside', asked, MESSAGES['root-outside'](within, root))
    }
    return root
  } catch (error) {
    return rootProblem(asked, error, required)
  }
}

/** A directory beside the missing one whose name is nearly the same. */
function neighbour(path: string): string | undefined {
  try {
    const directory = dirname(path)
    const names = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const near = nearest(
      basename(path),
      names.slice(0, 1_000).map(({ name }) => name),
    )
    return near === undefined ? undefined : join(directory, near)
  } catch {
    // The directory above is missing as well, or closed to us: there is nothing to propose.
    return undefined
  }
}

function rootProblem(path: string, error: unknown, required: boolean): Diagnostic {
  const code = codeOf(error)
  if (code !== 'ENOENT' && code !== 'ENOTDIR') {
    return finding('root-unreadable', path, MESSAGES['root-unreadable'](reasonOf(error), path, code === 'ELOOP'))
  }
  return required
    ? finding('root-required', path, MESSAGES['root-required'](neighbour(path)))
    : finding('root-missing', path, MESSAGES['root-missing']())
}
