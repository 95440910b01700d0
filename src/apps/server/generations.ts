/** The configuration that is served: opened at the start, and again at each reload while the old one ends its work. */
import type { Mounted } from '../mcp/index.ts'
import type { Served } from '../rpc/index.ts'

/** An open runtime with its pool. */
export interface Generation {
  readonly served: Served
  readonly mcp?: Mounted | undefined
  close(how: Closing): Promise<void>
}

/** Turns that run have so many milliseconds, then they are cancelled. */
export interface Closing {
  readonly drainMs: number
  /** The server ends: turns in which a person is asked are left for the next one. After a reload they go on here. */
  readonly isEnd: boolean
}

export interface Generations {
  current(): Generation
  /** Opens a new one and serves it. Where that fails, the old one stays, and the error is thrown. */
  reload(): Promise<void>
  /** Closes all of them. */
  close(drainMs: number): Promise<void>
}

export async function openGenerations(
  open: () => Promise<Generation>,
  onServed: (generation: Generation) => Promise<void>,
): Promise<Generations> {
  let current = await open()
  const ending = new Set<Promise<void>>()
  /** Those that still work, with an earlier configuration. */
  const earlier = new Set<Generation>()
  let reloading: Promise<void> | undefined
  let closing: Promise<void> | undefined
  async function replace(): Promise<void> {
    const next = await open()
    const before = current
    try {
      await onServed(next)
    } catch (error) {
      await next.close(NOW)
      throw error
    }
    current = next
    const end: Promise<void> = before.close({ drainMs: ENDLESS_MS, isEnd: false }).finally(() => {
      ending.delete(end)
      earlier.delete(before)
    })
    ending.add(end)
    earlier.add(before)
  }
  async function end(drainMs: number): Promise<void> {
    await reloading?.catch(() => undefined)
    const closing = { drainMs, isEnd: true }
    await Promise.all([current, ...earlier].map((generation) => generation.close(closing)))
    await Promise.all(ending)
  }
  try {
    await onServed(current)
  } catch (error) {
    await current.close(NOW)
    throw error
  }
  return {
    current: () => current,
    reload: () => {
      reloading ??= replace().finally(() => (reloading = undefined))
      return reloading
    },
    close(drainMs) {
      closing ??= end(drainMs)
      return closing
    },
  }
}

/** After a reload, turns of the old configuration go on to their end. */
const ENDLESS_MS = 2_147_483_647
const NOW: Closing = { drainMs: 0, isEnd: false }
