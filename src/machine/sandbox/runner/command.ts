/** command: starts one confined command, streams its bounded output, and ends it with everything below it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex, Readable } from 'node:stream'
import type { EndMessage, FromRunner, RunMessage } from './protocol.ts'
import type { OutputPipes } from './pipes.ts'
import { childrenOf, findCommand, signalProcess } from './process-tree.ts'
import { FILTER_DESCRIPTOR } from './profile.ts'
import { syscallFilter } from './syscall-filter.ts'

/** After the first process is gone nothing may hold the pipes; this is only for a kernel that is slow to close them. */
const CLOSE_WAIT_MS = 1000
/** With so many bytes on their way to a parent that is slow, the command has to wait with its writing. */
const MOST_WAITING_BYTES = 1024 * 1024
/** Most bytes of bubblewrap's own words kept for the error when the command did not begin. */
const REASON_BYTES = 2000

/** A command under way. */
export interface Running {
  /** Resolves when nothing of the command is left. Rejects when it could not be started. */
  readonly done: Promise<EndMessage>
  /** SIGTERM to the command itself, then, after the grace time, the end of everything in its namespace. */
  cancel(): void
  /** Its next piece of input; undefined at the end. */
  give(bytes: Uint8Array | undefined): void
  /** The end of everything, now. */
  kill(): void
  /** The same for a limit that it reached; the note says which. */
  readonly endFor: (note: string) => void
  /** Bubblewrap, above all processes of the command; undefined when it was not started. */
  readonly pid: number | undefined
}

/** `sent` is called when the message has left this process, or never will. */
export type Send = (message: FromRunner, sent?: () => void) => void

/** Resources of one command besides its arguments. */
export interface StartOptions {
  readonly run: RunMessage
  /** Gets the output as it comes. */
  readonly send: Send
  readonly pipes: OutputPipes
}

/** Starts bubblewrap, or what becomes it: a path with its arguments. */
export function startCommand(program: readonly string[], { run, send, pipes }: StartOptions): Running {
  const startedAt = performance.now()
  const child = startBwrap(program, { run, pipes })
  let end: EndMessage['end'] | undefined
  let began = false
  let reached: string | undefined
  let graceTimer: NodeJS.Timeout | undefined

  const stdout = countOutput(pipes.stdout, { stream: 'stdout', run, send })
  const stderr = countOutput(pipes.stderr, { stream: 'stderr', run, send })
  const order = child.stdio[3] as Duplex
  let said = ''
  order.on('data', (data: Buffer) => {
    began = true
    if (said.length < MAX_SAID_CHARS) said += data.toString('utf8')
  })
  ignoreBrokenPipe(order)
  order.end(
    [run.startIn, run.command, ...Object.entries(run.env).map(([name, value]) => `${name}=${value}`), ''].join('\0'),
  )
  const filter = child.stdio[FILTER_DESCRIPTOR] as Duplex
  ignoreBrokenPipe(filter)
  filter.end(syscallFilter())
  const { stdin } = child
  const wants = (error?: Error | null): void => {
    if (!error) send({ type: 'wants', id: run.id })
  }
  if (stdin) {
    ignoreBrokenPipe(stdin)
    wants()
  }

  const stop = (why: 'timeout' | 'cancelled'): void => {
    if (end) return
    end = why
    const command = child.pid === undefined || !began ? undefined : findCommand(child.pid)
    if (command === undefined || !signalProcess(command, 'SIGTERM')) killAll(child)
    else graceTimer = setTimeout(() => killAll(child), run.graceMs)
  }
  const timer = setTimeout(() => stop('timeout'), run.timeoutMs)

  const counts = () => ({
    type: 'end' as const,
    id: run.id,
    stdoutBytes: stdout.bytes(),
    stderrBytes: stderr.bytes(),
    durationMs: performance.now() - startedAt,
  })
  const isHeld = (): boolean => stdout.isHeld() || stderr.isHeld()
  const done = ended(child, pipes, isHeld).then(({ code, signal }): EndMessage => {
    clearTimeout(timer)
    clearTimeout(graceTimer)
    if (!began && !end) throw new Error(stderr.text().trim() || `bwrap ended with ${signal ?? code}`)
    if (end) return { ...counts(), end, exitCode: -1, notes: [] }
    const killed = signal !== null || reached !== undefined
    return {
      ...counts(),
      end: killed ? 'killed' : 'exit',
      exitCode: killed ? 137 : (code ?? -1),
      notes: limitNotes(code, reached),
      ...survivorsIn(said),
    }
  })
  return {
    done: done.finally(() => {
      clearTimeout(timer)
      clearTimeout(graceTimer)
    }),
    pid: child.pid,
    cancel: () => stop('cancelled'),
    give: (bytes) => void (bytes ? stdin?.write(bytes, wants) : stdin?.end()),
    endFor: (note) => {
      reached ??= note
      killAll(child)
    },
    kill: () => {
      stdout.drop()
      stderr.drop()
      killAll(child)
    },
  }
}

