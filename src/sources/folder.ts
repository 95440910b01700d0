import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Diagnostic, nearest, NexusError, shellWord, SKILL_FILE, type Tier } from '../kernel/index.ts'
import { codeOf, finding, reasonOf } from './codes.ts'
import { createPreviousSearch } from './found/previous-search.ts'
import { createPace } from './pace.ts'
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
  const folder: SourceFolder = { path: options.path, ...(options.within !== undefined && { within: options.within }) }
  const limits = { ...SOURCE_LIMITS, ...options.limits }
  const previousSearch = createPreviousSearch()
  const origin = Object.freeze({ source: id, tier, rank, trusted })
  return {
    ...{ id, tier, rank, trusted, folder },
    async discover(signal) {
      const root = findRoot(options)
      if (typeof root !== 'string') {
        previousSearch.forget()
        return { skills: [], rejected: [], diagnostics: [root] }
      }
      const recall = previousSearch.begin(root)
      const { maxFileBytes } = limits
      const context = { origin, root, maxFileBytes, recall, buffer: { bytes: new Uint8Array(0) } }
      const pace = createPace(signal)
      const result = await walkFolder(root, { pace, nested: options.nested ?? false, limits, context })
      recall.keep()
      return result
    },
  }
}

/** The real path of the root, or why there is none. */
function findRoot({ path, required = false, within }: FolderSourceOptions): string | Diagnostic {
  const asked = resolve(path)
  try {
    const root = realpathSync.native(asked)
    if (!statSync(root).isDirectory()) {
      return notDirectory(asked)
    }
    if (within !== undefined && !isInside(root, realpathSync.native(within))) {
      const message = `the directory leads out of ${JSON.stringify(within)}, to ${JSON.stringify(root)}; it is not searched`
      const fix = `have the real directory searched: --skills-dir ${shellWord(root)}, or skills.load.extraDirs in your own nexus.yaml`
      return finding('root-outside', asked, { message, fix })
    }
    return root
  } catch (error) {
    return rootProblem(asked, error, required)
  }
}

function notDirectory(path: string): Diagnostic {
  const fix =
    basename(path) === SKILL_FILE
      ? `name its directory instead: ${shellWord(dirname(path))}`
      : `a skill is a directory with a ${SKILL_FILE}: move the file away, make a directory of that name, and put the skill at ${path}/my-skill/${SKILL_FILE}`
  return finding('root-not-directory', path, { message: 'the path is a file, not a directory of skills', fix })
}

/** A directory beside the missing one whose name is nearly the same. */
function neighbour(path: string): string {
  try {
    const directory = dirname(path)
    const names = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const near = nearest(
      basename(path),
      names.slice(0, 1_000).map(({ name }) => name),
    )
    return near === undefined ? '' : `; did you mean ${shellWord(join(directory, near))}?`
  } catch {
    // The directory above is missing as well, or closed to us: there is nothing to propose.
    return ''
  }
}

function rootProblem(path: string, error: unknown, required: boolean): Diagnostic {
  const code = codeOf(error)
  if (code !== 'ENOENT' && code !== 'ENOTDIR') {
    return finding('root-unreadable', path, {
      message: `the directory cannot be read: ${reasonOf(error)}`,
      fix: code === 'ELOOP' ? 'remove the link' : `make it readable, for example: chmod a+rx ${shellWord(path)}`,
    })
  }
  return required
    ? finding('root-required', path, {
        message: 'the directory does not exist',
        fix: `create it, or correct the path in the configuration${neighbour(path)}`,
      })
    : finding('root-missing', path, { message: 'the directory does not exist, so there are no skills in it' })
}
