/** The server of a command: the one that the store names, or the one at a port; and the commands about it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Client,
  createClient,
  type Detected,
  detectServer,
  discoverKey,
  waitForServer,
} from '../../client/index.ts'
import { openConfiguredStore } from '../../../local/index.ts'
import { commandFix, toSafeText } from '../../../kernel/index.ts'
import { startService } from '../../../machine/host/index.ts'
import { announcedServers } from '../../server/index.ts'
import { type Answer, type Invocation, numberFlag, stringFlag } from '../command.ts'
import { errorOf } from '../failure.ts'
import { loadHere } from '../open.ts'

/** A client for the server at a port or an address, with the key that this user has for it. */
export async function clientAt(
  where: { readonly port: number; readonly url?: string },
  { environment }: Pick<Invocation, 'environment'>,
): Promise<Client> {
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
  const configPath = stringFlag(invocation, 'config')
  const { store, scope, close } = await openConfiguredStore({ cwd, environment, configPath })
  let urls: readonly string[]
  try {
    urls = await announcedServers(store, scope)
  } finally {
    await close()
  }
  for (const url of urls) {
    if ((await detectServer({ url, retries: 0 })) === 'nexus_server')
      return clientAt({ url, port: portOf(url) }, invocation)
  }
  return undefined
}

export function portOf(url: string): number {
  const { port, protocol } = new URL(url)
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/**
 * The server whose agents a command is about: the one at `--port`, else the one that the store names; undefined where the command
 * works on the store. It is said in one line. Throws FILE_NOT_FOUND and CONFLICT for a port without a server of Nexus.
 */
export async function serverOf(
  invocation: Invocation,
  { starts = false }: { readonly starts?: boolean } = {},
): Promise<Client | undefined> {
  const port = portFlag(invocation)
  const client = port === undefined ? await runningServer(invocation) : await serverAt(port, invocation, starts)
  const { terminal } = invocation
  if (client) terminal.note(terminal.paintNote('dim', `The server at ${client.url} runs the agents.`))
  return client
}

async function serverAt(port: number, invocation: Invocation, starts: boolean): Promise<Client> {
  const found = await detectServer({ port, retries: 0 })
  if (found === 'nexus_server') return clientAt({ port }, invocation)
  if (found !== 'no_server')
    throw errorOf(
      'CONFLICT',
      `Port ${port} has no server of Nexus, but ${WORDS[found]}.`,
      commandFix('Choose another port:', 'serve', '--port', String(port === 65_535 ? 8_765 : port + 1)),
    )
  if (!starts)
    throw errorOf(
      'FILE_NOT_FOUND',
      `No server listens on port ${port}.`,
      commandFix('Start one:', 'serve', '--port', String(port)),
    )
  await startServer(port, invocation)
  return clientAt({ port }, invocation)
}

/** Options of a command that a server takes too. */
const PASSED = ['config', 'sandbox', 'model', 'base-url'] as const

/** Starts `nexus serve`, which goes on after this command. */
async function startServer(port: number, invocation: Invocation): Promise<void> {
  const { environment, cwd, flags, terminal, signal } = invocation
  const log = join(environment.nexusHome, 'logs', `serve-${port}.log`)
  const options = PASSED.flatMap((name) => {
    const value = stringFlag(invocation, name)
    return value === undefined ? [] : [`--${name}`, value]
  })
  const words = ['serve', '--port', String(port), ...options, ...(flags['trust'] === true ? ['--trust'] : [])]
  const { ended } = await startService({ command: [process.execPath, process.argv[1] ?? '', ...words], cwd, log })
  const over = new AbortController()
  void ended.then(() => over.abort())
  if (!(await waitForServer({ port, signal: AbortSignal.any([signal, over.signal]) }))) {
    const said = await readFile(log, 'utf8').catch(() => '')
    throw errorOf(
      'FILE_NOT_FOUND',
      `The server on port ${port} did not start:\n${toSafeText(said.slice(-LAST_CHARS).trim())}`,
      commandFix('Start it in a terminal to see why:', ...words),
    )
  }
  terminal.note(
    `Started a server on port ${port}; its log is ${terminal.shortPath(log)}. To end it: nexus shutdown --port ${port}`,
  )
}

const LAST_CHARS = 2_000

export function portFlag(invocation: Invocation): number | undefined {
  return numberFlag(invocation, 'port', { from: 0, to: 65_535, example: 8_765 })
}

/** `nexus shutdown`. */
export async function shutdownServer(invocation: Invocation): Promise<Answer> {
  const port = portFlag(invocation)
  const client = port === undefined ? await runningServer(invocation) : await clientAt({ port }, invocation)
  if (!client) throw errorOf('FILE_NOT_FOUND', 'No server serves this workspace.', commandFix('Start one:', 'serve'))
  const { toNexusError } = await import('../served-agents.ts')
  const { message } = await client.shutdownServer().catch((error: unknown) => {
    throw toNexusError(error, client)
  })
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