function startBwrap(
  [file = '', ...args]: readonly string[],
  { run, pipes }: Pick<StartOptions, 'run' | 'pipes'>,
): ChildProcess {
  try {
    return spawn(file, args, {
      cwd: run.layer,
      // 3 is the order, 4 the filter: FILTER_DESCRIPTOR.
      stdio: [run.hasInput ? 'pipe' : 'ignore', ...pipes.ends, 'pipe', 'pipe'],
      // Bubblewrap and its shell get this; the command's own environment goes through descriptor 3.
      env: { PATH: '/usr/bin:/bin' },
    })
  } catch (error) {
    pipes.release(false)
    throw error
  } finally {
    pipes.closeEnds()
  }
}

/** Kills the first process of the namespace: the kernel then ends all others before it reports that one's end. */
function killAll(child: ChildProcess): void {
  if (child.pid === undefined) return
  const first = childrenOf(child.pid)[0]
  if (first !== undefined) signalProcess(first, 'SIGKILL')
  else signalProcess(child.pid, 'SIGKILL')
  // Bubblewrap itself ends with its child; this is for the case that it does not.
  setTimeout(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'), 500).unref()
}

/** Resolves when the first process is gone and both pipes are closed. `isHeld` says that we do not read on at present. */
async function ended(
  child: ChildProcess,
  pipes: OutputPipes,
  isHeld: () => boolean,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const closed = Promise.all([once(pipes.stdout, 'close'), once(pipes.stderr, 'close')])
  let isClean = false
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    const timer = setInterval(() => isHeld() || pipes.release(false), CLOSE_WAIT_MS)
    await closed.finally(() => clearInterval(timer))
    isClean = pipes.stdout.readableEnded && pipes.stderr.readableEnded
    return { code, signal }
  } finally {
    pipes.release(isClean)
    for (const stream of child.stdio) stream?.destroy()
  }
}

interface OutputOptions {
  readonly stream: 'stdout' | 'stderr'
  readonly run: RunMessage
  readonly send: Send
}

interface Counted {
  bytes(): number
  /** The first words. */
  text(): string
  /** True while the parent has to catch up. */
  isHeld(): boolean
  /** The parent is gone: from now on nothing is sent and nothing waits. */
  drop(): void
}

/** Passes on the first bytes and counts the rest: memory stays flat however much comes and however slow the parent is. */
function countOutput(from: Readable, { stream, run, send }: OutputOptions): Counted {
  let bytes = 0
  let head = ''
  let waiting = 0
  let isDropping = false
  const sent = (count: number): void => {
    waiting -= count
    if (from.isPaused() && waiting < MOST_WAITING_BYTES / 2) from.resume()
  }
  from.on('data', (chunk: Buffer) => {
    const room = run.maxOutputBytes - bytes
    bytes += chunk.length
    if (head.length < REASON_BYTES) head += chunk.toString('utf8', 0, REASON_BYTES)
    if (room <= 0 || isDropping) return
    const part = chunk.subarray(0, room)
    waiting += part.length
    if (waiting >= MOST_WAITING_BYTES) from.pause()
    send({ type: 'output', id: run.id, stream, bytes: part }, () => sent(part.length))
  })
  return {
    bytes: () => bytes,
    text: () => head,
    isHeld: () => from.isPaused(),
    drop: () => {
      isDropping = true
      from.resume()
    },
  }
}

/** The command may end or close its input before it has read it all; that is its right and not a fault. */
function ignoreBrokenPipe(stream: NodeJS.WritableStream): void {
  stream.on('error', () => undefined)
}

const MAX_SAID_CHARS = 4_000
const MAX_SURVIVORS = 5
const MAX_WORDS_CHARS = 120

/** The first character only says that it has begun. */
function survivorsIn(said: string): Pick<EndMessage, 'survivors'> {
  const survivors = said
    .slice(1)
    .split('\0')
    .filter((words) => words.trim() !== '')
    .slice(0, MAX_SURVIVORS)
    .map((words) => words.slice(0, MAX_WORDS_CHARS))
  return survivors.length === 0 ? {} : { survivors }
}

function limitNotes(code: number | null, reached: string | undefined): string[] {
  if (reached !== undefined) return [reached]
  if (code === 153)
    return [
      'The command wrote a file larger than the file size limit. Write smaller files, or raise execution.limits.fileSizeBytes in ~/.nexus/nexus.yaml.',
    ]
  return []
}
