import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import { PUBLIC, serve, serveRaw, serveTls } from '../net/rig.ts'
import { dialSocket, exchange, GREETING, proxy, socksRequest, throughConnect } from './rig.ts'

const get = (host: string, more = ''): string => `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
const CLOSE = 'Connection: close\r\n'

test('an allowed host is reached by HTTP, and its bytes are counted', async (t) => {
  const port = await serve(t, (request, response) => response.end(`hello ${request.headers.host} ${request.url}`))
  const { path, report, dialled } = await proxy(t, { allowed: ['api.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  const got = await exchange(path, [get('api.test.com', CLOSE)])
  assert.match(got, /^HTTP\/1\.1 200 .*hello api\.test\.com \/$/s)
  assert.deepEqual(dialled, [`${PUBLIC}:80`])
  const { reached, refused } = await report()
  assert.deepEqual(refused, [])
  assert.equal(reached.length, 1)
  const { host, port: to, connections, sentBytes, receivedBytes } = reached[0]!
  assert.deepEqual([host, to, connections], ['api.test.com', 80, 1])
  assert.ok(sentBytes > 20 && receivedBytes > 100, `${sentBytes} ${receivedBytes}`)
})

test('every request of a connection is checked by itself', async (t) => {
  const port = await serve(t, (request, response) => response.end(`hello ${request.headers.host}`))
  const { path, report } = await proxy(t, { allowed: ['a.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  const got = await exchange(path, [get('a.test.com'), get('b.test.com', CLOSE)])
  assert.match(got, /hello a\.test\.com/)
  assert.match(got, /403 Forbidden.*Nexus refused b\.test\.com port 80: no setting allows it\..*allowedDomains/s)
  assert.deepEqual(
    (await report()).refused.map(({ host, port, because, times }) => [host, port, because, times]),
    [['b.test.com', 80, 'not-allowed', 1]],
  )
})

test('the Host of a plain request is the host that was asked for', async (t) => {
  const port = await serve(t, (request, response) => response.end(`for ${request.headers.host}`))
  const { path } = await proxy(t, { allowed: ['a.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  const got = await exchange(path, [`GET http://a.test.com/ HTTP/1.1\r\nHost: evil.test.com\r\n${CLOSE}\r\n`])
  assert.match(got, /for a\.test\.com/)
})

test('TLS goes through CONNECT and through SOCKS5 when its name is the host asked for', async (t) => {
  const port = await serveTls(t, (_request, response) => response.end('over tls'))
  const { path, report } = await proxy(t, { allowed: ['public.test'], routes: { [`${PUBLIC}:443`]: port } })
  const speak = async (socket: Awaited<ReturnType<typeof dialSocket>>, servername: string): Promise<string> => {
    const secure = connectTls({ socket, servername, rejectUnauthorized: false })
    secure.on('error', () => undefined)
    secure.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    let got = ''
    secure.on('data', (data: Buffer) => (got += data.toString()))
    await new Promise((resolve) => secure.once('close', resolve))
    return got
  }
  assert.match(await speak(await throughConnect(path, 'public.test:443'), 'public.test'), /over tls/)
  const socks = await dialSocket(path)
  socks.write(GREETING)
  await once(socks, 'data')
  socks.write(socksRequest('public.test', 443))
  const [answer] = (await once(socks, 'data')) as [Buffer]
  assert.equal(answer[1], 0)
  assert.match(await speak(socks, 'public.test'), /over tls/)
  assert.equal(await speak(await throughConnect(path, 'public.test:443'), 'other.test'), '')
  const { reached, refused } = await report()
  assert.equal(reached[0]?.connections, 3)
  assert.deepEqual(
    refused.map(({ because, message }) => [because, message]),
    [['other-host', 'Nexus ended the connection to public.test port 443: its TLS names another host.']],
  )
})

