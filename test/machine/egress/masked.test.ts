/** Masked keys: what hosts of the entry, other hosts and the command get. Attacks on the connection that ends in the proxy. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { openAuthority } from '../../../src/machine/egress/index.ts'
import { PUBLIC, serve } from '../net/rig.ts'
import { proxy, type Proxied, rules, throughConnect } from './rig.ts'

const KEY = 'sk-live/7f"3+9=z'
const MARK = 'nexus_masked_0123456789abcdef'
const directory = mkdtempSync(join(tmpdir(), 'masked-'))
let masked: Awaited<ReturnType<typeof openAuthority>>

before(async () => {
  const names = 'subjectAltName=DNS:api.test.com,DNS:other.test.com'
  const made = ['-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=lab', '-addext', names, '-days', '2']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...kind, ...made], { cwd: directory, stdio: 'ignore' })
  masked = await openAuthority([join(directory, 'cert.pem')])
})
after(() => rmSync(directory, { recursive: true }))

interface Lab extends Proxied {
  /** Requests as the server read them, with their bodies. */
  readonly seen: { readonly request: IncomingMessage; readonly body: string }[]
  open(host?: string, ca?: string): Promise<TLSSocket>
}

const echo = (request: IncomingMessage, body: string, response: ServerResponse): void => {
  response.setHeader('x-echo', String(request.headers.authorization ?? 'none'))
  response.end(JSON.stringify({ url: request.url, headers: request.headers, body }))
}

async function lab(t: TestContext, answer = echo, server = directory): Promise<Lab> {
  const seen: { request: IncomingMessage; body: string }[] = []
  const tls = { key: readFileSync(join(server, 'key.pem')), cert: readFileSync(join(server, 'cert.pem')) }
  const https = createTlsServer(tls, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      seen.push({ request, body })
      answer(request, body, response)
    })
  })
  https.listen(0, '127.0.0.1')
  await once(https, 'listening')
  t.after(() => {
    https.close()
    https.closeAllConnections()
  })
  const plain = await serve(t, (request, response) => {
    seen.push({ request, body: '' })
    response.end(JSON.stringify(request.headers))
  })
  const made = await proxy(t, {
    allowed: ['api.test.com', 'other.test.com'],
    routes: { [`${PUBLIC}:443`]: (https.address() as AddressInfo).port, [`${PUBLIC}:80`]: plain },
    egress: { masked: { ...masked, masks: [{ placeholder: MARK, value: KEY, hosts: rules(['api.test.com']) }] } },
  })
  const open = async (host = 'api.test.com', ca = masked.authority.certificate): Promise<TLSSocket> => {
    const socket = await throughConnect(made.path, `${host}:443`)
    const secure = connectTls({ socket, servername: host, ca, ALPNProtocols: ['h2', 'http/1.1'] })
    secure.on('error', () => undefined)
    await once(secure, 'secureConnect')
    return secure
  }
  return { ...made, seen, open }
}

/** Sends a request and gives all that comes until the server ends. */
async function ask(socket: TLSSocket, text: string | Buffer): Promise<string> {
  let got = ''
  socket.on('data', (data: Buffer) => (got += data.toString()))
  socket.resume().write(text)
  await once(socket, 'close')
  return got
}

const get = (lines: string, path = '/'): string =>
  `GET ${path} HTTP/1.1\r\nHost: api.test.com\r\nConnection: close\r\n${lines}\r\n`
const post = (type: string, body: string, more = ''): string =>
  `POST / HTTP/1.1\r\nHost: api.test.com\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`

