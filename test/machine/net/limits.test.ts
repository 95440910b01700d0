import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import type { NetLimits, NetResponse } from '../../../src/machine/net/index.ts'
import { makeRig, PUBLIC, serve, serveRaw, textOf } from './rig.ts'

const URL_OF_TEST = 'http://public.test/'

async function answered(
  port: number,
  limits: Partial<NetLimits> = {},
  method: 'GET' | 'HEAD' = 'GET',
): Promise<NetResponse> {
  const { net } = makeRig({ routes: { [`${PUBLIC}:80`]: port }, options: { limits } })
  return await net.request({ url: URL_OF_TEST, method })
}

/** A server whose whole answer is the text; it keeps the connection open. */
async function saying(t: TestContext, ...parts: readonly (string | Buffer)[]): Promise<number> {
  return await serveRaw(t, (socket) => socket.once('data', () => parts.forEach((part) => socket.write(part))))
}

test('gzip, deflate and br are decoded as they arrive; repeated headers are joined and cookies dropped', async (t) => {
  const text = 'a\u20ac'.repeat(1000)
  const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, identity: Buffer.from }
  for (const [encoding, encode] of Object.entries(encoders)) {
    const port = await serve(t, (request, response) => {
      response.setHeader('x-asked', request.headers['accept-encoding'] ?? '')
      response.setHeader('link', ['<a>', '<b>'])
      response.setHeader('set-cookie', ['a=b'])
      response.writeHead(200, { 'content-encoding': encoding }).end(encode(text))
    })
    const response = await answered(port)
    assert.equal(await textOf(response), text, encoding)
    assert.partialDeepStrictEqual({ ...response.headers }, { 'x-asked': 'gzip, br', link: '<a>, <b>' })
    assert.ok(!('set-cookie' in response.headers))
  }
})

test('a body is cut off at its limit, after the allowed part', async (t) => {
  const port = await serve(t, (_, response) => response.end('x'.repeat(100_000)))
  const parts: Uint8Array[] = []
  const { body } = await answered(port, { maxBytes: 70_000 })
  await assert.rejects(
    async () => {
      for await (const part of body) parts.push(part)
    },
    { code: 'LIMIT_EXCEEDED' },
  )
  assert.equal(Buffer.concat(parts).length, 70_000)
  assert.equal((await textOf(await answered(port, { maxBytes: 100_000 }))).length, 100_000)
})

test('of a compressed bomb the limit is decoded and no more: 1 GiB of gzip, 64 MiB of br', async (t) => {
  const layer = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 })
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const bombs = {
    gzip: Buffer.concat(Array.from({ length: 16 }, () => layer)),
    br: brotliCompressSync(Buffer.alloc(64 * 1024 * 1024), quick),
  }
  for (const [encoding, bomb] of Object.entries(bombs)) {
    const port = await serve(t, (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb))
    let size = 0
    const { body } = await answered(port, { maxBytes: 10_000_000 })
    await assert.rejects(
      async () => {
        for await (const part of body) size += part.length
      },
      { code: 'LIMIT_EXCEEDED' },
      encoding,
    )
    assert.equal(size, 10_000_000, encoding)
  }
})

