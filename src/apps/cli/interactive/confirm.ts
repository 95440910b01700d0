import { errorOf } from '../failure.ts'
import type { Invocation } from '../command.ts'

/** The input is empty when nothing came for this long: longer than the gaps within a paste, shorter than a person needs to answer. */
const QUIET_MS = 100
const CTRL_C = 3

/** Asks for yes or no, as `choose`: false for n, no or Enter, undefined when the input ends. */
export async function confirm(
  question: string,
  invocation: Invocation,
  signal = invocation.signal,
): Promise<boolean | undefined> {
  const answer = await choose(`${question} [y/N]`, { words: ['yes', 'no'], again: 'Type y or n.' }, invocation, signal)
  return answer === undefined ? undefined : answer === 'yes'
}

/** Asks as `ask` for one of some words or its first letter. */
export async function choose<Word extends string>(
  question: string,
  { words, again }: { readonly words: readonly Word[]; readonly again: string },
  invocation: Invocation,
  signal = invocation.signal,
): Promise<Word | '' | undefined> {
  const read = (typed: string): Word | undefined => {
    const answer = typed.toLowerCase()
    return words.find((each) => answer === each || answer === each[0])
  }
  return ask(question, { read, again }, invocation, signal)
}

/**
 * Asks on stderr, in a terminal; '' for Enter, undefined when the input ends. It asks again where `read` gives undefined. Only keys that come after the question is on the screen answer it. Ctrl-C cancels the whole invocation.
 * Rejects with CANCELLED when that or `signal` aborts.
 */
export async function ask<T>(
  question: string,
  { read, again }: { readonly read: (answer: string) => T | undefined; readonly again: string },
  invocation: Invocation,
  signal = invocation.signal,
): Promise<T | '' | undefined> {
  const stop = AbortSignal.any([signal, invocation.signal])
  const end = invocation.terminal.beginQuestion()
  try {
    for (let text = question; ; text = `${again} ${question.slice(question.lastIndexOf('\n') + 1)}`) {
      await discardTyped(invocation, stop)
      const answer = (await readLine(`${text} `, invocation, stop))?.trim()
      if (answer === undefined || answer === '') return answer
      const value = read(answer)
      if (value !== undefined) return value
    }
  } catch (cause) {
    if (stop.aborted) throw errorOf('CANCELLED', 'Cancelled while a question was open.', undefined, cause)
    throw cause
  } finally {
    end()
    process.stdin.setRawMode(false).pause()
  }
}

/** Reads and drops what was typed or pasted before the question. In raw mode, since else a line without its Enter would stay. */
async function discardTyped(invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { setTimeout: sleep } = await import('node:timers/promises')
  let isQuiet = false
  const discard = (keys: Buffer): void => {
    isQuiet = false
    if (keys.includes(CTRL_C)) invocation.cancel()
  }
  const input = process.stdin.setRawMode(true).on('data', discard)
  try {
    while (!isQuiet) {
      isQuiet = true
      await sleep(QUIET_MS, undefined, { signal })
    }
  } finally {
    input.off('data', discard)
  }
}

/** Undefined at the end of the input. */
async function readLine(prompt: string, invocation: Invocation, signal: AbortSignal): Promise<string | undefined> {
  const { terminal } = invocation
  if (process.stdin.readableEnded) return undefined
  // A line of progress may be there.
  if (!terminal.isDumb) terminal.writeNote('\r\u001b[K')
  const { createInterface } = await import('node:readline/promises')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  // The terminal is in raw mode while a line is read: Ctrl-C comes here and not as a signal.
  reader.on('SIGINT', () => invocation.cancel())
  const ended = new Promise<undefined>((resolve) => {
    reader.once('close', () => resolve(undefined))
  })
  try {
    return await Promise.race([reader.question(prompt, { signal }), ended])
  } finally {
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
