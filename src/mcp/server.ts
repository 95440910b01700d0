/** One server of the SDK for one connection, over the host that all connections share. */
import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { Host, Opened } from './host.ts'
import { INSTRUCTIONS, LOG, toText } from './messages.ts'
import { registerOverview } from './skills/overview.ts'
import { getPrompt, listPrompts } from './skills/prompts.ts'
import { createSkillSource } from './skills/skill-source.ts'
import { callTool, listTools } from './tools.ts'

/** How long a client has to name its roots. */
const ROOTS_TIMEOUT_MS = 5_000

/** A server that is not connected yet. It opens the runtime when a request first needs it, not before. */
export function createServer(host: Host): McpServer {
  const mcp = new McpServer(
    { name: 'nexus', title: 'Nexus', version: host.version },
    { instructions: INSTRUCTIONS, capabilities: {} },
  )
  const { server } = mcp
  server.registerCapabilities({ tools: { listChanged: true }, prompts: { listChanged: true } })
  const opened = (): Promise<Opened> => host.opened(() => rootsOf(mcp))
  const ready = (): Promise<Opened> => orProtocolError(opened())

  server.setRequestHandler('tools/list', async () => listTools(await ready()))
  server.setRequestHandler('prompts/list', async () => listPrompts(await ready()))
  server.setRequestHandler('prompts/get', async ({ params }, context) => getPrompt(await ready(), params, context))
  registerOverview(mcp, ready)
  const source = createSkillSource({ opened: ready, log: host.log })
  const onWarning = ({ path, message }: { path: string; message: string }): void =>
    host.log(LOG.notServed(path, [message]))
  new SkillsExtension({ source, onWarning }).attach(mcp)
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const found = await opened().catch((error: unknown) => ({ failure: toText(error) }))
    // The model and the person read a result; an error of the protocol is often shown to neither.
    if ('failure' in found) return { content: [{ type: 'text', text: found.failure }], isError: true }
    return callTool(found, params, context)
  })
  server.onclose = host.onSkillsChanged(() => announce(mcp, host.log))
  return mcp
}

/** What lists skills has changed: the description of a tool, the prompts and the resources. */
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