test('TLS without a name, and what is neither TLS nor HTTP, do not pass a port of the web', async (t) => {
  const got: string[] = []
  const port = await serveRaw(t, (socket) => socket.on('data', (data) => got.push(data.toString('latin1'))))
  const { path, report } = await proxy(t, {
    allowed: ['public.test', 'raw.test.com:2222'],
    routes: { [`${PUBLIC}:443`]: port, [`${PUBLIC}:2222`]: port },
  })
  const nameless = connectTls({ socket: await throughConnect(path, 'public.test:443'), rejectUnauthorized: false })
  nameless.on('error', () => undefined)
  await new Promise((resolve) => nameless.once('close', resolve))
  const ssh = await throughConnect(path, 'public.test:443')
  ssh.write('SSH-2.0-OpenSSH\r\n')
  await once(ssh, 'close')
  assert.deepEqual(got, [])
  const raw = await throughConnect(path, 'raw.test.com:2222')
  raw.write('SSH-2.0-OpenSSH\r\n')
  while (got.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(got, ['SSH-2.0-OpenSSH\r\n'])
  assert.deepEqual(
    (await report()).refused.map(({ because, times }) => [because, times]),
    [['other-host', 2]],
  )
})

test('plain HTTP in a tunnel is checked request by request', async (t) => {
  const port = await serve(t, (request, response) => response.end(`hello ${request.headers.host}`))
  const { path, report } = await proxy(t, { allowed: ['a.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  const socket = await throughConnect(path, 'a.test.com:80')
  let got = ''
  socket.on('data', (data: Buffer) => (got += data.toString())).resume()
  socket.write('GET / HTTP/1.1\r\nHost: a.test.com\r\n\r\n')
  while (!got.includes('hello a.test.com')) await once(socket, 'data')
  socket.write('GET / HTTP/1.1\r\nHost: evil.test.com\r\n\r\n')
  while (!got.includes('its request names another host')) await once(socket, 'data')
  assert.doesNotMatch(got, /hello evil/)
  assert.deepEqual(
    (await report()).refused.map(({ because }) => because),
    ['other-host'],
  )
})

test('addresses, other ports, denied names and private answers are refused, and nothing is dialled', async (t) => {
  const asked: string[] = []
  const { path, report, dialled, lookedUp } = await proxy(t, {
    allowed: ['a.test.com', '*.wide.test.com', 'inside.test.com', 'mapped.test.com', 'both.test.com'],
    denied: ['no.wide.test.com'],
    names: {
      'inside.test.com': [['10.0.0.5']],
      'mapped.test.com': [['::ffff:169.254.169.254']],
      'both.test.com': [[PUBLIC, '192.168.1.1']],
    },
    egress: {
      ask: async ({ host }) => {
        asked.push(host)
        return false
      },
    },
  })
  const connects = [
    ['127.0.0.1:443', 'literal'],
    ['[::1]:443', 'literal'],
    ['[::ffff:10.0.0.1]:443', 'literal'],
    ['0x7f.1:443', 'literal'],
    ['2130706433:443', 'literal'],
    ['localhost:443', 'not-allowed'],
    ['a.test.com:22', 'not-allowed'],
    ['wide.test.com:443', 'not-allowed'],
    ['no.wide.test.com:443', 'denied'],
    ['inside.test.com:443', 'address'],
    ['mapped.test.com:443', 'address'],
    ['both.test.com:443', 'address'],
    ['a.test.com.evil.org:443', 'not-allowed'],
    ['xa.test.com:443', 'not-allowed'],
  ] as const
  for (const [authority] of connects) await assert.rejects(throughConnect(path, authority), /HTTP\/1\.1 403/, authority)
  for (const bad of ['a.test.com', 'a.test.com:99999', 'a.test.com:443/x', 'a..b:443', 'a.test.com%00.evil.org:443'])
    await assert.rejects(throughConnect(path, bad), /HTTP\/1\.1 40[03]/, bad)
  const literals = [Buffer.from([1, 127, 0, 0, 1]), Buffer.from([4, ...Array<number>(15).fill(0), 1])]
  for (const to of [...literals, 'a.test.com\0.evil.org'])
    assert.equal((await exchange(path, [GREETING, socksRequest(to, 443)])).charCodeAt(3), 2)
  assert.equal((await exchange(path, [GREETING, socksRequest('a.test.com', 443, 2)])).charCodeAt(3), 7)
  assert.match(await exchange(path, [get('169.254.169.254', CLOSE)]), /403/)
  assert.match(await exchange(path, ['GET / HTTP/1.1\r\nHost: a.test.com\r\n\r\n']), /400/)
  const { refused, reached } = await report()
  assert.deepEqual(dialled, [])
  assert.deepEqual(reached, [])
  assert.deepEqual(new Set(lookedUp), new Set(['inside.test.com', 'mapped.test.com', 'both.test.com']))
  for (const [, because] of connects) assert.ok(refused.some((each) => each.because === because))
  assert.deepEqual(
    new Set(asked),
    new Set(['localhost', 'a.test.com', 'wide.test.com', 'a.test.com.evil.org', 'xa.test.com']),
  )
})

test('the address that was checked is the one that is dialled: a name that changes its answer gains nothing', async (t) => {
  const port = await serve(t, (_request, response) => response.end('ok'))
  const { path, dialled } = await proxy(t, {
    allowed: ['turn.test.com'],
    names: { 'turn.test.com': [[PUBLIC], ['127.0.0.1']] },
    routes: { [`${PUBLIC}:80`]: port },
  })
  assert.match(await exchange(path, [get('turn.test.com', CLOSE)]), /ok/)
  assert.match(await exchange(path, [get('turn.test.com', CLOSE)]), /403/)
  assert.deepEqual(dialled, [`${PUBLIC}:80`])
})

test('a redirect to a private address is passed to the client and refused there', async (t) => {
  const port = await serve(t, (_request, response) => response.writeHead(302, { location: 'http://10.1.1.1/' }).end())
  const { path } = await proxy(t, { allowed: ['a.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  assert.match(await exchange(path, [get('a.test.com', CLOSE)]), /302 .*10\.1\.1\.1/s)
  assert.match(await exchange(path, [get('10.1.1.1', CLOSE)]), /403/)
})

test('a person is asked once about a host, and no answer in time is a no', async (t) => {
  const port = await serve(t, (_request, response) => response.end('ok'))
  const asked: string[] = []
  const { path } = await proxy(t, {
    routes: { [`${PUBLIC}:80`]: port },
    egress: {
      askMs: 50,
      ask: async ({ host }, signal) => {
        asked.push(host)
        if (host === 'late.test.com') await once(signal, 'abort')
        return host !== 'no.test.com'
      },
    },
  })
  const ask = (host: string): Promise<string> => exchange(path, [get(host, CLOSE)])
  const [first, second] = await Promise.all([ask('yes.test.com'), ask('yes.test.com')])
  assert.match(first, /ok/)
  assert.match(second, /ok/)
  assert.match(await ask('no.test.com'), /403/)
  assert.match(await ask('late.test.com'), /403/)
  assert.deepEqual(asked, ['yes.test.com', 'no.test.com', 'late.test.com'])
})

test('the limits of a call narrow what is allowed, and nobody is asked beyond them', async (t) => {
  const { path, report } = await proxy(t, {
    allowed: ['a.test.com', 'b.test.com'],
    within: ['b.test.com'],
    egress: { ask: async () => true },
  })
  await assert.rejects(throughConnect(path, 'a.test.com:443'), /403/)
  assert.equal((await report()).refused[0]?.because, 'limits')
})

test('localhost with its port reaches the machine itself, and no other port of it', async (t) => {
  const port = await serveRaw(t, (socket) => socket.end('from the host'))
  const { path } = await proxy(t, {
    allowed: [`localhost:${port}`],
    options: { connect: async ({ address, port: to }) => connectTcp({ host: address, port: to }) },
  })
  const socket = await throughConnect(path, `localhost:${port}`)
  const [data] = (await once(socket.resume(), 'data')) as [Buffer]
  assert.equal(data.toString(), 'from the host')
  await assert.rejects(throughConnect(path, `localhost:${port + 1}`), /403/)
  await assert.rejects(throughConnect(path, `127.0.0.1:${port}`), /403/)
})

test('closing ends open connections and removes the socket', async (t) => {
  const port = await serveRaw(t, (socket) => socket.write('x'))
  const { path, report } = await proxy(t, { allowed: ['raw.test.com:99'], routes: { [`${PUBLIC}:99`]: port } })
  const socket = await throughConnect(path, 'raw.test.com:99')
  await once(socket.resume(), 'data')
  const closed = once(socket, 'close')
  assert.equal((await report()).reached[0]?.receivedBytes, 1)
  await closed
  await assert.rejects(dialSocket(path), /ENOENT/)
})
