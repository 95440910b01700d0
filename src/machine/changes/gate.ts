/** gate: which changes of a command come back into the workspace, are held, stay beside it, or never come. Pure. */
import { gitRole, isRepository, restIn } from './git-paths.ts'
import {
  BUILD_OUTPUT,
  CACHE_MARK,
  CACHES,
  DEPENDENCIES,
  ENVIRONMENT_MARK,
  OBEYED,
  OBEYED_BELOW,
  OBEYED_FORMS,
  OF_NEXUS,
  PLAIN_FILES,
  PLAIN_OF_GITHUB,
  SKILL_FILE,
  SKILL_ROOT,
  STORES,
} from './tables.ts'

/** One path that a command left other than it was. Relative to the workspace, with forward slashes. */
export interface Change {
  readonly path: string
  readonly type: 'added' | 'changed' | 'removed'
  readonly kind: 'file' | 'link' | 'directory'
  /** Only of a link: whether it can lead out of the workspace. */
  readonly leavesWorkspace?: boolean
}

/** `git`: git of the host takes it over. `beside`: kept for later commands, outside the workspace. `dropped`: neither kept nor reported. */
export type Verdict = 'applied' | 'git' | 'held' | 'beside' | 'dropped' | 'never'

/** The verdict on a change. */
export interface Judgement {
  readonly verdict: Verdict
  /** The outermost place that decided: one row for the user. */
  readonly unit: string
  /** Completes "held, because …". */
  readonly reason?: string
}

/** Facts about the rest of the workspace. */
export interface Surroundings {
  /** Whether there was an entry before the command, and is one after it. */
  readonly before: (path: string) => boolean
  readonly after: (path: string) => boolean
  /** Paths of Nexus itself, its settings and its state. */
  readonly never: ReadonlySet<string>
  /** Paths to which settings of the user, settings of git or links with a held name lead. */
  readonly named: ReadonlySet<string>
  /** Words of settings of git that are the path of a file, should there be one. */
  readonly namedFiles?: ReadonlySet<string>
  /** Whether the user protects a path. */
  readonly isProtected?: (path: string) => boolean
  /** Names, in lower case, that the user opened for commands. */
  readonly opened: ReadonlySet<string>
}

/** Decides about changes of one workspace. What is known of a directory is kept, so that a deep path costs no more than a flat one. */
export function createGate(around: Surroundings): (change: Change) => Judgement {
  const known = new Map<string, Place>()
  const onTheWay = new Set([...around.named, ...(around.namedFiles ?? []), ...around.never].flatMap(directoriesAbove))
  const placeOf = (directory: string): Place => {
    const found = known.get(directory)
    if (found) return found
    const ahead: string[] = []
    let at = directory
    for (; at !== '' && !known.has(at); at = parentOf(at)) ahead.push(at)
    let place = known.get(at) ?? rootOf(around)
    for (const path of ahead.toReversed()) {
      place = below(place, { path, kind: 'directory', isEnd: false }, around)
      known.set(path, place)
    }
    return place
  }
  return (change) => {
    const { path, kind } = change
    // It would lead what is below it to another place.
    if (kind === 'link' && onTheWay.has(path)) return hold(path, 'a setting or a link leads through it')
    return judgeAt(change, below(placeOf(parentOf(path)), { path, kind, isEnd: true }, around), around)
  }
}

