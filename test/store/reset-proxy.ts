/** A TCP proxy in front of Postgres that resets the session after each transaction, as if a pooler gave another one. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface ResetProxy {
  readonly port: number
  /** How often a session was reset. */
  readonly resets: number
  close(): Promise<void>
}

const TEXT = Buffer.from('discard all\0')
/** A query of the simple protocol: its type, its length, its text. */
const RESET = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, TEXT.length + 4]), TEXT])
const READY = 'Z'.charCodeAt(0)
const IDLE = 'I'.charCodeAt(0)

export async function startResetProxy(serverPort: number): Promise<ResetProxy> {
  const sockets = new Set<Socket>()
  let resets = 0
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1')
    let isResetting = false
    let fromServer = Buffer.alloc(0)
    let fromClient: Buffer[] = []
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => {})
      socket.on('close', () => [client, upstream].map((each) => each.destroy()))
    }
    client.on('data', (bytes) => (isResetting ? fromClient.push(bytes) : upstream.write(bytes)))
    upstream.on('data', (bytes) => {
      fromServer = Buffer.concat([fromServer, bytes])
      while (fromServer.length >= 5) {
        const length = 1 + fromServer.readUInt32BE(1)
        if (fromServer.length < length) return
        const message = fromServer.subarray(0, length)
        fromServer = fromServer.subarray(length)
        if (!isResetting) client.write(message)
        if (message[0] !== READY || message[5] !== IDLE) continue
        isResetting = !isResetting
        if (isResetting) {
          resets += 1
          upstream.write(RESET)
        } else {
          for (const waiting of fromClient) upstream.write(waiting)
          fromClient = []
        }
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    get resets() {
      return resets
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
