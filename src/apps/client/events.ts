/** The events of an agent: server-sent events over fetch, which go on where they broke off. */
import { isJsonObject, type JsonObject } from '../../kernel/index.ts'
import { ClientError } from './client-error.ts'
import { pause, reasonOf } from './post.ts'

export interface EventOptions {
  /** Also those of its descendants. */
  readonly subtree?: boolean
  /** Goes on after this event; default with what comes from now on. */
  readonly lastEventId?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Called each time that the server answers. */
  readonly onOpen?: () => void
}

/** `id` is of the stored log; live parts, such as text of the model, have none and never come again. */
export interface ServerEvent {
  readonly id?: number
  readonly type: string
  readonly data: JsonObject
}

interface Connection extends EventOptions {
  readonly headers: Readonly<Record<string, string>>
  /** Failures in a row after which it gives up. */
  readonly retries: number
}

const MAX_LINE_CHARS = 4 * 1024 * 1024
/** The server says something at least every 15 s. */
const SILENCE_MS = 45_000

export async function* openEvents(url: string, options: Connection): AsyncGenerator<ServerEvent, void, undefined> {
  const { lastEventId, signal, retries } = options
  const place = { last: lastEventId, failures: 0 }
  while (signal?.aborted !== true) {
    try {
      yield* connection(url, place, options)
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof ClientError) throw error
      if (place.failures >= retries)
        throw new ClientError('connection', `${new URL(url).host} gives no events: ${reasonOf(error)}`, {
          cause: error,
        })
    }
    await pause(place.failures++, signal)
  }
}

/** The events of one connection, until it ends or breaks. */
async function* connection(
  url: string,
  place: { last: number | undefined; failures: number },
  { subtree, signal, onOpen, headers }: Connection,
): AsyncGenerator<ServerEvent, void, undefined> {
  const silence = new AbortController()
  const from = place.last === undefined ? {} : { 'last-event-id': String(place.last) }
  const response = await fetch(`${url}${subtree ? '?subtree=1' : ''}`, {
    headers: { ...headers, ...from, accept: 'text/event-stream' },
    redirect: 'error',
    signal: AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]),
  })
  if (!response.ok || !response.body) throw await refusal(response)
  onOpen?.()
  for await (const event of read(response.body, silence)) {
    place.failures = 0
    if (event.id !== undefined) place.last = event.id
    // It names the place to go on from, and has nothing else to say.
    if (event.type !== 'ready') yield event
  }
}

async function refusal(response: Response): Promise<ClientError | Error> {
  const { status } = response
  // The server is starting, stopping or full.
  if (status === 503) return new Error('503')
  const body: unknown = await response.json().catch(() => undefined)
  const said = isJsonObject(body) && typeof body['error'] === 'string' ? body['error'] : `HTTP status ${status}`
  return new ClientError('http', said, { status })
}

async function* read(body: ReadableStream<Uint8Array>, silence: AbortController): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let fields: Record<string, string> = {}
  const watch = setTimeout(() => silence.abort(new Error('silence')), SILENCE_MS)
  try {
    for await (const chunk of body) {
      watch.refresh()
      rest += decoder.decode(chunk, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MAX_LINE_CHARS) throw new ClientError('protocol', 'An event is too long.')
      for (const line of lines) {
        if (line === '') {
          const event = toEvent(fields)
          fields = {}
          if (event) yield event
          continue
        }
        const [name = '', value = ''] = split(line)
        if (name !== '') fields[name] = value
      }
    }
  } finally {
    clearTimeout(watch)
  }
}

function split(line: string): readonly [string, string] {
  const at = line.indexOf(':')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).trimStart()]
}

function toEvent({ id, event = 'message', data }: Readonly<Record<string, string>>): ServerEvent | undefined {
  if (data === undefined) return undefined
  try {
    const value: unknown = JSON.parse(data)
    if (!isJsonObject(value)) return undefined
    const number = id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : undefined
    return { type: event, data: value, ...(number !== undefined && { id: number }) }
  } catch {
    return undefined
  }
}
