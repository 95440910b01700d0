// The smallest server of the official SDK: what `nexus mcp` is compared with. bench/mcp.mjs bundles it as our command is bundled.
import { enableCompileCache } from 'node:module'
import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

if (process.argv[2]) enableCompileCache(process.argv[2])
serveStdio(() => {
  const server = new McpServer({ name: 'bare', version: '1' })
  const inputSchema = fromJsonSchema({ type: 'object', properties: { text: { type: 'string' } } })
  server.registerTool('bench_echo', { description: 'Echoes.', inputSchema }, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
  return server
})
