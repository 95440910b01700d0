/** The event streams of a server: stored events in order, each once, and live parts between them. */
import type { ServerResponse } from 'node:http'
import type { PoolEvent } from '../../agents/pool/index.ts'
import { isNexusError, type JsonObject } from '../../kernel/index.ts'
import type { Agents, Events, StoredEvent } from '../../store/index.ts'
import type { Served } from '../rpc/index.ts'

export interface StreamRequest {
  /** The key of the agent. */
  readonly agentKey: string
  readonly subtree: boolean
  /** Absent: from now on. */
  readonly lastEventId: number | undefined
  readonly response: ServerResponse
}

export interface EventStreams {
  /** Writes until the response closes. */
  open(request: StreamRequest): Promise<void>
  /** Follows another store or pool, after a reload. */
  follow(served: Served): Promise<void>
  close(): Promise<void>
}

interface Stream extends Omit<StreamRequest, 'lastEventId'> {
  cursor: number
  isReading: boolean
  mayHaveMore: boolean
}

const HEARTBEAT_MS = 15_000
const PAGE = 500
/** A client that reads so slowly loses its connection, and goes on where it was. */
const MAX_UNREAD_BYTES = 1024 * 1024
/** Parts of a turn that no row has: they never come again. */
const LIVE: ReadonlySet<string> = new Set(['text-delta', 'reasoning-delta', 'tool-output', 'notice'])

/** `onError` gets failures of the store. */
export function createEventStreams(onError: (error: unknown) => void): EventStreams {
  const streams = new Set<Stream>()
  let log: Events | undefined
  let family = openFamily(undefined)
  let unfollow: (() => void)[] = []
  const beat = setInterval(() => {
    for (const { response } of streams) response.write(': alive\n\n')
  }, HEARTBEAT_MS).unref()

  function send(stream: Stream, text: string): void {
    stream.response.write(text)
    if (stream.response.writableLength > MAX_UNREAD_BYTES) stream.response.destroy()
  }

  async function isOf(stream: Stream, agentId: string | undefined): Promise<boolean> {
    if (agentId === undefined) return false
    if (agentId === stream.agentKey) return true
    return stream.subtree && (await family.isBelow(agentId, stream.agentKey))
  }

  async function writeEvent(stream: Stream, event: StoredEvent): Promise<void> {
    if (await isOf(stream, event.agentId)) send(stream, storedText(event, await family.nameOf(event.agentId)))
    stream.cursor = event.id
  }

  /** Reads what the stream has not seen, in pages. */
  async function read(stream: Stream): Promise<void> {
    stream.mayHaveMore = true
    if (stream.isReading) return
    stream.isReading = true
    try {
      while (stream.mayHaveMore && !stream.response.closed && log) {
        stream.mayHaveMore = false
        const events = await log.after(stream.cursor, { limit: PAGE })
        stream.mayHaveMore ||= events.length === PAGE
        for (const event of events) await writeEvent(stream, event)
        // A client that catches up reads at its own speed.
        if (stream.response.writableNeedDrain) await drained(stream.response)
      }
    } catch (error) {
      if (isNexusError(error) && error.code === 'CONFLICT') await reset(stream)
      else {
        onError(error)
        stream.response.destroy()
      }
    } finally {
      stream.isReading = false
    }
  }

  /** The events that it missed are gone: its client must look for itself. */
  async function reset(stream: Stream): Promise<void> {
    stream.cursor = (await log?.last()) ?? stream.cursor
    send(stream, eventText('reset', { last: stream.cursor }, stream.cursor))
  }

  /** A stream that has all earlier events gets the new one at once; any other one reads. */
  function onStored(event: StoredEvent | undefined): void {
    const about = event?.agentId === undefined ? undefined : family.peek(event.agentId)
    if (!event || !about) {
      for (const stream of streams) void read(stream)
      return
    }
    const text = storedText(event, about.id)
    for (const stream of streams) {
      if (stream.isReading) void read(stream)
      else if (event.id > stream.cursor) give(stream, { event, about, text })
    }
  }

  function give(
    stream: Stream,
    { event, about, text }: { readonly event: StoredEvent; readonly about: Known; readonly text: string },
  ): void {
    const isBelow = stream.subtree && about.ancestors.has(stream.agentKey)
    if (event.agentId === stream.agentKey || isBelow) send(stream, text)
    stream.cursor = event.id
  }

  function onLive({ agentId, key, event }: PoolEvent): void {
    if (!LIVE.has(event.type)) return
    const text = eventText(event.type, { agent_id: agentId, ...(event as unknown as JsonObject), type: event.type })
    for (const stream of streams) {
      if (stream.agentKey === key) send(stream, text)
      else if (stream.subtree)
        void isOf(stream, key)
          .then((isIts) => isIts && send(stream, text))
          .catch(onError)
    }
  }

  return {
    async open({ lastEventId, ...request }) {
      const { response } = request
      const newest = (await log?.last()) ?? 0
      await family.nameOf(request.agentKey)
      // An id that this store never gave is of another one.
      const isForeign = lastEventId !== undefined && lastEventId > newest
      const stream: Stream = { ...request, cursor: lastEventId ?? newest, isReading: false, mayHaveMore: false }
      if (response.closed) return
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      send(stream, eventText('ready', { last: stream.cursor }, stream.cursor))
      response.once('close', () => streams.delete(stream))
      streams.add(stream)
      if (isForeign) await reset(stream)
      await read(stream)
    },
    async follow({ pool, runtime }) {
      for (const stop of unfollow) stop()
      log = runtime.store.events
      family = openFamily(runtime.store.agents)
      unfollow = [await log.follow(onStored), pool.listen(onLive)]
      for (const stream of streams) void read(stream)
    },
    async close() {
      clearInterval(beat)
      for (const stop of unfollow) stop()
      for (const { response } of streams) response.end()
      streams.clear()
    },
  }
}

