import { fstatSync, writeSync } from 'node:fs'

/** Why an output takes no more: `gone` when whoever read it went away, else the system's words. */
export interface WriteFailure {
  readonly why: 'gone' | { readonly message: string }
}

/** One of the two outputs of the process. */
export interface Output {
  /** Writes all of it, in order. After a failure it writes nothing more and never throws. */
  write(text: string): void
  /** Why the output takes no more. */
  readonly failure: WriteFailure | undefined
  /** Aborts then, with the `WriteFailure` as reason. */
  readonly end: AbortSignal
  readonly isTerminal: boolean
  /** Width of the terminal; undefined for pipes and files. */
  readonly columns: number | undefined
  /** Resolves when everything written has left the process. */
  drained(): Promise<void>
}

/** A reader that went away; a socket says it was reset when something was left unread. */
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET'])

/**
 * Pipes and files are written directly and whole: Node's stream, which does the same there, costs a sixth of the start of Node.
 * `stream` is taken for a terminal, and for a pipe that is full and does not let us wait.
 */
export function createOutput(fd: 1 | 2, stream: () => NodeJS.WriteStream): Output {
  const pending = new Set<Promise<void>>()
  let opened: NodeJS.WriteStream | undefined
  let failure: WriteFailure | undefined
  // Made when it is asked for: most outputs neither fail nor are waited for.
  let end: AbortController | undefined
  const fail = (error: NodeJS.ErrnoException): void => {
    failure ??= { why: GONE.has(error.code ?? '') ? 'gone' : { message: error.message } }
    end?.abort(failure)
  }

  const open = (): NodeJS.WriteStream => {
    if (opened) return opened
    opened = stream()
    opened.on('error', fail)
    return opened
  }
  const queue = (data: string | Uint8Array): void => {
    const target = open()
    const written = new Promise<void>((resolve) => {
      target.write(data, () => resolve())
    })
    pending.add(written)
    void written.then(() => pending.delete(written))
  }
  const isDevice = mayBeTerminal(fd)

  return {
    write(text) {
      if (failure) return
      if (opened || isDevice) return queue(text)
      const { rest, error } = writeWhole(fd, text)
      if (error?.code === 'EAGAIN') queue(rest)
      else if (error) fail(error)
    },
    get failure() {
      return failure
    },
    get end() {
      end ??= new AbortController()
      if (failure) end.abort(failure)
      return end.signal
    },
    get isTerminal() {
      return isDevice && open().isTTY
    },
    get columns() {
      return isDevice ? open().columns : undefined
    },
    drained: async () => {
      await Promise.all(pending)
    },
  }
}

/** The number of /dev/null on Linux; writing to it needs no stream either. */
const NULL_DEVICE = 0x103

/** True for terminals and other devices; false for pipes, files and /dev/null. */
export function mayBeTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    return stats.isCharacterDevice() && !(process.platform === 'linux' && stats.rdev === NULL_DEVICE)
  } catch {
    // Not open: Node's stream knows what to do about it.
    return true
  }
}

interface Written {
  readonly rest: Uint8Array
  /** What kept the rest back; EAGAIN when the pipe is full and does not let us wait. */
  readonly error?: NodeJS.ErrnoException
}

const NOTHING = new Uint8Array()

/** Nearly always the system takes all of it at once: then no copy in bytes is made that lives on. */
function writeWhole(fd: number, text: string): Written {
  const first = attempt(() => writeSync(fd, text))
  if (first.error) return { rest: Buffer.from(text), error: first.error }
  let at = first.count
  if (at === Buffer.byteLength(text)) return { rest: NOTHING }
  const bytes = Buffer.from(text)
  while (at < bytes.length) {
    const { count, error } = attempt(() => writeSync(fd, bytes, at))
    if (error) return { rest: bytes.subarray(at), error }
    at += count
  }
  return { rest: NOTHING }
}

/** One system call. One that a signal interrupted wrote nothing. */
function attempt(write: () => number): { readonly count: number; readonly error?: NodeJS.ErrnoException } {
  try {
    return { count: write() }
  } catch (error) {
    const failure = error as NodeJS.ErrnoException
    return failure.code === 'EINTR' ? { count: 0 } : { count: 0, error: failure }
  }
}
