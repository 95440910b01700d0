import { CODES, NexusError } from '../kernel/index.ts'
import type { Terminal } from './terminal.ts'

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** After a second signal the clean-up has this long: a command's grace time, and what follows it. The runner outlives us anyway. */
const LAST_WAIT_MS = 3_000

/** How an invocation is cancelled. Until a command asks for the signal, Ctrl-C ends the process as usual. */
export interface Cancelling {
  signal(): AbortSignal
  /** The signal, when a command has asked for it. */
  asked(): AbortSignal | undefined
  cancel(): void
  release(): void
}

/** The first Ctrl-C, stop of a service or end of the terminal cancels; a second one bounds how long that may take. */
export function prepareCancelling(terminal: Pick<Terminal, 'note'>): Cancelling {
  let controller: AbortController | undefined
  let lastWait: NodeJS.Timeout | undefined
  const begin = (): AbortController => {
    if (controller) return controller
    for (const name of ENDING_SIGNALS) process.on(name, cancel)
    return (controller = new AbortController())
  }
  const cancel = (): void => {
    const { signal } = begin()
    if (!signal.aborted) {
      terminal.note(`\nCancelling … (Ctrl-C again to wait at most ${LAST_WAIT_MS / 1000} s)`)
      controller?.abort(new NexusError('CANCELLED', 'Cancelled by the user.'))
    } else lastWait ??= setTimeout(() => process.exit(CODES.CANCELLED.exit), LAST_WAIT_MS)
  }
  return {
    signal: () => begin().signal,
    asked: () => controller?.signal,
    cancel,
    release: () => {
      clearTimeout(lastWait)
      for (const name of ENDING_SIGNALS) process.off(name, cancel)
    },
  }
}
