// The servers that bench/server.mjs compares with: `node` answers JSON-RPC with what it got, on node:http alone; `hono` makes the checks of
// `nexus serve` (Host, key, type, size, depth, envelope, params) on bare Hono, and echoes too.
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { z } from 'zod'

const [kind, key] = process.argv.slice(2)
const result = { message_count: 0, system_prompt: false }
const NONE = z.strictObject({})
const wanted = createHash('sha256').update(key).digest()

async function textOf(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function hono() {
  const app = new Hono()
  app.post('/agent/:id', async ({ env, req, json }) => {
    const status = problem(env.incoming.headersDistinct)
    if (status) return json({}, status)
    const text = await req.text()
    if (text.length > 1_048_576 || depthOf(text) > 64) return json({}, 413)
    const { id, params, jsonrpc, method } = JSON.parse(text)
    if (jsonrpc !== '2.0' || typeof method !== 'string' || !NONE.safeParse(params).success) return json({}, 400)
    return json({ jsonrpc: '2.0', id, result })
  })
  return getRequestListener((request, env) => app.fetch(request, env), { overrideGlobalObjects: false })
}

function problem({ host = [], authorization = [], 'content-type': types = [] }) {
  if (host.length !== 1 || !host[0].startsWith('127.0.0.1:')) return 403
  const token = /^Bearer (.+)$/.exec(authorization.join())?.[1] ?? ''
  if (!timingSafeEqual(createHash('sha256').update(token).digest(), wanted)) return 403
  return types.join() === 'application/json' ? undefined : 415
}

function depthOf(text) {
  let [depth, most] = [0, 0]
  for (const char of text) {
    if (char === '{' || char === '[') most = Math.max(most, (depth += 1))
    if (char === '}' || char === ']') depth -= 1
  }
  return most
}

async function echo(request, response) {
  const { id } = JSON.parse(await textOf(request))
  const text = JSON.stringify({ jsonrpc: '2.0', id, result })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

const listener = kind === 'hono' ? hono() : echo
const server = createServer((request, response) => void listener(request, response))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
