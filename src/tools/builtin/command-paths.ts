/** command-paths: the directory that a command may work in under the limits of its call. */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { type CallLimits, type Failed } from '../../kernel/index.ts'
import { COMMANDS, failedBy } from '../messages.ts'

/** Where a command works: what it can read and write, and where in it the command starts. */
export interface CommandDirectory {
  readonly type: 'directory'
  /** Absolute. */
  readonly workspace: string
  /** Relative to `workspace`. */
  readonly cwd: string
}

/**
 * The workspace narrowed by the limits. A sandbox opens one directory for reading and writing, so limits that leave no
 * such directory refuse the command: nothing runs with more than was allowed.
 */
export function commandDirectory(
  asked: { readonly workspace: string; readonly cwd: string; readonly isConfined: boolean },
  limits: CallLimits = {},
): CommandDirectory | Failed {
  const { workspace, cwd, isConfined } = asked
  const start = resolve(workspace, cwd)
  if (!contains(workspace, start)) return failedBy('ACCESS_DENIED', COMMANDS.cwdOutside(cwd))
  const directory = allowedDirectory(workspace, limits)
  if (directory === undefined) return noDirectory(limits)
  if (!isConfined && isNarrowed(limits)) return failedBy('PERMISSION_DENIED', COMMANDS.unconfined())
  if (cwd === '.' && !contains(directory, start)) return { type: 'directory', workspace: directory, cwd: '.' }
  if (contains(directory, start))
    return { type: 'directory', workspace: directory, cwd: relative(directory, start) || '.' }
  return failedBy('ACCESS_DENIED', COMMANDS.cwdRefused(cwd, directory))
}

/** The one directory that may be read and written whole; undefined when the limits leave none. */
function allowedDirectory(
  workspace: string,
  { readPaths, writePaths, blockedPaths = [] }: CallLimits,
): string | undefined {
  const [read, ...otherReads] = within(workspace, readPaths)
  const [write, ...otherWrites] = within(workspace, writePaths)
  if (read === undefined || read !== write || otherReads.length > 0 || otherWrites.length > 0) return undefined
  return blockedPaths.some((path) => contains(read, path) || contains(path, read)) ? undefined : read
}

function within(workspace: string, paths: readonly string[] = [workspace]): readonly string[] {
  return paths.some((path) => contains(path, workspace))
    ? [workspace]
    : paths.filter((path) => contains(workspace, path))
}

function isNarrowed({ readPaths, writePaths, blockedPaths = [], networkDomains }: CallLimits): boolean {
  return readPaths !== undefined || writePaths !== undefined || blockedPaths.length > 0 || networkDomains !== undefined
}

function noDirectory({ readPaths = [], writePaths = [], blockedPaths = [] }: CallLimits): Failed {
  return failedBy('ACCESS_DENIED', COMMANDS.noDirectory([...new Set([...readPaths, ...writePaths])], blockedPaths))
}

/** True when `path` is `directory` or below it; both absolute. */
function contains(directory: string, path: string): boolean {
  const inside = relative(directory, path)
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)
}
