/** request: checks what a caller asks for and fills the defaults, the same for every kind of sandbox. */
import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Readable as Stream } from 'node:stream'
import { DEFAULTS } from '../../kernel/index.ts'
import { checkEnvironment } from './environment.ts'
import { REQUESTS, sandboxError } from './messages.ts'
import { isSeen, openPaths, type OpenPaths } from './open-paths.ts'
import type { CacheLevel, CommandNetwork, CommandRequest, CommandResult } from './sandbox.ts'

const MAX_STDIN_BYTES = 16 * 1024 * 1024
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
/** setTimeout's own bound; about 24 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** Between SIGTERM and the end of everything. Source: decisions, "graceful stop". */
export const GRACE_MS = 2000

/** A request whose every value can be used. */
export interface CheckedRequest
  extends
    Pick<CommandRequest, 'command' | 'networkDomains' | 'onOutput' | 'onBytes'>,
    Required<Pick<CommandRequest, 'timeoutMs'>> {
  /** Real path of the workspace. */
  readonly workspace: string
  /** Relative to the workspace; empty for the workspace itself. */
  readonly cwd: string
  /** The parts of the workspace that the command may read and write; undefined = all. */
  readonly paths: OpenPaths | undefined
  readonly maker: { readonly tool: string; readonly call?: string; readonly hasSecrets: boolean }
  readonly env: Readonly<Record<string, string>>
  readonly cache: CacheLevel
  /** Comes first on the PATH. */
  readonly path: readonly string[]
  readonly maxOutputBytes: number
  /** At least `maxOutputBytes`. */
  readonly maxLiveBytes: number
  readonly stdin: Stream | undefined
  readonly network: CommandNetwork | undefined
}

/** Throws INVALID_ARGUMENT, FILE_NOT_FOUND or PATH_OUTSIDE for a request that cannot be carried out. */
export function checkRequest(request: CommandRequest): CheckedRequest {
  const { command, env = {}, cache = 'untrusted', path = [], maxLiveBytes = 0, stdin, onOutput, onBytes } = request
  const { timeoutMs = DEFAULTS.commandTimeoutMs, maxOutputBytes = DEFAULTS.maxOutputBytes } = request
  checkCommand(command)
  checkEnvironment(env)
  checkNumber('timeoutMs', timeoutMs, { least: 1, most: MAX_TIMEOUT_MS })
  checkNumber('maxOutputBytes', maxOutputBytes, { least: 0, most: MAX_OUTPUT_BYTES })
  checkNumber('maxLiveBytes', maxLiveBytes, { least: 0, most: Number.MAX_SAFE_INTEGER })
  const workspace = realDirectory('workspace', request.workspace)
  const cwd = checkStart(workspace, request.cwd ?? '.')
  const paths = request.paths && openPaths({ given: request.workspace, real: workspace }, request.paths)
  if (cwd !== '' && paths && !isSeen(cwd, paths)) throw sandboxError(REQUESTS.closedStart(cwd, paths.read))
  return {
    command,
    workspace,
    cwd,
    paths,
    maker: makerOf(request),
    env,
    cache,
    path,
    timeoutMs,
    maxOutputBytes,
    stdin: inputOf(stdin),
    network: opened(request),
    networkDomains: request.networkDomains,
    onOutput,
    onBytes,
    maxLiveBytes: Math.max(maxLiveBytes, maxOutputBytes),
  }
}

function inputOf(stdin: CommandRequest['stdin']): Stream | undefined {
  if (stdin === undefined) return undefined
  const { Readable } = process.getBuiltinModule('node:stream')
  if (stdin instanceof Readable) return stdin
  if (typeof stdin !== 'string') return Readable.from(stdin)
  const bytes = Buffer.from(stdin)
  if (bytes.length > MAX_STDIN_BYTES) throw sandboxError(REQUESTS.longStdin(MAX_STDIN_BYTES))
  return Readable.from([bytes])
}

/** Undefined where no host can be reached: then the command needs no way out. */
function opened({ network, networkDomains }: CommandRequest): CommandNetwork | undefined {
  if (!network || networkDomains?.length === 0) return undefined
  return network.allowed.length > 0 || network.ask ? network : undefined
}

function makerOf({ maker = { tool: 'command' }, env = {} }: CommandRequest): CheckedRequest['maker'] {
  return { ...maker, hasSecrets: Object.keys(env).length > 0 }
}

function checkCommand(command: string): void {
  if (typeof command !== 'string' || command.trim() === '') throw sandboxError(REQUESTS.noCommand())
  // oxlint-disable-next-line no-control-regex
  if (/[\0\r]/.test(command)) throw sandboxError(REQUESTS.controlInCommand())
  const bytes = Buffer.byteLength(command)
  if (bytes > DEFAULTS.maxCommandBytes) {
    throw sandboxError(REQUESTS.longCommand(bytes, DEFAULTS.maxCommandBytes))
  }
}

function checkStart(workspace: string, cwd: string): string {
  const start = resolve(workspace, cwd)
  if (isAbsolute(cwd) || !contains(workspace, start)) {
    throw sandboxError(REQUESTS.outside(cwd))
  }
  if (!contains(workspace, realDirectory('cwd', start))) {
    throw sandboxError(REQUESTS.outsideByLink(cwd))
  }
  return relative(workspace, start)
}

function realDirectory(what: string, path: string): string {
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0')) {
    throw sandboxError(REQUESTS.notAbsolute(what, path))
  }
  let real: string
  try {
    real = realpathSync(path)
  } catch (cause) {
    throw sandboxError(REQUESTS.absent(what, path), cause)
  }
  if (!statSync(real).isDirectory()) throw sandboxError(REQUESTS.notADirectory(what, path))
  return real
}

/** True when `path` is `directory` or lies below it; both absolute and normal. */
export function contains(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === sep ? sep : join(directory, sep))
}

function checkNumber(name: string, value: number, range: { least: number; most: number }): void {
  if (!Number.isSafeInteger(value) || value < range.least || value > range.most) {
    throw sandboxError(REQUESTS.number(name, value, range))
  }
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
