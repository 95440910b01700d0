/** One server of the SDK for one connection, over the host that all connections share. */
import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Host, Opened } from './host.ts'
import { INSTRUCTIONS, toText } from './messages.ts'
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
  server.registerCapabilities({ tools: { listChanged: true } })
  const opened = (): Promise<Opened> => host.opened(() => rootsOf(mcp))

  server.setRequestHandler('tools/list', async () => listTools(await orProtocolError(opened())))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const ready = await opened().catch((error: unknown) => ({ failure: toText(error) }))
    // The model and the person read a result; an error of the protocol is often shown to neither.
    if ('failure' in ready) return { content: [{ type: 'text', text: ready.failure }], isError: true }
    return callTool(ready, params, context)
  })
  return mcp
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
