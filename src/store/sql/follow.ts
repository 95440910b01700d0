/** follow: events of a project from every process, read when something says that there are more; nobody polls for rows. */
import { isNexusError } from '../../kernel/index.ts'
import type { Events, StoredEvent } from '../events.ts'

/** The followers of the projects of one database. */
export interface Wakes {
  /** Has the followers of a project read; without one those of all. */
  wake(projectId?: string): void
  /** Returns what ends it. */
  on(projectId: string, listener: Woken): () => void
  /** Wakes all for the last time. */
  close(): void
}

/** `isOver`: the database is closed. */
export type Woken = (isOver: boolean) => void

/** `start` looks at other processes while anybody follows, and `lingerMs` longer; it returns what ends that. */
export function createWakes(start: (wake: Wakes['wake']) => () => void, lingerMs = 0): Wakes {
  const listeners = new Map<Woken, string>()
  let isOver = false
  let stop: (() => void) | undefined
  let lingering: NodeJS.Timeout | undefined
  const wake: Wakes['wake'] = (projectId) => {
    for (const [listener, its] of listeners) if (projectId === undefined || its === projectId) listener(isOver)
  }
  const end = (): void => {
    clearTimeout(lingering)
    stop?.()
    stop = undefined
  }
  return {
    wake,
    on(projectId, listener) {
      clearTimeout(lingering)
      listeners.set(listener, projectId)
      if (!isOver) stop ??= start(wake)
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return
        if (lingerMs === 0 || isOver) end()
        else lingering = setTimeout(end, lingerMs)
      }
    },
    close() {
      isOver = true
      end()
      wake()
    },
  }
}

/** After a failure of the store the next try is later. */
const RETRY_MS = 500
const PAGE = 1_000

/** One reader of the events of a project for all who follow them. */
export function createFollow(
  log: Pick<Events, 'after' | 'last'>,
  on: (listener: Woken) => () => void,
): Events['follow'] {
  const listeners = new Set<Parameters<Events['follow']>[0]>()
  let reader: Reader | undefined
  return async (listener) => {
    listeners.add(listener)
    if (!reader || reader.isOver()) reader = startReader(log, on, (event) => deliver(listeners, event))
    const its = reader
    const stop = (): void => {
      if (!listeners.delete(listener) || listeners.size > 0) return
      its.stop()
      reader = undefined
    }
    try {
      await its.ready
    } catch (error) {
      stop()
      throw error
    }
    return stop
  }
}

interface Reader {
  /** Events that are committed after it are delivered. */
  readonly ready: Promise<void>
  /** The database was closed. */
  isOver(): boolean
  stop(): void
}

function startReader(
  log: Pick<Events, 'after' | 'last'>,
  on: (listener: Woken) => () => void,
  give: (event?: StoredEvent) => void,
): Reader {
  let cursor = 0
  let isReading = false
  let mayHaveMore = false
  let isOver = false
  let retry: NodeJS.Timeout | undefined
  const readAll = async (): Promise<void> => {
    while (mayHaveMore) {
      mayHaveMore = false
      const events = await log.after(cursor, { limit: PAGE })
      mayHaveMore ||= events.length === PAGE
      for (const event of events) give(event)
      cursor = events.at(-1)?.id ?? cursor
    }
  }
  const read = async (): Promise<void> => {
    mayHaveMore = true
    if (isReading) return
    isReading = true
    try {
      await readAll()
    } catch (error) {
      // The events that it missed were trimmed.
      if (isNexusError(error) && error.code === 'CONFLICT') cursor = await log.last().catch(() => cursor)
      // A waiter looks then, and meets the failure or what it missed.
      if (!isOver) retry = setTimeout(() => void read(), RETRY_MS).unref()
      give()
    } finally {
      isReading = false
    }
  }
  const off = on((isLast) => {
    isOver ||= isLast
    void ready.then(read, () => undefined)
  })
  const ready = log.last().then((id) => {
    cursor = id
  })
  return {
    ready,
    isOver: () => isOver,
    stop() {
      isOver = true
      off()
      clearTimeout(retry)
    },
  }
}

function deliver(listeners: Iterable<(event?: StoredEvent) => void>, event: StoredEvent | undefined): void {
  for (const listener of listeners) {
    try {
      listener(event)
    } catch (error) {
      process.emitWarning(`A listener of store events threw: ${String(error)}`, 'NexusWarning')
    }
  }
}
