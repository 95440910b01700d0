/** mcp: the tools and skills of one agent for clients of the Model Context Protocol. */
export { type HttpOptions, serveHttp } from './http/serve-http.ts'
export { serveStdio, type StdioOptions } from './serve-stdio.ts'
export { type McpOptions } from './host.ts'
