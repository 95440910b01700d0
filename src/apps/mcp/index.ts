/** mcp: the tools and skills of one agent for clients of the Model Context Protocol. */
import type { Mounted } from './http/mount.ts'
import type { HttpOptions } from './http/serve-http.ts'
import type { McpOptions } from './host.ts'

export { serveStdio } from './serve-stdio.ts'
export { type McpOptions } from './host.ts'
export type { Mounted }

/** `serveHttp` of http/serve-http.ts, loaded when it is called: clients that use stdio need none of it. */
export async function serveHttp(options: HttpOptions): Promise<void> {
  const http = await import('./http/serve-http.ts')
  await http.serveHttp(options)
}

/** `mountMcp` of http/mount.ts, for a server of its own. */
export async function mountMcp(options: McpOptions): Promise<Mounted> {
  return (await import('./http/mount.ts')).mountMcp(options)
}
