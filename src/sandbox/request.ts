/** request: checks what a caller asks for and fills the defaults, the same for every kind of sandbox. */
import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { DEFAULTS, NexusError } from '../kernel/index.ts'
import { checkEnvironment } from './environment.ts'
import type { CommandRequest, CommandResult } from './sandbox.ts'

const MAX_STDIN_BYTES = 16 * 1024 * 1024
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
/** setTimeout's own bound; about 24 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** Between SIGTERM and the end of everything. Source: decisions, "graceful stop". */
export const GRACE_MS = 2000

/** A request whose every value can be used. */
export interface CheckedRequest {
  readonly command: string
  /** Real path of the workspace. */
  readonly workspace: string
  /** Relative to the workspace; empty for the workspace itself. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  /** At least `maxOutputBytes`. */
  readonly maxLiveBytes: number
  readonly stdin: string | undefined
  readonly onOutput: CommandRequest['onOutput']
}

/** Throws INVALID_ARGUMENT, FILE_NOT_FOUND or PATH_OUTSIDE for a request that cannot be carried out. */
export function checkRequest(request: CommandRequest): CheckedRequest {
  const { command, env = {}, maxLiveBytes = 0, stdin, onOutput } = request
  const { timeoutMs = DEFAULTS.commandTimeoutMs, maxOutputBytes = DEFAULTS.maxOutputBytes } = request
  checkCommand(command)
  checkEnvironment(env)
  checkNumber('timeoutMs', timeoutMs, { least: 1, most: MAX_TIMEOUT_MS })
  checkNumber('maxOutputBytes', maxOutputBytes, { least: 0, most: MAX_OUTPUT_BYTES })
  checkNumber('maxLiveBytes', maxLiveBytes, { least: 0, most: Number.MAX_SAFE_INTEGER })
  if (stdin !== undefined && Buffer.byteLength(stdin) > MAX_STDIN_BYTES) {
    throw invalid(`stdin has more than ${MAX_STDIN_BYTES} bytes`, 'write the data to a file in the workspace')
  }
  const workspace = realDirectory('workspace', request.workspace)
  const cwd = checkStart(workspace, request.cwd ?? '.')
  return {
    command,
    workspace,
    cwd,
    env,
    timeoutMs,
    maxOutputBytes,
    stdin,
    onOutput,
    maxLiveBytes: Math.max(maxLiveBytes, maxOutputBytes),
  }
}

function checkCommand(command: string): void {
  if (typeof command !== 'string' || command.trim() === '') throw invalid('the command is empty')
  // oxlint-disable-next-line no-control-regex
  if (/[\0\r]/.test(command)) throw invalid('the command holds a NUL or a carriage return', 'use \\n as line break')
  const bytes = Buffer.byteLength(command)
  if (bytes > DEFAULTS.maxCommandBytes) {
    throw invalid(
      `the command has ${bytes} bytes; at most ${DEFAULTS.maxCommandBytes}`,
      'write it to a script file in the workspace and run that',
    )
  }
}

function checkStart(workspace: string, cwd: string): string {
  const start = resolve(workspace, cwd)
  if (isAbsolute(cwd) || !contains(workspace, start)) {
    throw new NexusError('PATH_OUTSIDE', `cwd ${JSON.stringify(cwd)} is not inside the workspace`, {
      fix: 'give a path relative to the workspace',
    })
  }
  if (!contains(workspace, realDirectory('cwd', start))) {
    throw new NexusError('PATH_OUTSIDE', `cwd ${JSON.stringify(cwd)} leads out of the workspace through a link`)
  }
  return relative(workspace, start)
}

function realDirectory(what: string, path: string): string {
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0')) {
    throw invalid(`${what} ${JSON.stringify(path)} is not an absolute path`)
  }
  let real: string
  try {
    real = realpathSync(path)
  } catch (cause) {
    throw new NexusError('FILE_NOT_FOUND', `${what} ${JSON.stringify(path)} does not exist`, { cause })
  }
  if (!statSync(real).isDirectory()) throw invalid(`${what} ${JSON.stringify(path)} is not a directory`)
  return real
}

/** True when `path` is `directory` or lies below it; both absolute and normal. */
export function contains(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === sep ? sep : join(directory, sep))
}

function checkNumber(name: string, value: number, range: { least: number; most: number }): void {
  if (!Number.isSafeInteger(value) || value < range.least || value > range.most) {
    throw invalid(`${name} is ${value}; it must be a whole number from ${range.least} to ${range.most}`)
  }
}

function invalid(message: string, fix?: string): NexusError {
  return new NexusError('INVALID_ARGUMENT', message, { fix })
}

/** The result of a command that was cancelled before it was started. */
export function neverStarted(): CommandResult {
  return {
    end: 'cancelled',
    exitCode: -1,
    stdout: '',
    stderr: '',
    stdoutTruncated: false,
    stderrTruncated: false,
    stdoutBytes: 0,
    stderrBytes: 0,
    durationMs: 0,
    notes: ['cancelled before it was started'],
  }
}
