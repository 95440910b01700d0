/** Plain requests and changes of protocol: nothing that follows one is read as another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PUBLIC, serveRaw } from '../net/rig.ts'
import { exchange, proxy } from './rig.ts'

test('the body of a request never becomes a second request, however the client frames it', async (t) => {
  const got: string[] = []
  const port = await serveRaw(t, (socket) =>
    socket.on('data', (data) => {
      got.push(data.toString('latin1'))
      if (/hidden/.test(got.join(''))) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
    }),
  )
  const { path } = await proxy(t, { allowed: ['a.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: evil.test.com\r\n\r\n'
  const size = hidden.length
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
  for (const [method, framing] of [
    ['GET', chunked],
    ['POST', chunked],
    ['GET', `Connection: content-length\r\nContent-Length: ${size}\r\n\r\n${hidden}`],
    ['DELETE', `Connection: transfer-encoding, te\r\n${chunked}`],
  ] as const) {
    got.length = 0
    await exchange(path, [`${method} http://a.test.com/ HTTP/1.1\r\nHost: a.test.com\r\n${framing}`], 'ok')
    const [head = '', ...body] = got.join('').split('\r\n\r\n')
    const isChunked =
      /^transfer-encoding: chunked$/im.test(head) && body.join('').startsWith(`${size.toString(16)}\r\n`)
    assert.ok(
      isChunked || new RegExp(`^content-length: ${size}$`, 'im').test(head),
      `${method} ${framing}: ${got.join('')}`,
    )
  }
})

test('no change of protocol to HTTP/2, where one connection names many hosts', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
    ),
  )
  const { path, report } = await proxy(t, { allowed: ['a.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  for (const protocol of ['h2c', 'websocket, H2C'])
    assert.match(
      await exchange(path, [
        `GET http://a.test.com/ HTTP/1.1\r\nHost: a.test.com\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
      ]),
      /^HTTP\/1\.1 403/,
    )
  assert.equal((await report()).refused[0]?.because, 'other-host')
})

test('a change of protocol passes bytes on only when the server agrees to it', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.once('data', (head: Buffer) => {
      const isAgreed = head.includes('GET /yes')
      socket.write(
        isAgreed
          ? 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n'
          : 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno',
      )
      socket.on('data', (data: Buffer) => socket.end(`echo ${data.toString()}`))
    }),
  )
  const { path } = await proxy(t, { allowed: ['a.test.com'], routes: { [`${PUBLIC}:80`]: port } })
  const ask = (where: string): string =>
    `GET http://a.test.com/${where} HTTP/1.1\r\nHost: a.test.com\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`
  assert.match(await exchange(path, [ask('yes'), 'hello']), /101 Switching Protocols.*echo hello$/s)
  assert.doesNotMatch(await exchange(path, [ask('no') + 'GET / HTTP/1.1\r\nHost: evil.test.com\r\n\r\n']), /echo/)
})
