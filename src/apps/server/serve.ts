/** The life of a server: listen, open, take over what ended processes left, serve, reload, end. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/index.ts'
import { isNexusError, type JsonObject } from '../../kernel/index.ts'
import type { AgentRecord } from '../../store/index.ts'
import { createClient, detectServer } from '../client/index.ts'
import {
  createKeyCheck,
  createSiteCheck,
  isLoopback,
  listen,
  openKeyFile,
  setCertificate,
  setLimits,
} from '../http/index.ts'
import { createTable, type ServerControls } from '../rpc/index.ts'
import { refuse, sendText } from './answer.ts'
import { createApp } from './app.ts'
import { createEventStreams } from './event-stream.ts'
import { type Generation, openGenerations } from './generations.ts'
import { createLoad } from './load.ts'
import type { ServerLog } from './log.ts'
import { SERVER } from './messages.ts'
import { announce } from './presence.ts'
import { REFUSALS } from './refusals.ts'
import { openTelemetry } from './telemetry/telemetry.ts'
import { createCallers, createTokens } from './tokens.ts'

/** The server that agents of a pool are told of. */
export interface Serving {
  readonly port: number
  readonly keyOf: (agent: AgentRecord) => string
  readonly shutdown: () => void
}

export interface ServeOptions {
  readonly version: string
  /** Those of the start; limits, hosts and origins are read again from each generation. */
  readonly settings: Config['server']
  readonly telemetry: Config['telemetry']
  /** The file of the key for a port. */
  readonly keyFile: (port: number) => string
  /** Opens what is served; at each reload again. */
  readonly open: (serving: Serving) => Promise<Generation>
  readonly log: ServerLog
  /** Ends the server. */
  readonly signal: AbortSignal
  /** Calls back for each wish to reload; returns what ends that. */
  readonly onReload?: (reload: () => void) => () => void
  readonly onReady: (ready: { readonly url: string; readonly port: number; readonly keyFile: string }) => void
}

/** Sockets besides those of requests, messages and streams that are counted. */
const SPARE_CONNECTIONS = 256
const IDLE_CHECK_MS = 1_000
/** A token of an agent for its own tools. */
const OWN_TOKEN_MS = 24 * 60 * 60 * 1_000

/** Serves until it is ended. Throws CONFLICT for a port that is taken, CONFIG_INVALID for settings that cannot be used, and what `open` throws. */
export async function serve(options: ServeOptions): Promise<void> {
  const { settings, log, version } = options
  const { server, port } = await listenFor(settings)
  const ended = new AbortController()
  const signal = AbortSignal.any([options.signal, ended.signal])
  let state: 'starting' | 'ready' | 'closing' = 'starting'
  await using parts = new AsyncDisposableStack()
  let listener = whileStarting
  // Before the first connection: one that nobody answers would wait for ever.
  server.on('request', (request, response) => listener(request, response))
  parts.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const file = options.keyFile(port)
  const key = await openKeyFile(file)
  const table = createTable(version)
  const tokens = createTokens(key)
  const working = new Set<Promise<unknown>>()
  const background = (work: Promise<unknown>): void => {
    const settled = work.catch((error: unknown) => log.failed('background', error))
    working.add(settled)
    void settled.then(() => working.delete(settled))
  }
  const controls: ServerControls = {
    shutDown: new Set(),
    issueToken: tokens.issue,
    shutdown: () => ended.abort(),
    background,
  }
  const serving: Serving = {
    port,
    keyOf: (agent) => tokens.issue(agent, { scopes: table.usualScopes, expiresMs: OWN_TOKEN_MS }).token,
    shutdown: controls.shutdown,
  }
  const telemetry = await openTelemetry(options.telemetry, version)
  parts.defer(() => telemetry.close().catch((error: unknown) => log.failed('telemetry', error)))
  let stopTraces = (): void => undefined
  const streams = createEventStreams((error) => log.failed('events', error))
  parts.defer(() => streams.close())
  const url = addressOf(settings, port)
  const generations = await openGenerations(
    () => options.open(serving),
    async ({ served }) => {
      await streams.follow(served)
      stopTraces()
      stopTraces = telemetry.follow(served)
      if (!(await announce(served.runtime, url)))
        log.warn('Too many servers serve this workspace: commands do not find this one.')
    },
  )
  parts.defer(() => generations.close(0))
  const current = (): Config['server'] => generations.current().served.config.server
  const load = createLoad(() => {
    const { maxConnections: requests, maxWaiting: waiting, maxStreams } = current()
    return { requests, waiting, streams: maxStreams }
  })
  const site = (): ReturnType<typeof createSiteCheck> =>
    createSiteCheck({ port, hosts: current().allowedHosts, origins: current().allowedOrigins })
  let checkSite = site()
  listener = createApp({
    table,
    server: controls,
    load,
    streams,
    log,
    telemetry,
    served: () => generations.current().served,
    callers: createCallers({ tokens, checkKey: createKeyCheck(key, (count) => log.warn('wrong keys', { count })) }),
    checkSite: (headers) => checkSite(headers),
    mcp: { handle: (request, response) => generations.current().mcp?.handle(request, response) },
    state: () => state,
  })
  const { config: started } = generations.current().served
  const reloadAll = async (): Promise<void> => {
    log.info('reload')
    await generations.reload()
    checkSite = site()
    const { config } = generations.current().served
    await reapply(server, config.server)
    const restart = needRestart(started, config)
    if (restart.length > 0) log.warn('These settings changed, and apply after a restart.', { settings: restart })
    log.info('reloaded')
  }
  const reload = (): void => void reloadAll().catch((error: unknown) => log.failed('reload', error))
  const stopReload = options.onReload?.(reload)
  const { pool } = generations.current().served
  const restored = await pool.restore()
  for (const { id, error } of restored.failed) log.warn('agent may do nothing', { agent: id, code: error.code })
  for (const { id } of restored.agents) background(takeOver(() => generations.current(), id, log))
  state = 'ready'
  log.info('ready', { url, agents: restored.agents.length })
  options.onReady({ url, port, keyFile: file })
  await untilEnd(signal, () => {
    const since = load.idleSince()
    const { idleTimeoutMs } = current()
    return idleTimeoutMs > 0 && since !== undefined && working.size === 0 && Date.now() - since >= idleTimeoutMs
  })
  state = 'closing'
  log.info('closing', { requests: load.count('requests'), waiting: load.count('waiting') } satisfies JsonObject)
  stopReload?.()
  server.close()
  await streams.close()
  await generations.close(current().shutdownTimeoutMs)
  // Answers that were made by then reach their clients. Senders of turns that are left get none.
  const late = AbortSignal.timeout(ANSWERS_MS)
  while (!late.aborted && (working.size > 0 || load.count('requests') + load.count('waiting') > 0)) await sleep(10)
  log.info('closed')
}

