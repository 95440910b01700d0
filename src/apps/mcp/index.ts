/** mcp: the tools and skills of one agent for clients of the Model Context Protocol. */
import type { HttpOptions } from './http/serve-http.ts'

export { serveStdio } from './serve-stdio.ts'
export { type McpOptions } from './host.ts'

/** `serveHttp` of http/serve-http.ts, loaded when it is called: clients that use stdio need none of it. */
export async function serveHttp(options: HttpOptions): Promise<void> {
  const http = await import('./http/serve-http.ts')
  await http.serveHttp(options)
}
