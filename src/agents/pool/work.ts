/** work: the turns that run in this process, by agent: which are waited for at the end, and which are cancelled. */

export interface Work {
  /** True once the pool is closed: no message begins. */
  readonly isClosed: boolean
  /** Cancels the turns of an agent when the pool closes, unless they are left. */
  signalOf(key: string): AbortSignal
  /** A turn of an agent in this process: whoever ends the agent or the pool waits for its end. */
  running<T>(key: string, turn: Promise<T>): Promise<T>
  /** Resolves when no turn of these agents runs in this process; without keys, when none does. */
  settled(keys?: readonly string[]): Promise<void>
  /** Turns of the agent are neither waited for nor cancelled: another process goes on with them. */
  leave(key: string): void
  isLeft(key: string): boolean
  /** Whether a turn of the agent runs here. */
  isRunning(key: string): boolean
  /** Takes no more turns, and cancels those that run. */
  close(): void
}

interface OfAgent {
  readonly turns: Set<Promise<unknown>>
  readonly cancel: AbortController
  readonly left: PromiseWithResolvers<void>
}

export function createWork(): Work {
  const agents = new Map<string, OfAgent>()
  const left = new Set<string>()
  let isClosed = false

  function of(key: string): OfAgent {
    const known = agents.get(key)
    if (known) return known
    const made: OfAgent = { turns: new Set(), cancel: new AbortController(), left: Promise.withResolvers() }
    if (left.has(key)) made.left.resolve()
    else if (isClosed) made.cancel.abort()
    agents.set(key, made)
    return made
  }

  return {
    get isClosed() {
      return isClosed
    },
    signalOf: (key) => of(key).cancel.signal,
    running(key, turn) {
      const its = of(key)
      const ended: Promise<unknown> = Promise.race([turn, its.left.promise])
        .catch(() => undefined)
        .finally(() => {
          its.turns.delete(ended)
          if (its.turns.size === 0) agents.delete(key)
        })
      its.turns.add(ended)
      return turn
    },
    async settled(keys) {
      const turnsOf = (): readonly Promise<unknown>[] =>
        [...agents].flatMap(([key, { turns }]) => (keys?.includes(key) === false ? [] : [...turns]))
      await Promise.all(turnsOf())
      // Without keys: a turn may have begun another one.
      while (!keys && turnsOf().length > 0) await Promise.all(turnsOf())
    },
    leave(key) {
      left.add(key)
      agents.get(key)?.left.resolve()
    },
    isLeft: (key) => left.has(key),
    isRunning: (key) => (agents.get(key)?.turns.size ?? 0) > 0,
    close() {
      isClosed = true
      for (const [key, { cancel }] of agents) if (!left.has(key)) cancel.abort()
    },
  }
}
