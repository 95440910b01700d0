/** Longest stretch of synchronous work, in seconds, so that a server's event loop stays alive. */
const SLICE = 0.004

/** Lets other work run in between: call it after every item, and await what it returns when it returns something. */
export type Pace = () => Promise<void> | undefined

/** A pace. `check` is called each time, and ends the work by throwing. */
export function createPace(check?: () => void): Pace {
  // The clock of `performance` loads a tenth of what Node needs to start.
  let since = process.uptime()
  return () => {
    check?.()
    if (process.uptime() - since < SLICE) return undefined
    return yieldToEventLoop().then(() => {
      check?.()
      since = process.uptime()
    })
  }
}

/** Lets timers, I/O and other waiting callbacks run once. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
}

/** Takes a step for each item, in slices. */
export async function forEachPaced<T>(
  items: Iterable<T>,
  pace: Pace,
  step: (item: T) => Promise<void> | void,
): Promise<void> {
  for (const item of items) {
    const done = step(item)
    if (done) await done
    const pause = pace()
    if (pause) await pause
  }
}

/** A pace that ends with the signal, whose reason it throws. */
export function paceOf(signal: AbortSignal | undefined): Pace {
  return createPace(signal && (() => signal.throwIfAborted()))
}
