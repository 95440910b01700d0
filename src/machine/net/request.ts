/** request: one request with its redirects; every hop is checked from the start. */
import { type IncomingMessage, request as httpRequest, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorCode, errorMessage, isNexusError, toSafeLine } from '../../kernel/index.ts'
import { ACCEPTED_ENCODINGS, decoderOf, readBody } from './body.ts'
import { abortError, beforeAbort, type Run, startDeadline, within } from './deadline.ts'
import { openConnection } from './dial.ts'
import { broken, coded, exceeded, invalid, network, refused } from './errors.ts'
import { reasonOf, resolveTarget } from './resolve.ts'
import { readOrigin, readTarget, type Target } from './target.ts'
import type { NetLimits, NetOptions, NetRequest, NetResponse } from './types.ts'

export const LIMITS: NetLimits = {
  connectMs: 10_000,
  headersMs: 20_000,
  idleMs: 20_000,
  totalMs: 60_000,
  maxBytes: 10 * 1024 * 1024,
  maxHeaderBytes: 32 * 1024,
  maxRedirects: 5,
}
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const REDIRECTS = [301, 302, 303, 307, 308]
/** Headers that say nothing about the caller; another origin gets no others. */
const HARMLESS = ['accept', 'accept-language', 'range', 'user-agent']
/** They decide where the message goes and where it ends. */
const OURS =
  /^(?:host|accept-encoding|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/

export async function requestPinned(request: NetRequest, options: NetOptions): Promise<NetResponse> {
  for (const origin of options.origins ?? []) readOrigin(origin)
  const rules = { ...options, domains: request.domains }
  const target = readTarget(request.url, rules)
  const outgoing = readOutgoing(request)
  const { signal = new AbortController().signal } = request
  const limits = { ...LIMITS, ...options.limits }
  const total = startDeadline({ origin: target.origin, limits, signal }, 'totalMs')
  try {
    return await follow({ target, outgoing }, { rules, total, limits })
  } catch (error) {
    total.clear()
    throw total.signal.aborted ? abortError(total.signal, target.origin) : error
  }
}

interface Outgoing {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

interface Hop {
  readonly target: Target
  readonly outgoing: Outgoing
}

interface Following {
  readonly rules: NetOptions & Pick<NetRequest, 'domains'>
  readonly total: ReturnType<typeof startDeadline>
  readonly limits: NetLimits
}

async function follow(first: Hop, { rules, total, limits }: Following): Promise<NetResponse> {
  let hop = first
  let from: string | undefined
  for (let redirects = 0; ; redirects += 1) {
    const run = { origin: hop.target.origin, limits, signal: total.signal }
    const response = await send(hop, rules, run).catch((error: unknown) => {
      throw from === undefined ? error : redirected(error, from)
    })
    const location = REDIRECTS.includes(response.statusCode ?? 0) ? response.headers.location : undefined
    if (location === undefined) return answer(hop, response, run, total.clear)
    response.destroy()
    if (redirects >= limits.maxRedirects)
      throw exceeded(
        `The request ended at ${run.origin}: it was redirected more than ${limits.maxRedirects} times.`,
        'Request the final URL yourself.',
      )
    from = run.origin
    hop = nextHop(hop, response.statusCode ?? 0, location, rules)
  }
}

/** Resolve, check, connect to what was checked, send. */
async function send({ target, outgoing }: Hop, options: NetOptions, run: Run): Promise<IncomingMessage> {
  const socket = await within(run, 'connectMs', async (bounded) => {
    const addresses = await beforeAbort(resolveTarget(target, options), bounded)
    return await openConnection(target, addresses, { ...bounded, options })
  })
  try {
    return await within(run, 'headersMs', () => exchange(socket, target, outgoing, run.limits))
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** The response with its body unread. Its errors are kept for who reads it. */
async function exchange(
  socket: Duplex,
  { url, origin }: Target,
  { method, headers, body }: Outgoing,
  { maxHeaderBytes }: NetLimits,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const host = origin.slice(origin.indexOf('//') + 2)
  const request = httpRequest({
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host, ...(body && { 'content-length': String(body.length) }) },
    maxHeaderSize: maxHeaderBytes,
    createConnection: () => socket,
  })
  request.on('error', reject)
  request.once('close', () => reject(new Error('the connection was closed before a response')))
  request.once('response', (response) => {
    response.on('error', () => {})
    resolve(response)
  })
  request.end(body)
  return await promise.catch((error: unknown) => {
    const code = errorCode(error)
    if (code === 'HPE_HEADER_OVERFLOW')
      throw exceeded(
        `The response of ${origin} was refused: its headers have more than ${maxHeaderBytes} bytes.`,
        'Use another URL of the server.',
        error,
      )
    throw broken(origin, code === undefined ? errorMessage(error) : reasonOf(error), error)
  })
}

function answer(hop: Hop, response: IncomingMessage, run: Run, clear: () => void): NetResponse {
  const close = (): void => {
    clear()
    response.destroy()
  }
  try {
    const decoder = decoderOf(response, hop.outgoing.method, run.origin)
    return {
      status: response.statusCode ?? 0,
      url: hop.target.url.href,
      headers: headersOf(response),
      body: readBody(response, decoder, run, clear),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    name === 'set-cookie' || value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  return Object.assign(Object.create(null), Object.fromEntries(entries)) as Readonly<Record<string, string>>
}

function nextHop({ target, outgoing }: Hop, status: number, location: string, rules: Following['rules']): Hop {
  const { origin } = target
  // Node gives the bytes of a header as Latin-1; servers send UTF-8.
  const text = Buffer.from(location, 'latin1').toString()
  const next = readNext(text, target, rules)
  if (target.isTls && !next.isTls)
    throw refused(
      `Nexus did not follow a redirect of ${origin}: it leads from https to http.`,
      'Use an https URL of the target.',
    )
  const becomesGet = status === 303 ? outgoing.method !== 'HEAD' : status < 303 && outgoing.method === 'POST'
  const kept = becomesGet ? withoutBody(outgoing) : outgoing
  if (next.origin === origin) return { target: next, outgoing: kept }
  if (kept.body)
    throw refused(
      `Nexus did not follow a redirect of ${origin}: it would send the request body to another origin.`,
      'Send the request to the final URL yourself.',
    )
  const harmless = Object.entries(kept.headers).filter(
    ([name]) => HARMLESS.includes(name) || name === 'accept-encoding',
  )
  return { target: next, outgoing: { ...kept, headers: Object.fromEntries(harmless) } }
}

function readNext(text: string, target: Target, rules: Following['rules']): Target {
  try {
    return readTarget(text, rules, target.url)
  } catch (error) {
    throw redirected(error, target.origin)
  }
}

/** The error about the target of a redirect, as it concerns who requested something else. */
function redirected(error: unknown, origin: string): unknown {
  if (!isNexusError(error)) return error
  if (error.code === 'INVALID_ARGUMENT')
    return network(`${origin} redirects to a URL that cannot be used.`, 'Request the final URL yourself.', error)
  if (error.code !== 'ADDRESS_REFUSED' && error.code !== 'NETWORK_FAILED') return error
  return coded(error.code)(`${error.message} ${origin} redirected to it.`, error.fix ?? '', error)
}

function withoutBody({ headers }: Outgoing): Outgoing {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'))
  return { method: 'GET', headers: Object.fromEntries(kept), body: undefined }
}

function readOutgoing({ method, headers = {}, body }: NetRequest): Outgoing {
  if (method !== undefined && !METHODS.includes(method))
    throw invalid('The request was not sent: its method is unsupported.', 'Use GET, HEAD, POST, PUT, PATCH or DELETE.')
  const given = Object.entries(headers).map(([name, value]) => [readHeader(name, value), value])
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      accept: '*/*',
      'user-agent': 'nexus-skills',
      ...(Object.fromEntries(given) as Record<string, string>),
      'accept-encoding': ACCEPTED_ENCODINGS,
    },
    body: typeof body === 'string' ? Buffer.from(body) : body,
  }
}

function readHeader(name: string, value: string): string {
  let cause: unknown
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    if (!OURS.test(name.toLowerCase())) return name.toLowerCase()
  } catch (error) {
    cause = error
  }
  throw invalid(
    `The request was not sent: the header ${JSON.stringify(toSafeLine(name))} or its value cannot be used.`,
    'Remove the header. Nexus sets Host, Accept-Encoding, lengths and connection headers itself.',
    cause,
  )
}
