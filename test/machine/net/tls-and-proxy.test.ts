import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { createNet, proxySettings } from '../../../src/machine/net/index.ts'
import { proxyFor } from '../../../src/machine/net/proxy.ts'
import { CERTIFICATE, makeRig, OTHER, PUBLIC, serve, serveTls, textOf } from './rig.ts'

test('TLS and Host have the name, the connection goes to the address; an address has no server name', async (t) => {
  const port = await serveTls(t, ({ socket, headers }, response) =>
    response.end(`${String((socket as TLSSocket).servername)} ${headers.host}`),
  )
  const { net, dialled } = makeRig({ routes: { [`${PUBLIC}:443`]: port }, options: { ca: CERTIFICATE } })
  assert.equal(await textOf(await net.request({ url: 'https://public.test/' })), 'public.test public.test')
  assert.equal(await textOf(await net.request({ url: `https://${PUBLIC}/` })), `false ${PUBLIC}`)
  assert.deepEqual(dialled, [`${PUBLIC}:443`, `${PUBLIC}:443`])
})

test('a certificate of another name, or of an unknown issuer, is refused, also with NODE_TLS_REJECT_UNAUTHORIZED=0', async (t) => {
  let requests = 0
  const port = await serveTls(t, (_, response) => response.end(String((requests += 1))))
  const routes = { [`${PUBLIC}:443`]: port }
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  t.after(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  })
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  const unknown = makeRig({ routes }).net.request({ url: 'https://public.test/' })
  await assert.rejects(unknown, { code: 'NETWORK_FAILED', message: /DEPTH_ZERO_SELF_SIGNED_CERT/ })
  const elsewhere = makeRig({ routes, options: { ca: CERTIFICATE } }).net.request({ url: 'https://else.test/' })
  await assert.rejects(elsewhere, { code: 'NETWORK_FAILED', message: /ERR_TLS_CERT_ALTNAME_INVALID/ })
  assert.equal(requests, 0)
})

test('a server that does not speak TLS is an error', async (t) => {
  const port = await serve(t, (_, response) => response.end('plain'))
  const { net } = makeRig({ routes: { [`${PUBLIC}:443`]: port } })
  await assert.rejects(net.request({ url: 'https://public.test/' }), { code: 'NETWORK_FAILED' })
})

test('with the lookup and the connection of Node, a configured origin on loopback is reached by name', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const net = createNet({ origins: [`http://localhost:${port}`] })
  assert.equal(await textOf(await net.request({ url: `http://localhost:${port}/` })), 'ok')
  await assert.rejects(net.request({ url: `http://127.0.0.1:${port}/` }), { code: 'ADDRESS_REFUSED' })
})

interface Asked {
  readonly to: string | undefined
  readonly authorization: string | undefined
}

