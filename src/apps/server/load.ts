/** How much is going on: requests that are read or answered, messages that are waited for, event streams. Each has its own limit. */

export type Kind = 'requests' | 'waiting' | 'streams'

export interface Load {
  /** Counts one more until the returned function is called; undefined where the limit is reached. */
  begin(kind: Kind): (() => void) | undefined
  count(kind: Kind): number
  /** Epoch milliseconds since which nothing goes on; undefined while something does. */
  idleSince(): number | undefined
}

/** `limits` may change between two calls: a reload of the configuration counts at once. */
export function createLoad(limits: () => Readonly<Record<Kind, number>>, now: () => number = Date.now): Load {
  const counts: Record<Kind, number> = { requests: 0, waiting: 0, streams: 0 }
  let idle: number | undefined = now()
  const all = (): number => counts.requests + counts.waiting + counts.streams
  return {
    begin(kind) {
      if (counts[kind] >= limits()[kind]) return undefined
      counts[kind] += 1
      idle = undefined
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        counts[kind] -= 1
        if (all() === 0) idle = now()
      }
    },
    count: (kind) => counts[kind],
    idleSince: () => idle,
  }
}