test('compressed data that decodes to nothing is limited by what is sent', async (t) => {
  const empty = Buffer.concat(Array.from({ length: 5000 }, () => gzipSync('')))
  const port = await serve(t, (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(empty))
  await assert.rejects(async () => textOf(await answered(port, { maxBytes: 50_000 })), { code: 'LIMIT_EXCEEDED' })
})

test('what cannot be decoded is an error: another encoding, several, damaged and cut-off data', async (t) => {
  const cases: readonly (readonly [string, string | Buffer])[] = [
    ['zstd', 'x'],
    ['gzip, gzip', gzipSync(gzipSync('x'))],
    ['gzip', 'not gzip'],
    ['gzip', gzipSync('x'.repeat(1000)).subarray(0, 15)],
    ['br', 'not br'],
  ]
  for (const [encoding, body] of cases) {
    const port = await serve(t, (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body))
    await assert.rejects(async () => textOf(await answered(port)), { code: 'NETWORK_FAILED' }, encoding)
  }
})

test('HEAD and 204 have no body, whatever encoding they name', async (t) => {
  const port = await serve(t, (request, response) =>
    response.writeHead(request.method === 'HEAD' ? 200 : 204, { 'content-encoding': 'gzip' }).end(),
  )
  assert.equal(await textOf(await answered(port, {}, 'HEAD')), '')
  assert.equal(await textOf(await answered(port)), '')
})

test('an answer that is cut off, or is not HTTP, is an error', async (t) => {
  const broken = ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n123', 'SSH-2.0-OpenSSH_9.2\r\n', '']
  const ambiguous = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'
  const upgraded = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
  for (const text of [...broken, ambiguous, upgraded]) {
    const port = await serveRaw(t, (socket) => socket.once('data', () => socket.end(text)))
    await assert.rejects(async () => textOf(await answered(port)), { code: 'NETWORK_FAILED' }, JSON.stringify(text))
  }
})

test('headers are refused above their limit only', async (t) => {
  const port = await saying(t, `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\ncontent-length: 2\r\n\r\nok`)
  assert.equal(await textOf(await answered(port)), 'ok')
  await assert.rejects(answered(port, { maxHeaderBytes: 8192 }), { code: 'LIMIT_EXCEEDED' })
})

const QUIET = { connectMs: 5000, headersMs: 5000, idleMs: 5000, totalMs: 10_000 }
const times: readonly (readonly [keyof NetLimits, readonly string[]])[] = [
  ['headersMs', []],
  ['headersMs', ['HTTP/1.1 200 OK\r\nx: ']],
  ['headersMs', ['HTTP/1.1 103 Early Hints\r\n\r\n']],
  ['idleMs', ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12']],
  ['totalMs', ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12']],
]
for (const [limit, parts] of times)
  test(`${limit} ends a request to a server that stops after ${JSON.stringify(parts.join('')).slice(0, 30)}`, async (t) => {
    const port = await saying(t, ...parts)
    await assert.rejects(async () => textOf(await answered(port, { ...QUIET, [limit]: 60 })), {
      code: 'TIMEOUT',
      message: /after 60 ms/,
    })
  })

test('connectMs ends a lookup and a connection that do not answer', async () => {
  const never = (): Promise<never> => Promise.withResolvers<never>().promise
  for (const stub of [{ lookup: never }, { connect: never }]) {
    const { net } = makeRig({ options: { ...stub, limits: { connectMs: 60 } } })
    await assert.rejects(net.request({ url: URL_OF_TEST }), { code: 'TIMEOUT' })
  }
})

test('totalMs ends a body that is not read, and its connection', async (t) => {
  const closed = Promise.withResolvers<void>()
  const port = await serveRaw(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12'))
    socket.once('close', () => closed.resolve())
  })
  const { body } = await answered(port, { totalMs: 60 })
  await closed.promise
  await assert.rejects(
    async () => {
      for await (const part of body) void part
    },
    { code: 'TIMEOUT' },
  )
})

test('a cancelled request ends with CANCELLED: before it starts, while it waits, and in the body', async (t) => {
  const port = await saying(t, 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12')
  const silent = await saying(t)
  const start = (to: number, signal: AbortSignal): Promise<NetResponse> =>
    makeRig({ routes: { [`${PUBLIC}:80`]: to } }).net.request({ url: URL_OF_TEST, signal })
  await assert.rejects(start(port, AbortSignal.abort()), { code: 'CANCELLED' })
  const waiting = new AbortController()
  const pending = start(silent, waiting.signal)
  setImmediate(() => waiting.abort())
  await assert.rejects(pending, { code: 'CANCELLED' })
  const reading = new AbortController()
  const { body } = await start(port, reading.signal)
  await assert.rejects(
    async () => {
      for await (const part of body) if (part.length > 0) reading.abort()
    },
    { code: 'CANCELLED' },
  )
})

test('a caller that stops reading, or closes, ends the connection', async (t) => {
  for (const isRead of [true, false]) {
    const closed = Promise.withResolvers<void>()
    const port = await serve(t, (request, response) => {
      request.socket.once('close', () => closed.resolve())
      response.write('part')
    })
    const response = await answered(port)
    if (isRead) for await (const _ of response.body) break
    else response.close()
    await closed.promise
  }
})

test('headers that the caller may not set, or that would end the header, are refused before anything is dialled', async () => {
  const { net, dialled } = makeRig()
  const headers = [{ Host: 'x' }, { 'Content-Length': '1' }, { 'transfer-encoding': 'chunked' }, { 'Proxy-X': 'y' }]
  for (const given of [...headers, { a: 'b\r\nHost: c' }, { 'a b': 'c' }, { '': 'c' }, { a: '\u20ac' }] as Record<
    string,
    string
  >[])
    await assert.rejects(net.request({ url: URL_OF_TEST, headers: given }), { code: 'INVALID_ARGUMENT' })
  await assert.rejects(net.request({ url: URL_OF_TEST, method: 'CONNECT' as 'GET' }), { code: 'INVALID_ARGUMENT' })
  assert.deepEqual(dialled, [])
})
