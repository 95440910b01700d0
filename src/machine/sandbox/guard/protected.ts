/** protected: the places in a workspace that commands may not change, because the host acts upon them by itself. Pure. */
import { BELOW, ENDINGS, FORMS, NAMES, OF_CLIENTS } from './protected-names.ts'

/** Files in a git directory that decide which programs git starts, or where it takes that from. */
const GIT_STEERING: ReadonlySet<string> = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir'])

/** Parts of a git directory that hold only data, under any name. */
const GIT_DATA: ReadonlySet<string> = new Set(['objects', 'refs', 'logs'])

/** Files that make a directory a repository, in the order in which git looks. */
const GIT_MARKS: readonly string[] = ['head', 'objects', 'refs']

/** Where the skills of the workspace are. A command that could write there would add skills, with the secrets of a name. */
const SKILL_ROOT = 'skills'

/** How the protection asks for the rest of the workspace: is there an entry at this path? */
export type Exists = (path: string) => boolean

/** Protected places of one workspace besides the names. They are written into journals, so they are plain data. */
export interface ProtectedPlaces {
  /** Paths in the workspace that are protected with all below them, such as Nexus itself where it is installed there. */
  readonly paths: readonly string[]
  /** Names that the user opened for commands. */
  readonly writable: readonly string[]
  /** Patterns of places that the user protects. */
  readonly globs?: readonly string[]
}

/** Protected places of any workspace, besides the names. */
export interface Protecting {
  /** Absolute. */
  readonly protectedPaths: readonly string[]
  readonly writableNames: readonly string[]
  /** Patterns of places whose changes are held: `execution.workspace.protected`. */
  readonly protectedGlobs?: readonly string[]
}

/** The places of one workspace: of the paths that the host uses, those inside it. */
export function placesIn(
  workspace: string,
  { protectedPaths, writableNames, protectedGlobs = [] }: Protecting,
): ProtectedPlaces {
  const above = workspace === '/' ? '/' : `${workspace}/`
  const inside = protectedPaths.filter((path) => path.startsWith(above) && path !== above)
  return { paths: inside.map((path) => path.slice(above.length)), writable: writableNames, globs: protectedGlobs }
}

/** Facts about the rest of the workspace. */
export interface Surroundings {
  readonly exists: Exists
  /** Whether a directory was a repository before the command. */
  readonly wasRepository: (directory: string) => boolean
}

/** Answers for one workspace. */
export class Protection {
  /** Every protected place at the top of a workspace and of its repository: looked for by name, however much else is there. */
  readonly topPlaces: readonly string[]
  readonly #paths: ReadonlySet<string>
  /** Directories on the way to them. */
  readonly #above: ReadonlySet<string>
  /** Parts of the longest of the paths. */
  readonly #deepest: number
  readonly #writable: ReadonlySet<string>

  constructor({ paths, writable }: ProtectedPlaces) {
    this.#paths = new Set(paths)
    this.#above = new Set(paths.flatMap(directoriesAbove))
    this.#deepest = Math.max(0, ...paths.map((path) => path.split('/').length))
    this.#writable = new Set(writable.map((name) => name.toLowerCase()))
    const steering = [...GIT_STEERING]
    this.topPlaces = [...paths, ...NAMES, SKILL_ROOT, '.git', ...steering, ...steering.map((name) => `.git/${name}`)]
  }

  /** The outermost protected place that `path` is or is in, as a path; undefined when commands may change it. */
  placeOf(path: string, kind: string, around: Surroundings): string | undefined {
    const parts = path.split('/')
    const lower = parts.map((part) => part.toLowerCase())
    // A link there would lead the protected path to another place.
    if (kind === 'link' && this.#above.has(path)) return path
    for (const index of lower.keys()) {
      // Made only where it is needed: a path may have thousands of parts.
      const place = (): string => parts.slice(0, index + 1).join('/')
      if (index < this.#deepest && this.#paths.has(place())) return place()
      const isLast = index === parts.length - 1
      if (this.#isNamed(lower, index) || steersGit({ parts, lower, index, around, kind: isLast ? kind : 'directory' }))
        return place()
    }
    return undefined
  }

  #isNamed(lower: readonly string[], index: number): boolean {
    const name = lower[index] ?? ''
    if (this.#writable.has(name)) return false
    if (NAMES.has(name) || ENDINGS.some((ending) => name.endsWith(ending))) return true
    if (FORMS.some((form) => form.test(name))) return true
    if (index === 0) return name === SKILL_ROOT
    if (OF_CLIENTS.has(name) && lower[index - 1]?.startsWith('.') === true) return true
    return BELOW.some(([directory, file]) => name === file && lower.slice(0, index).includes(directory))
  }
}

/** Directories of a relative path, the outermost first. */
export function directoriesAbove(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

interface At {
  readonly parts: readonly string[]
  readonly lower: readonly string[]
  readonly index: number
  readonly kind: string
  readonly around: Surroundings
}

function steersGit({ parts, lower, index, kind, around }: At): boolean {
  const name = lower[index] ?? ''
  // A file or a link `.git` says where the repository is: any directory with a configuration of its own.
  if (name === '.git') return kind !== 'directory'
  if (!GIT_STEERING.has(name) && !GIT_MARKS.includes(name)) return false
  const git = lower.lastIndexOf('.git', index - 1)
  const isBelowGit = index > 0 && git >= 0
  // Data has no settings, but a repository of its own can be made below it.
  const isBelowData = index > git + 1 && GIT_DATA.has(lower[git + 1] ?? '')
  if (isBelowGit && !isBelowData) return GIT_STEERING.has(name)
  const directory = parts.slice(0, index)
  if (!isRepository(directory, around.exists)) return false
  // A file that completes a repository is refused: the configuration in it may have been a plain file before.
  return GIT_STEERING.has(name) || !around.wasRepository(directory.join('/'))
}

/** True for a directory that git would use as a repository: a bare one, or one of a worktree. */
export function isRepository(directory: readonly string[], exists: Exists): boolean {
  const at = (name: string): string => [...directory, name].join('/')
  return exists(at('HEAD')) && ((exists(at('objects')) && exists(at('refs'))) || exists(at('commondir')))
}

/** Whether a path has the name of what makes a directory a repository. */
export function isGitMark(path: string): boolean {
  return GIT_MARKS.includes(path.slice(path.lastIndexOf('/') + 1).toLowerCase())
}
