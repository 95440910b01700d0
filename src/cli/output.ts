/** Why an output takes no more: `gone` when its reader went away, else the system's words. */
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

/** Over `process.stdout` or `process.stderr`. */
export function createOutput(stream: NodeJS.WriteStream): Output {
  let failure: WriteFailure | undefined
  const end = new AbortController()
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= { why: GONE.has(error.code ?? '') ? 'gone' : { message: error.message } }
    end.abort(failure)
  })
  return {
    write(text) {
      if (!failure) stream.write(text)
    },
    get failure() {
      return failure
    },
    end: end.signal,
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns
    },
    drained: () =>
      new Promise((resolve) => {
        if (failure) resolve()
        else stream.write('', () => resolve())
      }),
  }
}
