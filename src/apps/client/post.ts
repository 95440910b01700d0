/** One request of JSON-RPC over fetch, and its answer, which is not trusted. */
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, errorMessage, isJsonObject, type JsonObject } from '../../kernel/index.ts'
import { ClientError } from './client-error.ts'

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
  readonly params: object
  readonly signal?: AbortSignal | undefined
  /** Absent: none. */
  readonly timeoutMs?: number | undefined
  readonly retries: number
  readonly isRepeatable: boolean
}

const MAX_ANSWER_BYTES = 32 * 1024 * 1024
const FIRST_PAUSE_MS = 100
/** The server did not see such a request. */
const NOT_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** The result of the method. Throws ClientError. */
export async function post(url: string, options: PostOptions): Promise<unknown> {
  const { retries, isRepeatable, signal } = options
  for (let attempt = 0; ; attempt++) {
    try {
      return await once(url, options)
    } catch (error) {
      if (!mayRepeat(error, isRepeatable) || attempt >= retries || signal?.aborted) throw error
      await pause(attempt, signal)
    }
  }
}

/** A server that is starting, ending or full did not take the request. */
function mayRepeat(error: unknown, isRepeatable: boolean): boolean {
  if (!(error instanceof ClientError)) return false
  if (error.kind === 'http') return error.status === 503
  return error.kind === 'connection' && (isRepeatable || NOT_SENT.has(errorCode(rootOf(error)) ?? ''))
}

/** 100 ms, 200 ms … Ends with the signal, without an error. */
export async function pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(FIRST_PAUSE_MS * 2 ** Math.min(attempt, 5), undefined, { signal }).catch(() => undefined)
}

async function once(url: string, { headers, method, params, signal, timeoutMs }: PostOptions): Promise<unknown> {
  const id = crypto.randomUUID()
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const signals = [signal, timeout].filter((each) => each !== undefined)
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      redirect: 'error',
      signal: signals.length > 0 ? AbortSignal.any(signals) : null,
    })
    text = await readText(response)
  } catch (error) {
    if (error instanceof ClientError) throw error
    if (timeout?.aborted)
      throw new ClientError('timeout', `${method} took more than ${timeoutMs} ms.`, { cause: error })
    throw new ClientError('connection', `${new URL(url).host} gave no answer to ${method}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
  return resultOf(response, text, id)
}

function resultOf({ status, ok }: Response, text: string, id: string): unknown {
  const answer = parsed(text)
  if (!isJsonObject(answer)) throw ok ? noAnswer(status) : new ClientError('http', `HTTP status ${status}`, { status })
  if (isJsonObject(answer['error'])) throw failureOf(answer, answer['error'], { status, id })
  if (!ok) {
    const { error } = answer
    throw new ClientError('http', typeof error === 'string' ? error : `HTTP status ${status}`, { status })
  }
  if (answer['jsonrpc'] !== '2.0' || answer['id'] !== id || !Object.hasOwn(answer, 'result')) throw noAnswer(status)
  return answer['result']
}

/** One without an id is about a request that the server could not read. */
function failureOf(
  answer: JsonObject,
  { code, message, data }: JsonObject,
  { status, id }: { readonly status: number; readonly id: string },
): ClientError {
  if (answer['id'] !== id && answer['id'] !== null) return noAnswer(status)
  const words = typeof message === 'string' ? message : 'The method failed.'
  return new ClientError('rpc', words, { status, data, code: typeof code === 'number' ? code : undefined })
}

function noAnswer(status: number): ClientError {
  return new ClientError('protocol', 'The server did not answer this request with JSON-RPC.', { status })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_ANSWER_BYTES)
      throw new ClientError('protocol', `The answer is larger than ${MAX_ANSWER_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function rootOf(error: unknown): unknown {
  let root = error
  while (root instanceof Error && root.cause !== undefined) root = root.cause
  return root
}

/** fetch says only that it failed; its cause says why. */
export function reasonOf(error: unknown): string {
  const root = rootOf(error)
  return errorCode(root) ?? errorMessage(root)
}

const READY_MS = 2_000

/** A server that starts or ends answers that it does, and takes no requests. */
export async function isReady(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(READY_MS)
  const answer = await fetch(`${url}/readyz`, { redirect: 'error', signal }).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.ok === true
}
