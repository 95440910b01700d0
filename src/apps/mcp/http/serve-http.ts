/** MCP over Streamable HTTP on loopback, for clients that connect to a running server. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createKeyCheck, createSiteCheck, type KeyFinding, listen, openKeyFile, SITE_TEXTS } from '../../http/index.ts'
import type { McpOptions } from '../host.ts'
import { LOG } from '../messages.ts'
import { mountMcp } from './mount.ts'

export interface HttpOptions extends McpOptions {
  /** 0: any free one. */
  readonly port: number
  /** The file of the key for a port; absent: everybody on this machine may call. */
  readonly keyFile?: ((port: number) => string) | undefined
  /** Ends the service. */
  readonly signal: AbortSignal
  /** Told when it can be reached. */
  readonly onReady: (ready: { readonly url: string; readonly keyFile: string | undefined }) => void
}

interface Refusal {
  readonly status: 401 | 403 | 404 | 415 | 429
  readonly message: string
}

const LOOPBACK = '127.0.0.1'
const PATH = '/mcp'
const MAX_CONNECTIONS = 256
const PORT_FIX = 'Choose another port: nexus mcp --http --port 8767'

/** Serves until `signal` aborts, then ends what runs. Throws CONFLICT for a port that is taken, CONFIG_INVALID for a key file that others can read. */
export async function serveHttp({ port: wanted, keyFile, signal, onReady, ...options }: HttpOptions): Promise<void> {
  const { server, port } = await listen({ port: wanted, maxConnections: MAX_CONNECTIONS, portFix: PORT_FIX })
  const mcp = mountMcp(options)
  try {
    const file = keyFile?.(port)
    const key = file === undefined ? undefined : await openKeyFile(file)
    const site = createSiteCheck({ port })
    const keyCheck = key === undefined ? undefined : createKeyCheck(key, (count) => options.log(LOG.wrongKey(count)))
    const refusalOf = (request: IncomingMessage): Refusal | undefined => {
      const headers = request.headersDistinct
      const foreign = site(headers)
      if (foreign) return { status: 403, message: SITE_TEXTS[foreign] }
      const bad = keyCheck?.(headers['authorization'] ?? [])
      if (bad) return BAD_KEY[bad]
      if (request.url !== PATH) return { status: 404, message: `There is only ${PATH}` }
      const type = headers['content-type']?.join().split(';')[0]?.trim().toLowerCase()
      const isWrong = request.method === 'POST' && type !== 'application/json'
      return isWrong ? { status: 415, message: 'Send application/json' } : undefined
    }
    server.on('request', (request, response) => {
      const refusal = refusalOf(request)
      if (refusal) refuse(response, refusal)
      else mcp.handle(request, response)
    })
    onReady({ url: `http://${LOOPBACK}:${port}${PATH}`, keyFile: file })
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    server.close()
    await mcp.close()
    server.closeAllConnections()
  }
}

const NO_KEY = { status: 401, message: 'A key is needed: Authorization: Bearer <key>' } as const
const BAD_KEY: Readonly<Record<KeyFinding, Refusal>> = {
  missing: NO_KEY,
  wrong: NO_KEY,
  'too-many': { status: 429, message: 'Too many wrong keys' },
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })
  // Its body is not read.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}
