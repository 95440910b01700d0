/** places: so many turns of this process ask models at once, in the order they came. Source: decisions, "agents.maxRunning". */

export interface Places {
  /** Resolves with the way to give the place back; rejects with the reason of the signal. */
  enter(signal: AbortSignal): Promise<() => void>
}

export function createPlaces(most: number): Places {
  let free = most
  const waiting = new Set<() => void>()
  const leave = (): (() => void) => {
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      const [next] = waiting
      if (next === undefined) free += 1
      else {
        waiting.delete(next)
        next()
      }
    }
  }
  return {
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) {
        free -= 1
        return leave()
      }
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const take = (): void => resolve(leave())
      const stop = (): void => {
        waiting.delete(take)
        reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)))
      }
      waiting.add(take)
      signal.addEventListener('abort', stop, { once: true })
      return promise.finally(() => signal.removeEventListener('abort', stop))
    },
  }
}
