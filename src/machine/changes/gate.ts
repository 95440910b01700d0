/** gate: which changes of a command come back into the workspace, are held, stay beside it, or never come. Pure. */
import { type GitRole, gitRole, isRepository } from './git-paths.ts'
import {
  BUILD_OUTPUT,
  CACHE_MARK,
  CACHES,
  DEPENDENCIES,
  OBEYED,
  OBEYED_BELOW,
  OBEYED_FORMS,
  OF_NEXUS,
  PLAIN_FILES,
  PLAIN_OF_GITHUB,
  SKILL_ROOT,
} from './tables.ts'

/** One path that a command left other than it was. Relative to the workspace, with forward slashes. */
export interface Change {
  readonly path: string
  readonly type: 'added' | 'changed' | 'removed'
  readonly kind: 'file' | 'link' | 'directory'
  /** Only of a link: whether it can lead out of the workspace. */
  readonly leavesWorkspace?: boolean
  /** Only of the steps of a rebase: whether one of them runs a program. */
  readonly runsProgram?: boolean
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
  /** Whether the user protects a path. */
  readonly isProtected?: (path: string) => boolean
  /** Names, in lower case, that the user opened for commands. */
  readonly opened: ReadonlySet<string>
  /** Whether git of the host had these very bytes at this path before the command. */
  readonly isKnownToGit?: (path: string) => boolean
}

/** Decides about one change. */
export function judge(change: Change, around: Surroundings): Judgement {
  const parts = change.path.split('/')
  const ways = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const lower = parts.map((part) => part.toLowerCase())
  const own = lower.findIndex((name, index) => OF_NEXUS.has(name) || around.never.has(ways[index] ?? ''))
  if (own >= 0)
    return { verdict: 'never', unit: ways[own] ?? change.path, reason: 'it is part of Nexus or its settings' }
  const at: At = { change, ways, lower, around }
  const held = heldPlace(at)
  if (held === undefined || held.verdict !== 'held') return held ?? { verdict: 'applied', unit: change.path }
  return around.isKnownToGit?.(change.path) === true ? { verdict: 'applied', unit: change.path } : held
}

interface At {
  readonly change: Change
  /** The path and all directories above it, the outermost first, and their names in lower case. */
  readonly ways: readonly string[]
  readonly lower: readonly string[]
  readonly around: Surroundings
}

const hold = (unit: string, reason: string): Judgement => ({ verdict: 'held', unit, reason })

/** Undefined for a change that nothing holds. */
function heldPlace({ change, ways, lower, around }: At): Judgement | undefined {
  const { path } = change
  if (change.leavesWorkspace === true) return hold(path, 'the link leads out of the workspace')
  if (around.isProtected?.(path) === true) return hold(path, 'you protect it in execution.workspace.protected')
  const git = gitDirectory(ways, lower, around)
  if (git?.isNew === true) return hold(git.directory === '' ? path : git.directory, 'it is a new repository')
  if (git !== undefined) return inGit(git.directory, change)
  if (lower.some((name) => around.opened.has(name))) return undefined
  const named = ways.find((way) => around.named.has(way))
  if (named !== undefined) return hold(named, 'a setting or a link leads to it')
  if (PLAIN_OF_GITHUB.test(path.toLowerCase())) return undefined
  for (const index of lower.keys()) {
    const judgement = byName({ change, ways, lower, around }, index)
    if (judgement !== undefined) return judgement.verdict === 'applied' ? undefined : judgement
  }
  return undefined
}

/** Undefined: the next component of the path decides. */
function byName({ change, ways, lower, around }: At, index: number): Judgement | undefined {
  const name = lower[index] ?? ''
  const unit = ways[index] ?? ''
  const isFile = index === lower.length - 1 && change.kind !== 'directory'
  if (CACHES.has(name)) return { verdict: 'beside', unit }
  if (isDependency(unit, name, around) || (name === 'bundle' && lower[index - 1] === 'vendor'))
    return { verdict: 'beside', unit, reason: 'it holds installed packages' }
  if (BUILD_OUTPUT.has(name)) return { verdict: 'applied', unit: change.path }
  const isObeyed =
    OBEYED.has(name) ||
    OBEYED_FORMS.some((form) => form.test(name)) ||
    OBEYED_BELOW.some(([directory, file]) => name === file && lower[index - 1] === directory)
  if (isObeyed) return hold(unit, 'programs obey it when the directory is entered or opened')
  if (index === 0 && name === SKILL_ROOT) return hold(unit, 'it holds skills')
  if (!name.startsWith('.') || (isFile && change.kind === 'file' && PLAIN_FILES.has(name))) return undefined
  // Clients obey only some of `.github`: that is held, one level deeper.
  if (name === '.github' && index === 0)
    return change.path === unit ? { verdict: 'applied', unit } : hold(ways[1] ?? unit, 'agents obey it')
  if (!isFile && !around.before(unit) && around.after(`${unit}/${CACHE_MARK}`)) return { verdict: 'beside', unit }
  return hold(unit, 'its name begins with a dot')
}

function isDependency(unit: string, name: string, { before, after }: Surroundings): boolean {
  if (!DEPENDENCIES.has(name)) return false
  const mark = DEPENDENCIES.get(name)
  return mark === undefined || before(`${unit}/${mark}`) || after(`${unit}/${mark}`)
}

/** The git directory that a path is in. New: it was no repository before the command. */
function gitDirectory(
  ways: readonly string[],
  lower: readonly string[],
  { before, after }: Surroundings,
): { readonly directory: string; readonly isNew: boolean } | undefined {
  // Another process may make the other half of a repository, so both sides are asked together.
  const either = (path: string): boolean => before(path) || after(path)
  // A file `.git` leads to a repository elsewhere; it is judged by its name.
  const directories = ['', ...ways]
  const inner = directories.filter(
    (directory, index) => (lower[index - 1] === '.git' && directory !== ways.at(-1)) || isRepository(directory, either),
  )
  const [outer] = inner
  const directory = inner.at(-1)
  if (outer === undefined || directory === undefined) return undefined
  if (!isRepository(outer, before)) return { directory: outer, isNew: true }
  return { directory, isNew: !isRepository(directory, before) }
}

function inGit(directory: string, { path, type, kind, runsProgram }: Change): Judgement {
  const rest = directory === '' ? path : path.slice(directory.length + 1)
  if (rest === '' || path === directory) return { verdict: 'dropped', unit: path }
  if (kind === 'link') return hold(path, 'it is a link in a git directory')
  const role: GitRole = gitRole(rest)
  // Objects are only added: git of the host collects them itself.
  if (role === 'made-again' || (rest.startsWith('objects') && type !== 'added'))
    return { verdict: 'dropped', unit: path }
  if (role === 'by-git') return { verdict: 'git', unit: directory }
  if (runsProgram === true) return hold(`${directory}/rebase-merge`, 'a step of the rebase runs a program')
  if (role === 'state') return { verdict: 'applied', unit: path }
  const depth = /^(?:worktrees|modules)\//.test(rest) ? 2 : 1
  const unit = rest.split('/').slice(0, depth).join('/')
  return hold(directory === '' ? unit : `${directory}/${unit}`, 'it is not data of git')
}
