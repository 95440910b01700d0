import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { errorCode } from '../../kernel/index.ts'
import { coverInherited } from './descriptors.ts'
import { findProgram, SYSTEM_PATH } from './find-program.ts'
import { endGroup, killGroup } from './process-group.ts'

/** One program to run. No shell is between. */
export interface ProgramRequest {
  /** The program, by absolute path or by a name in the system's directories, and its arguments. */
  readonly command: readonly string[]
  /** All the variables it gets, besides LANG, and PATH, which is always the system's. */
  readonly environment: Readonly<Record<string, string>>
  /** Default: the system's. Only for programs that a person asked for. */
  readonly path?: string
  /** Default `/`. */
  readonly cwd?: string
  readonly input?: string | Uint8Array
  /** An open file that is the input instead. */
  readonly inputFrom?: number
  /** Root runs it as this user. */
  readonly as?: { readonly uid: number; readonly gid: number } | undefined
  /** Keeps the input open until this is true of all of stdout so far; default: it ends at once. */
  readonly endInputAfter?: (stdout: Uint8Array) => boolean
  readonly timeoutMs: number
  /** More bytes on stdout end the program. */
  readonly maxOutputBytes: number
  /** How much of stderr is kept; default 0. */
  readonly maxErrorBytes?: number
  readonly signal?: AbortSignal
}

/** `why` completes the sentence "the command …". */
export type ProgramResult =
  | {
      readonly type: 'ended'
      /** -1 when a signal ended it. */
      readonly code: number
      readonly signal?: NodeJS.Signals
      readonly stdout: Uint8Array
      /** The beginning, as it came. */
      readonly stderr: Uint8Array
    }
  | {
      readonly type: 'failed'
      readonly reason: 'refused' | 'not-started' | 'time' | 'output'
      readonly why: string
      /** Its output until it was stopped. */
      readonly stdout?: Uint8Array
      readonly stderr?: Uint8Array
    }

type Failed = Extract<ProgramResult, { type: 'failed' }>
type Child = ChildProcessByStdio<Writable | null, Readable, Readable>

/** See `runProgram`. */
export async function run(request: ProgramRequest): Promise<ProgramResult> {
  const [name = '', ...args] = request.command
  const program = findProgram(name)
  if ('why' in program) return { type: 'failed', reason: 'refused', why: program.why }
  request.signal?.throwIfAborted()
  let child: Child
  try {
    child = start(program.path, args, request)
  } catch (error) {
    return notStarted(error)
  }
  const result = await watch(child, request)
  await endGroup(child.pid)
  request.signal?.throwIfAborted()
  return result
}

function start(
  path: string,
  args: readonly string[],
  { cwd = '/', environment, path: searched, inputFrom, as }: ProgramRequest,
): Child {
  const covered = coverInherited()
  try {
    return spawn(path, args, {
      cwd,
      env: { LANG: 'C.UTF-8', ...environment, PATH: searched ?? SYSTEM_PATH.join(':') },
      stdio: [inputFrom ?? 'pipe', 'pipe', 'pipe', ...covered.stdio],
      ...as,
      // A group of its own, so that what the program starts ends with it.
      detached: true,
    }) as Child
  } finally {
    covered.close()
  }
}

/** Resolves when the program has ended and its streams are closed. */
function watch(child: Child, request: ProgramRequest): Promise<ProgramResult> {
  const { timeoutMs, maxOutputBytes, maxErrorBytes = 0, signal } = request
  const stdout = new Kept(maxOutputBytes)
  const stderr = new Kept(maxErrorBytes)
  let stopped: Failed | undefined
  const stop = (failed?: Omit<Failed, 'type'>): void => {
    if (failed) stopped ??= { type: 'failed', ...failed }
    killGroup(child.pid)
    // A process that left the group may still hold the pipes.
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const timer = setTimeout(() => stop({ reason: 'time', why: `took longer than ${timeoutMs / 1000} s` }), timeoutMs)
  const abort = (): void => stop()
  signal?.addEventListener('abort', abort, { once: true })
  child.stdout.on('data', (chunk: Buffer) => {
    if (!stdout.add(chunk)) stop({ reason: 'output', why: `wrote more than ${maxOutputBytes} bytes` })
    else if (request.endInputAfter?.(stdout.bytes())) child.stdin?.end()
  })
  child.stderr.on('data', (chunk: Buffer) => void stderr.add(chunk))
  // A program that does not read its input closes it; that is its business.
  child.stdin?.on('error', () => undefined)
  if (request.endInputAfter) child.stdin?.write(request.input ?? '')
  else child.stdin?.end(request.input ?? '')
  return new Promise<ProgramResult>((resolve) => {
    child.on('error', (error) => resolve(notStarted(error)))
    child.on('close', (code, by) => {
      const written = { stdout: stdout.bytes(), stderr: stderr.bytes() }
      resolve(
        stopped ? { ...stopped, ...written } : { type: 'ended', code: code ?? -1, signal: by ?? undefined, ...written },
      )
    })
  }).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  })
}

/** The beginning of a stream. */
class Kept {
  readonly #chunks: Uint8Array[] = []
  #room: number

  constructor(maxBytes: number) {
    this.#room = maxBytes
  }

  /** False when it was more than the limit. */
  add(chunk: Uint8Array): boolean {
    const isWhole = chunk.length <= this.#room
    if (this.#room > 0) this.#chunks.push(chunk.subarray(0, this.#room))
    this.#room = Math.max(0, this.#room - chunk.length)
    return isWhole
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }
}

function notStarted(error: unknown): Failed {
  return { type: 'failed', reason: 'not-started', why: `could not be started (${errorCode(error) ?? 'unknown'})` }
}
