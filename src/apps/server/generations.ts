/** The configuration that is served: opened at the start, and again at each reload while the old one ends its work. */
import type { Mounted } from '../mcp/index.ts'
import type { Served } from '../rpc/index.ts'

/** An open runtime with its pool. */
export interface Generation {
  readonly served: Served
  readonly mcp?: Mounted | undefined
  /** Waits for what runs, at most so long, then cancels it. */
  close(drainMs: number): Promise<void>
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
  let reloading: Promise<void> | undefined
  let closing: Promise<void> | undefined
  async function replace(): Promise<void> {
    const next = await open()
    const before = current
    try {
      await onServed(next)
    } catch (error) {
      await next.close(0)
      throw error
    }
    current = next
    const end: Promise<void> = before.close(ENDLESS_MS).finally(() => ending.delete(end))
    ending.add(end)
  }
  async function end(drainMs: number): Promise<void> {
    await reloading?.catch(() => undefined)
    await current.close(drainMs)
    await Promise.all(ending)
  }
  try {
    await onServed(current)
  } catch (error) {
    await current.close(0)
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
