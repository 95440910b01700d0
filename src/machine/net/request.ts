/** request: one request with its redirects; every hop is checked from the start. */
import { type IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http'
import { isNexusError } from '../../kernel/index.ts'
import { ACCEPTED_ENCODINGS, decoderOf, readBody } from './body.ts'
import { abortError, beforeAbort, type Run, startDeadline, within } from './deadline.ts'
import { openConnection } from './dial.ts'
import { exchange, type Outgoing } from './exchange.ts'
import { MESSAGES, netError } from './messages.ts'
import { resolveTarget } from './resolve.ts'
import { readOrigin, readTarget, type Target } from './target.ts'
import type { NetLimits, NetOptions, NetRequest, NetResponse } from './types.ts'

const LIMITS: NetLimits = {
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
      throw netError(MESSAGES.redirects({ origin: run.origin, most: limits.maxRedirects }))
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
    return await within(run, 'headersMs', () => exchange(socket, target, outgoing, run))
  } catch (error) {
    socket.destroy()
    throw error
  }
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
  if (target.isTls && !next.isTls) throw netError(MESSAGES.downgrade({ origin }))
  const becomesGet = status === 303 ? outgoing.method !== 'HEAD' : status < 303 && outgoing.method === 'POST'
  const kept = becomesGet ? withoutBody(outgoing) : outgoing
  if (next.origin === origin) return { target: next, outgoing: kept }
  if (kept.body) throw netError(MESSAGES.redirectedBody({ origin }))
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
  if (error.code === 'INVALID_ARGUMENT') return netError(MESSAGES.badRedirect({ origin }), error)
  if (error.code !== 'ADDRESS_REFUSED' && error.code !== 'NETWORK_FAILED') return error
  return netError(
    MESSAGES.redirected({ origin, code: error.code, message: error.message, fix: error.fix ?? '' }),
    error,
  )
}

function withoutBody({ headers }: Outgoing): Outgoing {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'))
  return { method: 'GET', headers: Object.fromEntries(kept), body: undefined }
}

function readOutgoing({ method, headers = {}, body }: NetRequest): Outgoing {
  if (method !== undefined && !METHODS.includes(method)) throw netError(MESSAGES.badMethod())
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
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch (error) {
    throw netError(MESSAGES.badHeader({ name }), error)
  }
  if (OURS.test(name.toLowerCase())) throw netError(MESSAGES.badHeader({ name }))
  return name.toLowerCase()
}