test('the host gets the key in headers, Basic, path and query; the command gets the placeholder where they come back', async (t) => {
  const { open, seen } = await lab(t)
  const basic = Buffer.from(`user:${MARK}`).toString('base64')
  const got = [
    await ask(await open(), get(`Authorization: Bearer ${MARK}\r\nX-Key: ${MARK}\r\n`, `/v1/${MARK}?key=${MARK}`)),
    await ask(await open(), get(`Authorization: Basic ${basic}\r\n`)),
  ]
  const [first, second] = seen
  const bytes = Buffer.from(KEY).toString('latin1')
  assert.equal(first?.request.headers.authorization, `Bearer ${bytes}`)
  assert.equal(first?.request.headers['x-key'], bytes)
  assert.equal(first?.request.url, `/v1/${encodeURIComponent(KEY)}?key=${encodeURIComponent(KEY)}`)
  const sent = String(second?.request.headers.authorization).split(' ')[1] ?? ''
  assert.equal(Buffer.from(sent, 'base64').toString(), `user:${KEY}`)
  assert.match(got[0]!, new RegExp(`x-echo: Bearer ${MARK}\r\n`))
  assert.match(got[0]!, new RegExp(`"url":"/v1/${MARK}\\?key=${MARK}"`))
  assert.match(got[1]!, new RegExp(`x-echo: Basic ${basic}\r\n`))
  for (const text of got) assert.doesNotMatch(text, /7f\\*"3|7f%223/)
  for (const text of got) assert.ok(!text.includes(sent))
})

test('bodies of text get the key as their type writes it; files, packed and long ones do not', async (t) => {
  const { open, seen } = await lab(t, (_request, _body, response) => response.end('ok'))
  const form = `--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n${MARK}\r\n--x--\r\n`
  const long = MARK + 'x'.repeat(1024 * 1024)
  const chunked = `POST / HTTP/1.1\r\nHost: api.test.com\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n`
  const parts = [`{"k":"${MARK.slice(0, 9)}`, `${MARK.slice(9)}"}`]
  const tries: readonly (readonly [string, string])[] = [
    [post('application/json', JSON.stringify({ k: MARK })), JSON.stringify({ k: KEY })],
    [post('application/x-www-form-urlencoded', `k=${MARK}`), `k=${encodeURIComponent(KEY)}`],
    [post('text/plain', MARK), KEY],
    [
      chunked + parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('') + '0\r\n\r\n',
      JSON.stringify({ k: KEY }),
    ],
    [post('multipart/form-data; boundary=x', form), form],
    [post('application/octet-stream', MARK), MARK],
    [post('application/json', MARK, 'Content-Encoding: gzip\r\n'), MARK],
    [post('text/plain', long), long],
  ]
  for (const [request, body] of tries) {
    assert.match(await ask(await open(), request), /ok$|ok\r\n0\r\n\r\n$/)
    assert.equal(seen.pop()?.body === body, true, request.slice(0, 200))
  }
})

test('a key that comes back in parts, packed, or in a long answer is a placeholder again', async (t) => {
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/parts': (response) => {
      const parts = [KEY.slice(0, 4), KEY.slice(4, 9), KEY.slice(9), ' end']
      const next = (): void => {
        const part = parts.shift()
        if (part === undefined) response.end()
        else response.write(part, () => setImmediate(next))
      }
      next()
    },
    '/gzip': (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(`a ${KEY} b`)),
    '/long': (response) => response.end('y'.repeat(1_100_000) + KEY),
    '/odd': (response) => response.setHeader('content-encoding', 'odd').end(KEY),
    '/range': (response) => response.end(String(response.req.headers.range ?? KEY)),
  }
  const { open } = await lab(t, ({ url = '' }, _body, response) => answers[url]!(response))
  const got = async (path: string): Promise<string> => ask(await open(), get('Range: bytes=0-3\r\n', path))
  assert.match((await got('/parts')).replaceAll(/\r\n[0-9a-f]+\r\n/g, ''), new RegExp(`${MARK} end`))
  assert.match(await got('/gzip'), new RegExp(`a ${MARK} b`))
  assert.match(await got('/long'), new RegExp(MARK))
  assert.match(await got('/odd'), /^HTTP\/1\.1 502 .*packed in a way that Nexus cannot read/s)
  assert.match(await got('/range'), new RegExp(`${MARK}`))
})

