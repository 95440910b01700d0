/** egress: the socket of one command, and what is spoken through it. */
import { closeSync, openSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { basename, dirname } from 'node:path'
import { Door, type DoorOptions, type EgressReport } from './door.ts'
import { createHttpFront } from './http.ts'
import type { EgressPolicy } from './policy.ts'
import { acceptSocks } from './socks.ts'

/** The proxy of one command. */
export interface Egress {
  /** Ends every connection and removes the socket. Safe to call twice. */
  close(): Promise<EgressReport>
}

const SOCKS_VERSION = 5

/** Listens at `path`, a new unix socket for whoever may open it, until it is closed. Rejects where that cannot be made. */
export async function serveEgress(path: string, policy: EgressPolicy, options: DoorOptions = {}): Promise<Egress> {
  const door = new Door(policy, options)
  const { masked } = options
  if (masked) door.terminator = (await import('./terminate.ts')).createTerminator(door, masked)
  const http = createHttpFront(door)
  const clients = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client)
    client.once('close', () => clients.delete(client))
    client.on('error', () => client.destroy())
    client.once('data', (first: Buffer) => {
      client.pause()
      client.unshift(first)
      if (first[0] !== SOCKS_VERSION) return http.accept(client)
      acceptSocks(client, door, http.acceptFor)
    })
  })
  // The path of a socket has at most 107 bytes; by its directory it is short however deep that is.
  const directory = openSync(dirname(path), 'r')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(`/proc/self/fd/${directory}/${basename(path)}`, resolve)
  try {
    await promise
  } catch (error) {
    closeSync(directory)
    throw error
  }
  let report: Promise<EgressReport> | undefined
  const end = async (): Promise<EgressReport> => {
    const closed = new Promise((done) => server.close(done))
    const reached = door.close()
    http.close()
    for (const client of clients) client.destroy()
    await closed
    closeSync(directory)
    return reached
  }
  return { close: () => (report ??= end()) }
}