/** Directories of a relative path, the outermost first. */
export function directoriesAbove(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** The facts that hold for a path and all below it. */
interface Place {
  readonly path: string
  /** In lower case. */
  readonly name: string
  /** The outermost directory on the way of each kind. */
  readonly never?: string | undefined
  readonly named?: string | undefined
  readonly isOpened: boolean
  /** Skills may be in it. */
  readonly isOfSkills: boolean
  /** The outermost git directory: what another one in it has is held with it. */
  readonly git?: string | undefined
  /** The first name that decided. */
  readonly byName?: Judgement | undefined
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function rootOf(around: Surroundings): Place {
  return { path: '', name: '', isOpened: false, isOfSkills: false, git: isGit('', around) ? '' : undefined }
}

interface Step {
  readonly path: string
  /** `directory` for what is on the way. */
  readonly kind: Change['kind']
  /** The path that is judged, and no directory on the way to it. */
  readonly isEnd: boolean
}

function below(above: Place, { path, kind, isEnd }: Step, around: Surroundings): Place {
  const name = path.slice(above.path === '' ? 0 : above.path.length + 1).toLowerCase()
  return {
    path,
    name,
    never: above.never ?? pathIf(OF_NEXUS.has(name) || around.never.has(path), path),
    named: above.named ?? pathIf(isNamed({ path, kind, isEnd }, around), path),
    isOpened: above.isOpened || around.opened.has(name),
    isOfSkills: above.isOfSkills || name === SKILL_ROOT,
    git: above.git ?? pathIf((name === '.git' && !isEnd) || isGit(path, around), path),
    byName: decided(above, { path, name, kind, isEnd }, around),
  }
}

function pathIf(isThis: boolean, path: string): string | undefined {
  return isThis ? path : undefined
}

function isNamed({ path, kind, isEnd }: Step, { named, namedFiles }: Surroundings): boolean {
  return named.has(path) || (isEnd && kind !== 'directory' && namedFiles?.has(path) === true)
}

/** Another process may make the other half of a repository, so both sides are asked together. */
function isGit(directory: string, { before, after }: Surroundings): boolean {
  return isRepository(directory, before === after ? before : (path) => before(path) || after(path))
}

const hold = (unit: string, reason: string): Judgement => ({ verdict: 'held', unit, reason })

function judgeAt(change: Change, place: Place, around: Surroundings): Judgement {
  const { never, git, isOpened, named, byName: judged } = place
  const { path } = change
  if (never !== undefined) return { verdict: 'never', unit: never, reason: 'it is part of Nexus or its settings' }
  const applied: Judgement = { verdict: 'applied', unit: path }
  if (change.leavesWorkspace === true) return hold(path, 'the link leads out of the workspace')
  if (around.isProtected?.(path) === true) return hold(path, 'you protect it in execution.workspace.protected')
  if (git !== undefined) {
    return isRepository(git, around.before)
      ? inGit(git, change)
      : hold(git === '' ? path : git, 'it is a new repository')
  }
  if (isOpened) return applied
  if (named !== undefined) return hold(named, 'a setting or a link leads to it')
  return judged === undefined || judged.verdict === 'applied' ? applied : judged
}

interface Name extends Step {
  readonly name: string
}

/** The first name decides, but programs obey a file in the output of a build as anywhere. */
function decided(above: Place, at: Name, around: Surroundings): Judgement | undefined {
  const { byName: earlier } = above
  if (earlier !== undefined && earlier.verdict !== 'applied') return earlier
  const own = byName(above, at, around)
  return earlier === undefined || own?.verdict === 'held' ? own : earlier
}

/** The verdict of one component of a path; undefined: the next one decides. */
function byName(above: Place, at: Name, around: Surroundings): Judgement | undefined {
  const { path, name, kind } = at
  if (CACHES.has(name)) return { verdict: 'beside', unit: path }
  if (isDependency(above, at, around)) return { verdict: 'beside', unit: path, reason: 'it holds installed packages' }
  if (BUILD_OUTPUT.has(name) || (STORES.has(name) && above.name === 'node_modules'))
    return { verdict: 'applied', unit: path }
  if (isObeyed(above, name, kind)) return hold(path, 'programs obey it when the directory is entered or opened')
  if (isSkill(above, at, around)) return hold(path, 'it holds skills')
  if (above.path.toLowerCase() === GITHUB && !PLAIN_OF_GITHUB.test(name)) return hold(path, 'agents obey it')
  return name.startsWith('.') ? byDot(at, around) : undefined
}

function byDot({ path, name, kind, isEnd }: Name, { before, after }: Surroundings): Judgement | undefined {
  if (kind === 'file' && PLAIN_FILES.has(name)) return undefined
  // Only the part of `.github` that clients obey is held, one level deeper.
  if (path.toLowerCase() === GITHUB && kind === 'directory')
    return isEnd ? { verdict: 'applied', unit: path } : undefined
  if (!isEnd && !before(path) && after(`${path}/${CACHE_MARK}`)) return { verdict: 'beside', unit: path }
  return hold(path, 'its name begins with a dot')
}

function isObeyed(above: Place, name: string, kind: Change['kind']): boolean {
  if (OBEYED_BELOW.some(([directory, file]) => name === file && above.name === directory)) return true
  // A directory may well be called `workspace`.
  return kind !== 'directory' && (OBEYED.has(name) || OBEYED_FORMS.some((form) => form.test(name)))
}

const GITHUB = '.github'

function isDependency(above: Place, { path, name, kind }: Name, { before, after }: Surroundings): boolean {
  if (DEPENDENCIES.has(name) || (name === 'bundle' && above.name === 'vendor')) return true
  const mark = `${path}/${ENVIRONMENT_MARK}`
  return kind === 'directory' && (before(path) ? before(mark) : after(mark))
}

/** A skill is held whole, wherever somebody may open its root as a workspace; so no two commands make one together. */
function isSkill(above: Place, { path, name, kind }: Name, { before, after }: Surroundings): boolean {
  if (name === SKILL_ROOT && (above.path === '' || kind === 'link')) return true
  if (!above.isOfSkills && name !== SKILL_ROOT) return false
  if (kind !== 'directory') return kind === 'link' || name === SKILL_FILE.toLowerCase()
  return before(`${path}/${SKILL_FILE}`) || after(`${path}/${SKILL_FILE}`)
}

function inGit(directory: string, { path, type, kind }: Change): Judgement {
  if (path === directory)
    return kind === 'directory' ? { verdict: 'dropped', unit: path } : hold(path, 'it takes the place of a repository')
  const rest = restIn(directory, path)
  if (kind === 'link') return hold(path, 'it is a link in a git directory')
  const role = gitRole(rest)
  // Objects are only added: git of the host collects them itself.
  if (role === 'made-again' || (rest.startsWith('objects') && type !== 'added'))
    return { verdict: 'dropped', unit: path }
  if (role !== 'other') return { verdict: 'git', unit: directory }
  const depth = /^(?:worktrees|modules)\//.test(rest) ? 2 : 1
  const unit = rest.split('/', depth).join('/')
  return hold(directory === '' ? unit : `${directory}/${unit}`, 'it is not data of git')
}