/** A proxy that connects everything to one port, or answers with a status. */
async function proxy(
  t: TestContext,
  to: { port?: number; status?: number },
): Promise<{ port: number; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer((_, response) => response.writeHead(400).end())
  server.on('connect', (request, socket) => {
    asked.push({ to: request.url, authorization: request.headers['proxy-authorization'] })
    socket.on('error', () => {})
    if (to.port === undefined) return socket.end(`HTTP/1.1 ${to.status} Refused\r\n\r\n`)
    const upstream = connect(to.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    upstream.on('error', () => {})
    socket.pipe(upstream).pipe(socket)
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  t.after(() => server.close().closeAllConnections())
  return { port: (server.address() as AddressInfo).port, asked }
}

test('a proxy is asked for the checked address, with its own credentials, and TLS goes through it', async (t) => {
  const plain = await serve(t, ({ headers }, response) =>
    response.end(`${headers.host} ${headers['proxy-authorization']}`),
  )
  const tls = await serveTls(t, ({ headers }, response) => response.end(headers.host))
  const [http, https] = [await proxy(t, { port: plain }), await proxy(t, { port: tls })]
  const { net, dialled } = makeRig({
    names: { 'proxy.test': [['10.0.0.9']], 'rebind.test': [[PUBLIC], ['127.0.0.1']] },
    routes: { '10.0.0.9:3128': http.port, '10.0.0.9:3129': https.port },
    options: { ca: CERTIFICATE, proxy: { http: 'http://u:p%40@proxy.test:3128', https: 'proxy.test:3129' } },
  })
  assert.equal(await textOf(await net.request({ url: 'http://rebind.test/' })), 'rebind.test undefined')
  assert.equal(await textOf(await net.request({ url: 'https://public.test/' })), 'public.test')
  const authorization = `Basic ${Buffer.from('u:p@').toString('base64')}`
  assert.deepEqual(http.asked, [{ to: `${PUBLIC}:80`, authorization }])
  assert.deepEqual(https.asked, [{ to: `${PUBLIC}:443`, authorization: undefined }])
  await assert.rejects(net.request({ url: 'http://rebind.test/' }), { code: 'ADDRESS_REFUSED' })
  await assert.rejects(net.request({ url: 'http://169.254.169.254/' }), { code: 'ADDRESS_REFUSED' })
  assert.deepEqual(dialled, ['10.0.0.9:3128', '10.0.0.9:3129'])
})

test('a proxy that refuses, or cannot be reached, is an error that names the proxy', async (t) => {
  const refusing = await proxy(t, { status: 407 })
  const rig = (port: number): ReturnType<typeof makeRig> =>
    makeRig({ routes: { '10.0.0.9:3128': port }, options: { proxy: { http: 'http://10.0.0.9:3128' } } })
  const url = 'http://public.test/'
  await assert.rejects(rig(refusing.port).net.request({ url }), { code: 'NETWORK_FAILED', message: /proxy.*407/ })
  await assert.rejects(rig(1).net.request({ url }), { code: 'NETWORK_FAILED', message: /proxy 10\.0\.0\.9:3128/ })
})

test('without the option no proxy is used, whatever the environment says', async (t) => {
  const port = await serve(t, (_, response) => response.end('direct'))
  const before = process.env['HTTP_PROXY']
  t.after(() => {
    if (before === undefined) delete process.env['HTTP_PROXY']
    else process.env['HTTP_PROXY'] = before
  })
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:1'
  const { net } = makeRig({ routes: { [`${PUBLIC}:80`]: port } })
  assert.equal(await textOf(await net.request({ url: 'http://public.test/' })), 'direct')
})

test('variables of a proxy: lower case wins, and NO_PROXY exempts names, subdomains, ports and everything', () => {
  const settings = proxySettings({
    http_proxy: 'http://a:1',
    HTTP_PROXY: 'http://b:2',
    NO_PROXY: 'x.test, .y.test,z.test:81',
  })
  const to = (host: string, port = 80): unknown => proxyFor({ host, port, isTls: false }, settings)?.host
  assert.deepEqual(
    ['x.test', 'a.x.test', 'y.test', 'a.y.test', 'z.test'].map((host) => to(host)),
    [undefined, undefined, undefined, undefined, 'a'],
  )
  assert.deepEqual([to('z.test', 81), to('ax.test'), to(OTHER)], [undefined, 'a', 'a'])
  assert.equal(proxyFor({ host: 'a', port: 443, isTls: true }, settings), undefined)
  assert.equal(proxyFor({ host: 'a', port: 80, isTls: false }, { ...settings, no: '*' }), undefined)
  for (const http of ['socks5://a:1', 'http://%zz@a:1', 'http://'])
    assert.throws(() => proxyFor({ host: 'a', port: 80, isTls: false }, { http }), { code: 'INVALID_ARGUMENT' })
})

test('a server name or an error gives the model no credentials of the proxy', async () => {
  const { net } = makeRig({ options: { proxy: { http: 'http://name-1234:word-1234@10.0.0.9:3128' } } })
  await assert.rejects(net.request({ url: 'http://public.test/' }), ({ message }: Error) => !message.includes('1234'))
})
