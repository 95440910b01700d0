/** server: `nexus serve`: JSON-RPC over HTTP, events, MCP and capability tokens over a pool of agents. */
import type { ServeOptions } from './serve.ts'

export type { Closing, Generation } from './generations.ts'
export { announcedServers } from './presence.ts'
export type { ServeOptions, Serving } from './serve.ts'

/** `serve` of serve.ts, loaded when it is called. */
export async function serve(options: ServeOptions): Promise<void> {
  await (await import('./serve.ts')).serve(options)
}

/** `createLog` of log.ts, loaded when it is called. */
export async function createLog(options: Parameters<typeof import('./log.ts').createLog>[0]) {
  return (await import('./log.ts')).createLog(options)
}
