import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { readClientHello } from '../../../src/machine/egress/client-hello.ts'

/** The first bytes that Node sends to a server of that name. */
async function helloOf(servername: string): Promise<Buffer> {
  const sent = new PassThrough()
  const socket = Duplex.from({ writable: sent, readable: new PassThrough() })
  const secure = connect({ socket, servername })
  secure.on('error', () => undefined)
  const [bytes] = (await once(sent, 'data')) as [Buffer]
  secure.destroy()
  return bytes
}

/** The same message in records of that size. */
function cut(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size)
    records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

test('the name is read from a whole message, also when it is cut into records, and never from less', async () => {
  const hello = await helloOf('API.Example.org')
  assert.deepEqual(readClientHello(hello), { type: 'hello', name: 'api.example.org' })
  assert.deepEqual(readClientHello(cut(hello, 100)), { type: 'hello', name: 'api.example.org' })
  for (let length = 0; length < hello.length; length += 7)
    assert.deepEqual(readClientHello(hello.subarray(0, length)), { type: 'more' }, String(length))
})

test('without a name it has none, and anything else is not one', async () => {
  assert.deepEqual(readClientHello(await helloOf('')), { type: 'hello' })
  for (const text of [
    'GET / HTTP/1.1\r\n',
    'SSH-2.0-x',
    '\u0016\u0002\u0000\u0000\u0000',
    '\u0016\u0003\u0001\u0000\u0000',
  ])
    assert.deepEqual(readClientHello(Buffer.from(text, 'latin1')), { type: 'no' }, text)
  assert.deepEqual(readClientHello(cut(await helloOf('a.org'), 1)), { type: 'no' })
})

test('no bytes make it throw, and a changed message never gives a name with other characters than were sent', async () => {
  const hello = await helloOf('api.example.org')
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
      const changed = Buffer.from(hello)
      for (const [at, value] of changes) changed[at] = value
      const read = readClientHello(changed)
      if (read.type === 'hello' && read.name !== undefined)
        assert.ok(changed.toString('latin1').toLowerCase().includes(read.name))
    }),
    { numRuns: 500, seed: 1 },
  )
})
