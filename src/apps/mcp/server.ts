/** One server of the SDK for one connection, over the host that all connections share. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { CallingClient, Opened } from './calls.ts'
import { inTime } from '../../kernel/index.ts'
import type { Host } from './host.ts'
import { instructions, LOG, toText } from './messages.ts'
import { registerOverview } from './skills/overview.ts'
import { getPrompt, listPrompts } from './skills/prompts.ts'
import { createSkillSource } from './skills/skill-source.ts'
import { instructionsFor, listTools } from './tools.ts'

/** How long a client has to name its roots. */
const ROOTS_TIMEOUT_MS = 5_000
/** How long the answer to a new client waits for its skills: clients give a server 10 s and more to start. */
const SKILLS_TIMEOUT_MS = 3_000

/**
 * A server that is not connected yet, with the skills in its instructions. One for a whole `connection` or
 * `session` notifies its client when skills change; other requests over HTTP have each their own. Only the client that started Nexus,
 * the one of the `connection`, names the workspace.
 */
export async function createServer(
  host: Host,
  scope: 'connection' | 'session' | 'request',
  /** False while only the client can name the workspace. */
  knowsWorkspace = true,
): Promise<McpServer> {
  const mcp = new McpServer(
    { name: 'nexus', title: 'Nexus', version: host.version },
    {
      instructions: knowsWorkspace ? await currentInstructions(host) : instructions(),
      capabilities: {},
      requestState: { verify: host.calls.verify },
    },
  )
  const { server } = mcp
  server.registerCapabilities({ tools: { listChanged: true }, prompts: { listChanged: true } })
  const opened = (): Promise<Opened> => host.opened(scope === 'connection' ? () => rootsOf(mcp) : undefined)
  const ready = (): Promise<Opened> => orProtocolError(opened())

  server.setRequestHandler('tools/list', async () => listTools(await ready()))
  server.setRequestHandler('prompts/list', async () => listPrompts(await ready()))
  server.setRequestHandler('prompts/get', async ({ params }, context) => getPrompt(await ready(), params, context))
  registerOverview(mcp, ready)
  const source = createSkillSource(ready, host.log)
  const onWarning = ({ path, message }: { path: string; message: string }): void =>
    host.log(LOG.notServed(path, [message]))
  new SkillsExtension({ source, onWarning }).attach(mcp)
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const found = await opened().catch((error: unknown) => ({ failure: toText(error) }))
    // The model and the person read a result; an error of the protocol is often shown to neither.
    if ('failure' in found) return { content: [{ type: 'text', text: found.failure }], isError: true }
    return host.calls.call(found, params, { context, client: clientOf(mcp, context) })
  })
  if (scope !== 'request') server.onclose = host.onSkillsChanged(() => announce(mcp, host.log))
  return mcp
}

/** Without the skills when they cannot be read, or not in time: the first request that needs them says why. */
async function currentInstructions({ opened }: Host): Promise<string> {
  const found = await inTime(opened(), SKILLS_TIMEOUT_MS).catch(() => undefined)
  return found ? instructionsFor(found) : instructions()
}

/** The protocol of 2026 says it in the envelope of each request, that of 2025 in the handshake. */
function clientOf({ server }: McpServer, { mcpReq: { envelope, _meta } }: ServerContext): CallingClient {
  const meta: Readonly<Record<string, unknown>> = { ...envelope }
  // oxlint-disable-next-line typescript/no-deprecated
  const capabilities =
    (meta[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ?? server.getClientCapabilities()
  // oxlint-disable-next-line typescript/no-deprecated
  const info = (meta[CLIENT_INFO_META_KEY] as Implementation | undefined) ?? server.getClientVersion()
  const { elicitation } = capabilities ?? {}
  return {
    name: info?.name ?? 'without a name',
    // Without a mode, forms are meant.
    canAsk: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    hasPerson: !isHeadless(_meta),
    staysOpen: envelope === undefined,
  }
}

/** `codex exec` says in each call that it began the turn: no person is there, and it declines every form by itself. */
function isHeadless(meta: Readonly<Record<string, unknown>> = {}): boolean {
  const turn = meta['x-codex-turn-metadata']
  return typeof turn === 'object' && turn !== null && 'turn_trigger' in turn && turn.turn_trigger === 'exec'
}

/** Skills are listed in the description of a tool, in the prompts and in the resources. */
function announce(mcp: McpServer, log: Host['log']): void {
  if (!mcp.isConnected()) return
  const { server } = mcp
  const sent = [server.sendToolListChanged(), server.sendPromptListChanged(), server.sendResourceListChanged()]
  for (const each of sent) each.catch((error: unknown) => log(LOG.failed(error)))
}

async function orProtocolError<T>(result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, toText(error))
  }
}

/** The roots of a 2025-era client, as URIs. Later clients have none. */
async function rootsOf({ server }: McpServer): Promise<readonly string[]> {
  // oxlint-disable-next-line typescript/no-deprecated
  if (server.getClientCapabilities()?.roots === undefined) return []
  try {
    // oxlint-disable-next-line typescript/no-deprecated
    const { roots } = await server.listRoots(undefined, { timeout: ROOTS_TIMEOUT_MS })
    return roots.map(({ uri }) => uri)
  } catch {
    // A client that cannot say it in time is served in the working directory.
    return []
  }
}
