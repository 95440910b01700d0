/** reach: what a model wrote as a path, and where it is among the directories that a call may use. The rules of places are those of commands. */
import { realpathSync } from 'node:fs'
import { posix } from 'node:path'
import type { CallLimits } from '../../kernel/index.ts'
import { holds, partsOf, type Whole } from '../../machine/sandbox/index.ts'
import { PATHS, type Refused } from './messages.ts'

/** A place in a directory that its user named, so that links in the path of that directory itself are followed. */
export interface Reached {
  readonly type: 'reached'
  /** Real path of the directory. */
  readonly root: string
  /** Relative to it, `''` for itself; not looked up yet. */
  readonly path: string
  /** Whether the directory is the workspace. */
  readonly isInWorkspace: boolean
}

export interface Asking {
  readonly workspace: string
  /** Without `readPaths` the workspace is allowed, and nothing else. */
  readonly limits: Pick<CallLimits, 'readPaths' | 'writePaths' | 'blockedPaths'>
  readonly isWrite: boolean
  /** Absolute paths that are closed to every agent. */
  readonly privatePaths: readonly string[]
}

/** Files of processes, among them our own variables, and devices. */
const KERNEL = ['/proc', '/sys', '/dev']
/** Directories of keys, wherever a home is. Source: decisions, "server key file". */
const KEYS = /(?:^|\/)\.nexus3?\/apikeys(?:\/|$)/i

/** Where an absolute path is, when the call may use it. Source: decisions, "`allowed_paths`"; contracts §1.6. */
export function reach(path: string, asking: Asking): Reached | Refused {
  const { workspace, isWrite, privatePaths, limits } = asking
  const { readPaths = [workspace] } = limits
  const work = wholeOf(workspace)
  for (const whole of searchRoots(work, readPaths)) {
    const at = placeIn(whole, path)
    if (at === undefined) continue
    const closed = closedReason(posix.join(whole.real, at), privatePaths)
    if (closed) return closed
    const parts = partsOf(whole, { ...limits, readPaths })
    if (parts.closed.some((place) => holds(place, at))) return PATHS.blocked()
    if (parts[isWrite ? 'write' : 'read'].some((place) => holds(place, at)))
      return { type: 'reached', root: whole.real, path: at, isInWorkspace: whole === work }
    if (whole === work) break
  }
  return PATHS.outside((isWrite ? limits.writePaths : undefined) ?? readPaths, isWrite)
}

/** Where paths are looked for. A command could have made a link of an allowed directory in the workspace: it is reached from there only. */
function searchRoots(work: Whole | undefined, readPaths: readonly string[]): readonly Whole[] {
  const others = readPaths.filter((other) => !work || placeIn(work, other) === undefined)
  return [work, ...others.map(wholeOf)].filter((each) => each !== undefined)
}

function closedReason(real: string, privatePaths: readonly string[]): Refused | undefined {
  if (KERNEL.some((place) => holdsPath(place, real))) return PATHS.kernel()
  return KEYS.test(real) || privatePaths.some((place) => holdsPath(place, real)) ? PATHS.private() : undefined
}

function wholeOf(directory: string): Whole | undefined {
  const real = realPath(directory)
  return real === undefined ? undefined : { given: posix.resolve(directory), real }
}

/** Where a path is in a directory: by its text, or because a directory on the way is another name of that directory. */
function placeIn({ given, real }: Whole, path: string): string | undefined {
  const root = [real, given].find((directory) => holdsPath(directory, path))
  if (root !== undefined) return posix.relative(root, path)
  const names = path.split('/')
  for (let count = 1; count <= names.length; count++) {
    const above = names.slice(0, count).join('/') || '/'
    const target = realPath(above)
    if (target === undefined) return undefined
    if (target === real) return posix.relative(above, path)
  }
  return undefined
}

function holdsPath(directory: string, path: string): boolean {
  return holds(posix.relative('/', directory), posix.relative('/', path))
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // It does not exist, or may not be looked at: then it leads nowhere.
    return undefined
  }
}

export interface Bases {
  /** Absolute. */
  readonly workspace: string
  /** For `~`; absent without a home directory. */
  readonly home?: string | undefined
}

const MAX_BYTES = 4_096
const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i
const DRIVE = /^[a-z]:[\\/]/i

/**
 * The absolute path that a text means, `.` and `..` resolved by text; `/` and `\` separate names. What is no path here is refused:
 * URLs, paths with a drive, the homes of others. Source: contracts §1.6; decisions, "blocked paths".
 */
export function givenPath(text: string, { workspace, home }: Bases): string | Refused {
  if (text.includes('\0')) return PATHS.nul()
  if (Buffer.byteLength(text) > MAX_BYTES) return PATHS.tooLong(MAX_BYTES)
  if (URL_START.test(text)) return PATHS.url()
  if (DRIVE.test(text)) return PATHS.drive()
  const path = text.replaceAll('\\', '/')
  if (!path.startsWith('~')) return posix.resolve(workspace, path)
  if (path !== '~' && !path.startsWith('~/')) return PATHS.otherHome(path.slice(0, path.indexOf('/') >>> 0))
  return home === undefined ? PATHS.noHome() : posix.resolve(home, `.${path.slice(1)}`)
}
