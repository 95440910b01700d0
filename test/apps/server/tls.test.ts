/** The listener with TLS, and what a reload applies to one that listens. The certificates are self-signed, for 127.0.0.1. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { request as plainRequest } from 'node:http'
import { join } from 'node:path'
import test from 'node:test'
import { until } from '../mcp/client.ts'
import { prepare } from './serving.ts'

const CERTIFICATES = join(import.meta.dirname, 'certificates')
const pem = (name: string): string => readFileSync(join(CERTIFICATES, name), 'utf8')

test('a server with TLS answers over TLS only, takes a renewed certificate on SIGHUP, and names what needs a restart', async (t) => {
  const { place, start } = await prepare(t)
  const directory = join(place.home, 'tls')
  mkdirSync(directory, { recursive: true })
  const use = (name: 'one' | 'two'): void => {
    for (const kind of ['crt', 'key']) cpSync(join(CERTIFICATES, `${name}.${kind}`), join(directory, `server.${kind}`))
  }
  const settings = (more = ''): void => {
    const tls = `tls: { cert: ${directory}/server.crt, key: ${directory}/server.key }`
    writeFileSync(join(place.home, 'nexus.yaml'), `server: { ${tls}${more} }\n`)
  }
  use('one')
  settings()
  const { url, port, key, child, log } = await start(['--port', '0'])
  assert.match(url, /^https:/)
  assert.match(key, /^nxk_[\w-]{43}$/)
  const ask = (ca: string): Promise<readonly [number, string]> =>
    new Promise((resolve, reject) => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"list_agents"}'
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      request(`${url}/rpc`, { method: 'POST', ca, agent: false, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve([response.statusCode ?? 0, text]))
      })
        .on('error', reject)
        .end(body)
    })
  assert.deepEqual(await ask(pem('one.crt')), [200, '{"jsonrpc":"2.0","id":1,"result":{"agents":[]}}'])
  await assert.rejects(ask(pem('two.crt')), /self.signed/i)
  await assert.rejects(
    new Promise((resolve, reject) => plainRequest({ port, path: '/healthz' }, resolve).on('error', reject).end()),
  )

  use('two')
  settings(', maxBodyBytes: 40, port: 1')
  child.kill('SIGHUP')
  await until(() => log().includes('"msg":"reloaded"'))
  await assert.rejects(ask(pem('one.crt')), /self.signed/i)
  assert.deepEqual(await ask(pem('two.crt')), [413, '{"error":"The body is too large"}'])
  assert.match(log(), /"settings":\["server\.port"\]/)

  writeFileSync(join(directory, 'server.crt'), 'no certificate')
  child.kill('SIGHUP')
  await until(() => log().includes('"msg":"reload failed"'))
  assert.equal((await ask(pem('two.crt')))[0], 413)
})
