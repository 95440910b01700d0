/** The commands about a server that runs. */
import { type Client, createClient, type Detected, detectServer, discoverKey } from '../../client/index.ts'
import { openConfiguredStore } from '../../../local/index.ts'
import { commandFix } from '../../../kernel/index.ts'
import { announcedServers } from '../../server/index.ts'
import type { Answer, Invocation } from '../command.ts'
import { errorOf } from '../failure.ts'
import { loadHere } from '../open.ts'
import { portFlag } from './serve.ts'

/** A client for the server at a port or an address, with the key that this user has for it. */
export async function clientAt(
  where: { readonly port: number; readonly url?: string },
  invocation: Invocation,
): Promise<Client> {
  const { environment } = invocation
  const names = ['NEXUS_API_KEY', 'NEXUS3_API_KEY'] as const
  const given = Object.fromEntries(names.map((name) => [name, environment.get(name)]))
  const key = await discoverKey({
    port: where.port,
    environment: { ...given, HOME: environment.home, NEXUS_HOME: environment.nexusHome },
  })
  return createClient({ ...where, key })
}

/** The server that the store of this workspace names and that answers; undefined when there is none. */
export async function runningServer(invocation: Invocation): Promise<Client | undefined> {
  const { cwd, environment } = invocation
  const { store, scope, close } = await openConfiguredStore({ cwd, environment })
  let urls: readonly string[]
  try {
    urls = await announcedServers(store, scope)
  } finally {
    await close()
  }
  for (const url of urls) {
    const client = await clientAt({ url, port: portOf(url) }, invocation)
    if ((await detectServer({ url, retries: 0 })) === 'nexus_server') return client
  }
  return undefined
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url)
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/** `nexus shutdown`. */
export async function shutdownServer(invocation: Invocation): Promise<Answer> {
  const port = portFlag(invocation)
  const client = port === undefined ? await runningServer(invocation) : await clientAt({ port }, invocation)
  if (!client) throw errorOf('FILE_NOT_FOUND', 'No server serves this workspace.', commandFix('Start one:', 'serve'))
  const { message } = await client.shutdownServer()
  return { data: { url: client.url, message }, show: () => invocation.terminal.line(`${client.url}: ${message}`) }
}

const WORDS: Readonly<Record<Detected, string>> = {
  no_server: 'nothing listens there',
  nexus_server: 'a server of Nexus',
  other_service: 'another program',
  timeout: 'something that gives no answer in time',
  error: 'something that could not be asked',
}

/** `nexus agent detect`. */
export async function detect(invocation: Invocation): Promise<Answer> {
  const port = portFlag(invocation) ?? (await loadHere(invocation)).config.server.port
  const client = await clientAt({ port }, invocation)
  const result = await detectServer({ port, retries: 0 })
  return {
    data: { port, url: client.url, result },
    show: () => invocation.terminal.line(`Port ${port}: ${WORDS[result]} (${result})`),
  }
}
