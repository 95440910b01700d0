import type { Invocation } from '../command.ts'
import { errorOf, MESSAGES } from '../messages/index.ts'

/**
 * Asks on stderr; anything but y or yes is no, and so is the end of the input. Ctrl-C cancels the whole invocation.
 * Rejects with CANCELLED when that or `signal` aborts.
 */
export async function confirm(question: string, invocation: Invocation, signal = invocation.signal): Promise<boolean> {
  const { terminal } = invocation
  const stop = AbortSignal.any([signal, invocation.signal])
  const end = terminal.beginQuestion()
  // A line of progress may be there.
  if (terminal.isWatched && !terminal.isDumb) terminal.writeNote('\r\u001b[K')
  const { createInterface } = await import('node:readline/promises')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  // The terminal is in raw mode while a line is read: Ctrl-C comes here and not as a signal.
  reader.on('SIGINT', () => invocation.cancel())
  const ended = new Promise<string>((resolve) => {
    reader.once('close', () => resolve(''))
  })
  try {
    const answer = await Promise.race([reader.question(`${question} [y/N] `, { signal: stop }), ended])
    if (stop.aborted) throw stop.reason
    return /^y(es)?$/i.test(answer.trim())
  } catch (cause) {
    if (stop.aborted) throw errorOf('CANCELLED', MESSAGES.cancelledQuestion(), cause)
    throw cause
  } finally {
    end()
    reader.close()
  }
}

/** Lets questions that come at the same time be asked one after the other. */
export function oneAtATime<Answer>(): (ask: () => Promise<Answer>) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve()
  return (ask) => {
    const next = last.then(ask, ask)
    last = next
    return next
  }
}
