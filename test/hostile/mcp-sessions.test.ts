/** Sessions of `nexus mcp --http` in the hands of clients that begin, forget and mix them up. */
import assert from 'node:assert/strict'
import { connect as connectSocket } from 'node:net'
import test from 'node:test'
import { Place } from '../apps/cli/nexus.ts'
import { processesWith, startHttp, until } from '../apps/mcp/client.ts'
import { beginningOf, beginSession, fire, INITIALIZE, requestTo, rpc } from './http-rig.ts'

/** Sends many at a time, so that no connection has to wait long. */
async function many(count: number, send: (index: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - from) }, (_, index) => send(from + index)))
}

test('1,000 sessions are begun: the last ones go on, a forgotten one is to be begun again, and one with a call stays', async (t) => {
  const server = await startHttp(t, new Place(t), ['--trust'])
  const request = requestTo(server)
  const busy = await beginSession(server)
  const token = `601.${process.pid}`
  const call = rpc('tools/call', { name: 'run_command', arguments: { command: `sleep ${token}` } }, 7)
  void beginningOf(t, server.port, request(busy, { body: call }))
  await until(() => processesWith(token).length > 0)
  const first = await beginSession(server)
  await many(1_000, () => beginSession(server))
  const last = await beginSession(server)
  assert.equal((await fire(server.port, request(last))).status, 200)
  assert.equal((await fire(server.port, request(first))).status, 404)
  assert.equal((await fire(server.port, request(busy))).status, 200)
  assert.ok(processesWith(token).length > 0)
  assert.equal((await fire(server.port, request(busy, { method: 'DELETE', body: '' }))).status, 200)
  await until(() => processesWith(token).length === 0)
  assert.equal((await fire(server.port, request(busy))).status, 404)
})

test('an id whose request is not answered yet is refused, so that the first one can still be cancelled', async (t) => {
  const server = await startHttp(t, new Place(t), ['--trust'])
  const request = requestTo(server)
  const session = await beginSession(server)
  const token = `602.${process.pid}`
  const call = rpc('tools/call', { name: 'run_command', arguments: { command: `sleep ${token}` } })
  const socket = connectSocket(server.port, '127.0.0.1')
  socket.write(request(session, { body: call }))
  await until(() => processesWith(token).length > 0)
  const { status, text } = await fire(server.port, request(session))
  assert.deepEqual([status, text.includes('not answered yet')], [400, true])
  socket.destroy()
  await until(() => processesWith(token).length === 0)
  assert.equal((await fire(server.port, request(session))).status, 200)
})

test('where every session has an open stream, a new one is refused in words, and requests without one are answered', async (t) => {
  const server = await startHttp(t, new Place(t), ['--trust'])
  const request = requestTo(server)
  const header = { Accept: 'text/event-stream', 'Content-Length': undefined }
  for (let index = 0; index < 64; index++) {
    const session = await beginSession(server)
    void beginningOf(t, server.port, request({ ...session, ...header }, { method: 'GET', body: '' }))
  }
  await until(async () => (await fire(server.port, request({}, { body: INITIALIZE }))).status === 503)
  assert.match((await fire(server.port, request({}, { body: INITIALIZE }))).text, /All sessions are in use/)
  assert.equal((await fire(server.port, request())).status, 200)
})