test('another host, and the same host without TLS, get the placeholder; its certificate is its own', async (t) => {
  const { open, path, seen } = await lab(t)
  await assert.rejects(open('other.test.com'), /certificate|closed|verify/)
  const other = await open('other.test.com', readFileSync(join(directory, 'cert.pem'), 'utf8'))
  const request = get(`Authorization: ${MARK}\r\n`).replace('api.test', 'other.test')
  assert.match(await ask(other, request), new RegExp(MARK))
  const plain = await throughConnect(path, 'api.test.com:80')
  assert.match(await ask(plain as TLSSocket, get(`Authorization: ${MARK}\r\n`)), new RegExp(MARK))
  assert.equal(seen.length, 2)
  for (const { request: each } of seen) assert.equal(each.headers.authorization, MARK)
})

test('requests that name another host, or that servers read in two ways, reach no server', async (t) => {
  const { open, seen, report } = await lab(t)
  const wrong = [
    'GET / HTTP/1.1\r\nHost: other.test.com\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: api.test.com\r\nHost: other.test.com\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: api.test.com\r\nHost: api.test.com\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: api.test.com:8443\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET https://other.test.com/ HTTP/1.1\r\nHost: api.test.com\r\n\r\n',
    'CONNECT other.test.com:443 HTTP/1.1\r\nHost: other.test.com:443\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: api.test.com\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: api.test.com\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: api.test.com\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: api.test.com\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd',
    'GET / HTTP/1.1\r\nHost: api.test.com\r\nX: a\n b: c\r\n\r\n',
    'GET / HTTP/1.1\r\nHost : api.test.com\r\n\r\n',
  ]
  for (const text of wrong) {
    const got = await ask(await open(), text)
    assert.match(got, /^(?:HTTP\/1\.1 4\d\d .*)?$/s, text)
  }
  const upgrade = await ask(await open(), get('Upgrade: websocket\r\n').replace('close', 'Upgrade'))
  assert.match(upgrade, /^HTTP\/1\.1 501 .*credentials: mask|^HTTP\/1\.1 501 .*another protocol/s)
  assert.equal(seen.length, 0)
  const text = JSON.stringify(await report())
  assert.match(text, /names another host/)
  assert.ok(!text.includes('sk-live'))
})

test('a body of GET is framed, so that nothing in it is a request', async (t) => {
  const { open, seen } = await lab(t)
  const inner = 'GET /smuggled HTTP/1.1\r\nHost: api.test.com\r\n\r\n'
  const text = `GET /outer HTTP/1.1\r\nHost: api.test.com\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`
  await ask(await open(), text)
  assert.deepEqual(
    seen.map(({ request, body }) => [request.url, body]),
    [['/outer', inner]],
  )
})

test('one connection takes several requests, offers HTTP/1.1 only and checks the server', async (t) => {
  const { open, seen } = await lab(t)
  const socket = await open()
  assert.equal(socket.alpnProtocol, 'http/1.1')
  const one = `GET /1 HTTP/1.1\r\nHost: api.test.com\r\nX: ${MARK}\r\n\r\n`
  await ask(socket, one + one + get(''))
  assert.equal(seen.length, 3)
  assert.equal(new Set(seen.map(({ request }) => request.socket)).size, 1)
  const strange = mkdtempSync(join(tmpdir(), 'masked-'))
  t.after(() => rmSync(strange, { recursive: true }))
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      'key.pem',
      '-out',
      'cert.pem',
      '-subj',
      '/CN=api.test.com',
      '-addext',
      'subjectAltName=DNS:api.test.com',
    ],
    { cwd: strange, stdio: 'ignore' },
  )
  const liar = await lab(t, echo, strange)
  assert.match(await ask(await liar.open(), get('')), /^HTTP\/1\.1 502 .*TLS connection failed/s)
  assert.equal(liar.seen.length, 0)
})

test('the certificates are those that OpenSSL accepts under its strictest rules, and name one host', async (t) => {
  const { open } = await lab(t)
  const leaf = (await open()).getPeerX509Certificate()
  const [ca, own] = ['ca', 'leaf'].map((name) => join(directory, `${name}.pem`))
  writeFileSync(ca!, masked.authority.certificate)
  writeFileSync(own!, String(leaf))
  const verified = execFileSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca!, own!])
  assert.match(verified.toString(), /: OK/)
  assert.equal(leaf?.subjectAltName, 'DNS:api.test.com')
})
