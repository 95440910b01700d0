/** waiting: who waits for a change of the store is woken by it, whichever process made it. */
import type { Store, StoredEvent } from '../store/index.ts'

export interface Waker {
  /** Resolves when something happened since the last `next` resolved, or since the waker was made. */
  next(signal?: AbortSignal): Promise<void>
  stop(): void
}

/** Follows the events that `isAbout` names. Make it before the first look at the rows, so that no change is missed. */
export async function createWaker({ events }: Store, isAbout: (event: StoredEvent) => boolean): Promise<Waker> {
  let woken = Promise.withResolvers<void>()
  const stop = await events.follow((event) => {
    if (event === undefined || isAbout(event)) woken.resolve()
  })
  return {
    async next(signal) {
      if (signal?.aborted) return
      const end = (): void => woken.resolve()
      signal?.addEventListener('abort', end)
      await woken.promise
      signal?.removeEventListener('abort', end)
      woken = Promise.withResolvers<void>()
    },
    stop,
  }
}
