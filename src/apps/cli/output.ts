import { fstatSync, writeSync } from 'node:fs'

/** Why an output takes no more: `gone` when its reader went away, else the system's words. */
export interface WriteFailure {
  readonly why: 'gone' | { readonly message: string }
}

export interface Output {
  /** Writes all of it, in order. After a failure it writes nothing more and never throws. */
  write(data: string | Uint8Array): void
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
 * Pipes and files are written at once: Node's stream, which takes a tenth of the start of Node, is for terminals, and for a pipe
 * that is full and does not wait.
 */
export function createOutput(fd: 1 | 2): Output {
  const isTerminal = isTerminalAt(fd)
  let opened: NodeJS.WriteStream | undefined
  let failure: WriteFailure | undefined
  let end: AbortController | undefined
  const fail = (error: NodeJS.ErrnoException): void => {
    failure ??= { why: GONE.has(error.code ?? '') ? 'gone' : { message: error.message } }
    end?.abort(failure)
  }
  const stream = (): NodeJS.WriteStream =>
    (opened ??= (fd === 1 ? process.stdout : process.stderr).on('error', (error: Error) => fail(error)))
  return {
    write(data) {
      if (failure) return
      if (opened || isTerminal) stream().write(data)
      else {
        const { rest, error } = writeNow(fd, data)
        if (error?.code === 'EAGAIN') stream().write(rest)
        else if (error) fail(error)
      }
    },
    get failure() {
      return failure
    },
    get end() {
      end ??= new AbortController()
      if (failure) end.abort(failure)
      return end.signal
    },
    isTerminal,
    get columns() {
      return isTerminal ? stream().columns : undefined
    },
    drained: () =>
      new Promise((resolve) => {
        if (failure || !opened) resolve()
        else opened.write('', () => resolve())
      }),
  }
}

/** Only a device can be a terminal; asking Node itself loads its network code. */
export function isTerminalAt(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    // It is closed.
    return false
  }
}

function writeNow(
  fd: number,
  data: string | Uint8Array,
): { readonly rest: Uint8Array; readonly error?: NodeJS.ErrnoException } {
  let rest: Uint8Array = typeof data === 'string' ? Buffer.from(data) : data
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
    return { rest }
  } catch (error) {
    return { rest, error: error as NodeJS.ErrnoException }
  }
}