/** Resolves when what was written is read, or the connection closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end).off('close', end)
      resolve()
    }
    response.on('drain', end).on('close', end)
  })
}

/** Rows changed: ids of them, never their content. */
function storedText({ id, type, at, agentId, sessionId, references }: StoredEvent, name: string | undefined): string {
  const data = {
    type,
    at: new Date(at).toISOString(),
    agent_id: name ?? agentId ?? null,
    agent_key: agentId ?? null,
    session_id: sessionId ?? null,
    references: references as JsonObject,
  }
  return eventText(type, data, id)
}

/** JSON has no line breaks, and names of events come from us. */
function eventText(type: string, data: JsonObject, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Which agent is below which. Parents of an agent never change, so an answer is kept. */
interface Family {
  /** Whether the agent is a descendant of the other one; both by key. */
  isBelow(key: string, ancestor: string): Promise<boolean>
  /** The id of an agent by its key. */
  nameOf(key: string | undefined): Promise<string | undefined>
  /** The agent, where it was looked up before. */
  peek(key: string): Known | undefined
}

interface Known {
  readonly id: string
  readonly ancestors: ReadonlySet<string>
}

const MAX_KNOWN = 10_000

function openFamily(agents: Agents | undefined): Family {
  const known = new Map<string, Known>()
  async function find(key: string): Promise<Known | undefined> {
    const before = known.get(key)
    if (before) return before
    // Agents of the configuration have no rows.
    if (!agents || !key.startsWith('@')) return undefined
    const chain = await agents.chain(key)
    const own = chain.at(-1)
    if (!own) return undefined
    if (known.size >= MAX_KNOWN) known.clear()
    const found = { id: own.id, ancestors: new Set(chain.slice(0, -1).map((agent) => agent.key)) }
    known.set(key, found)
    return found
  }
  return {
    isBelow: async (key, ancestor) => (await find(key))?.ancestors.has(ancestor) ?? false,
    peek: (key) => known.get(key),
    nameOf: async (key) => (key === undefined ? undefined : (await find(key))?.id),
  }
}
