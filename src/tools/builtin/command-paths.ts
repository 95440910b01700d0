/** command-paths: the directory that a command may work in under the limits of its call. */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { type CallLimits, type Failed, failed, toSafeLine } from '../../kernel/index.ts'

/** Where a command works: what it can read and write, and where in it the command starts. */
export interface CommandPlace {
  readonly type: 'place'
  /** Absolute. */
  readonly workspace: string
  /** Relative to `workspace`. */
  readonly cwd: string
}

/**
 * The workspace narrowed by the limits. A sandbox opens one directory for reading and writing, so limits that leave no
 * such directory refuse the command: nothing runs with more than was allowed.
 */
export function commandPlace(
  asked: { readonly workspace: string; readonly cwd: string; readonly isConfined: boolean },
  limits: CallLimits = {},
): CommandPlace | Failed {
  const { workspace, cwd, isConfined } = asked
  const start = resolve(workspace, cwd)
  if (!contains(workspace, start)) return failed('ACCESS_DENIED', `cwd '${toSafeLine(cwd)}' is outside the workspace.`)
  const directory = allowedDirectory(workspace, limits)
  if (directory === undefined) return refused(limits)
  if (!isConfined && isNarrowed(limits)) return unconfined()
  if (cwd === '.' && !contains(directory, start)) return { type: 'place', workspace: directory, cwd: '.' }
  if (contains(directory, start)) return { type: 'place', workspace: directory, cwd: relative(directory, start) || '.' }
  return failed(
    'ACCESS_DENIED',
    `run_command may not work in '${toSafeLine(cwd)}'. It may work in ${toSafeLine(directory)}.`,
  )
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

function refused({ readPaths = [], writePaths = [], blockedPaths = [] }: CallLimits): Failed {
  const list = [...new Set([...readPaths, ...writePaths])].map(toSafeLine).join(', ') || 'none'
  const blocked = blockedPaths.length === 0 ? '' : ` Blocked: ${blockedPaths.map(toSafeLine).join(', ')}.`
  return failed(
    'ACCESS_DENIED',
    `run_command did not run: the paths allowed to this agent do not include one directory of the workspace that a command can work in. Allowed: ${list}.${blocked}`,
    { fix: 'Use another tool, or ask the user to allow one directory of the workspace for reading and writing.' },
  )
}

function unconfined(): Failed {
  return failed(
    'PERMISSION_DENIED',
    'run_command did not run: this agent has limits on paths or network, and without a sandbox Nexus cannot enforce them.',
    { fix: 'Ask the user to set execution.sandbox: local.' },
  )
}

/** True when `path` is `directory` or below it; both absolute. */
function contains(directory: string, path: string): boolean {
  const inside = relative(directory, path)
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)
}