const ANSWERS_MS = 1_000

function whileStarting({ url }: IncomingMessage, response: ServerResponse): void {
  if (url === '/healthz') sendText(response, 200, '{"status":"ok"}')
  else refuse(response, REFUSALS.starting)
}

/** Runs what ended processes left of an agent. One of them may have ended meanwhile. */
async function takeOver(current: () => Generation, id: string, log: ServerLog): Promise<void> {
  try {
    const results = await current().served.pool.resume(id)
    if (results.length > 0) log.info('took over', { agent: id, turns: results.length })
  } catch (error) {
    if (!isNexusError(error) || error.code !== 'AGENT_NOT_FOUND') throw error
  }
}

async function listenFor(settings: Config['server']): Promise<{ readonly server: Server; readonly port: number }> {
  const { host, port, tls, allowPlainHttp } = settings
  if (!isLoopback(host) && !tls && !allowPlainHttp) throw SERVER.open(host)
  const pems = tls && (await readPems(tls))
  try {
    return await listen({ port, host, ...limitsOf(settings), tls: pems, portFix: '' })
  } catch (error) {
    if (!isNexusError(error) || error.code !== 'CONFLICT') throw error
    throw SERVER.taken(port, await detectServer({ port, retries: 0 }))
  }
}

function limitsOf({ maxConnections, maxWaiting, maxStreams, requestTimeoutMs }: Config['server']) {
  return { requestTimeoutMs, maxConnections: maxConnections + maxWaiting + maxStreams + SPARE_CONNECTIONS }
}

async function readPems({ cert, key }: NonNullable<Config['server']['tls']>) {
  try {
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
  } catch (error) {
    throw SERVER.noCertificate(error)
  }
}

/** Limits and a renewed certificate, for connections that come from now on. */
async function reapply(server: Server, settings: Config['server']): Promise<void> {
  setLimits(server, limitsOf(settings))
  if (settings.tls) setCertificate(server, await readPems(settings.tls))
}

/** Names of settings that only a start reads. */
function needRestart(
  before: Pick<Config, 'server' | 'telemetry'>,
  now: Pick<Config, 'server' | 'telemetry'>,
): readonly string[] {
  const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
  return [
    ...(['port', 'host'] as const).filter((name) => before.server[name] !== now.server[name]).map((n) => `server.${n}`),
    ...((before.server.tls === undefined) === (now.server.tls === undefined) ? [] : ['server.tls']),
    ...(isSame(before.telemetry, now.telemetry) ? [] : ['telemetry']),
  ]
}

function addressOf({ host, tls }: Config['server'], port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return createClient({ url: `${tls ? 'https' : 'http'}://${shown.includes(':') ? `[${shown}]` : shown}:${port}` }).url
}

/** Resolves when the signal aborts, or the server has been idle for long enough. */
async function untilEnd(signal: AbortSignal, isIdle: () => boolean): Promise<void> {
  while (!signal.aborted && !isIdle()) await sleep(IDLE_CHECK_MS, undefined, { signal }).catch(() => undefined)
}
