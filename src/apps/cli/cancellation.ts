import { errorOf } from './failure.ts'
import { CODES } from '../../kernel/index.ts'
import type { Terminal } from './terminal.ts'

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** After a second signal the clean-up has this long: a command's grace time, and what follows it. The runner outlives us anyway. */
const LAST_WAIT_MS = 3_000

/** How an invocation is cancelled. Until a command uses the signal, Ctrl-C ends the process as usual. */
export interface Cancellation {
  signal(): AbortSignal
  /** The signal, once a command uses it. */
  used(): AbortSignal | undefined
  cancel(): void
  /** Nothing is said of it: for a service, which its client or its user ends in the ordinary course. */
  quiet(): void
  /** SIGHUP does not cancel: the command has another use of it. */
  withoutHangup(): void
  release(): void
}

/** The first Ctrl-C, stop of a service or end of the terminal cancels; a second one bounds how long that may take. */
export function prepareCancellation(terminal: Pick<Terminal, 'note'>): Cancellation {
  let controller: AbortController | undefined
  let isQuiet = false
  let names: readonly NodeJS.Signals[] = ENDING_SIGNALS
  let lastWait: NodeJS.Timeout | undefined
  const listen = (): AbortController => {
    if (controller) return controller
    for (const name of names) process.on(name, cancel)
    return (controller = new AbortController())
  }
  const cancel = (): void => {
    const { signal } = listen()
    if (!signal.aborted) {
      if (!isQuiet) terminal.note(`\nCancelling … Press Ctrl-C again to stop after ${LAST_WAIT_MS / 1000} s at most.`)
      controller?.abort(errorOf('CANCELLED', 'Cancelled by the user.'))
    } else lastWait ??= setTimeout(() => process.exit(CODES.CANCELLED.exit), LAST_WAIT_MS)
  }
  return {
    signal: () => listen().signal,
    used: () => controller?.signal,
    cancel,
    quiet: () => void (isQuiet = true),
    withoutHangup: () => void (names = ENDING_SIGNALS.filter((name) => name !== 'SIGHUP')),
    release: () => {
      clearTimeout(lastWait)
      for (const name of names) process.off(name, cancel)
    },
  }
}
