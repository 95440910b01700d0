/** A TCP proxy in front of Postgres that cuts connections at a chosen moment of a commit. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * `before`: the commit does not reach the server. `after`: it does, and its answer does not come back. `next`: the next
 * message is cut, whatever it is. `hole`: from the commit on nothing goes through any more, and nothing is closed.
 */
export type Fault = 'before' | 'after' | 'next' | 'hole'

export interface FaultProxy {
  readonly port: number
  /** Meets the next message or commit, once. */
  arm(fault: Fault): void
  /** How many faults happened. */
  readonly faults: number
  /** Refuses new connections and cuts the present ones. */
  refuse(isRefused: boolean): void
  close(): Promise<void>
}

const COMMIT = Buffer.from('commit\0')

export async function startFaultProxy(serverPort: number): Promise<FaultProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let armed: Fault | undefined
  let faults = 0
  let isRefused = false
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    let isHole = false
    const cut = (): void => {
      client.resetAndDestroy()
      upstream.destroy()
    }
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        if (isHole && socket === client) upstream.destroy()
        if (isHole) return
        pairs.delete(pair)
        client.destroy()
        upstream.destroy()
      })
    }
    if (isRefused) return cut()
    client.on('data', (bytes) => {
      if (isHole) return
      if (armed !== undefined && (armed === 'next' || bytes.includes(COMMIT))) {
        const fault = armed
        armed = undefined
        faults += 1
        if (fault === 'hole') isHole = true
        else if (fault !== 'after') cut()
        else {
          // The answer proves that the server has committed; it goes no further.
          upstream.removeAllListeners('data')
          upstream.once('data', cut)
          upstream.write(bytes)
        }
        return
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => !isHole && client.write(bytes))
    return undefined
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const cutAll = (): void => {
    for (const [client, upstream] of pairs) {
      client.destroy()
      upstream.destroy()
    }
  }
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    arm: (fault) => (armed = fault),
    get faults() {
      return faults
    },
    refuse(now) {
      isRefused = now
      if (now) cutAll()
    },
    async close() {
      server.close()
      cutAll()
      await once(server, 'close')
    },
  }
}
