/** R44, R46: clients that never end a request. The server waits 10 s for headers and 30 s for all of it, so it runs here. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Place } from '../apps/cli/nexus.ts'
import { startHttp } from '../apps/mcp/client.ts'

test('connections of requests that never end are closed, and the server answers others all the time', async (t) => {
  const { port, key, url } = await startHttp(t, new Place(t), ['--trust'])
  const start = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
  const json = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
  const slow = [`${start}X-A: `, `${start}${json}Transfer-Encoding: chunked\r\n\r\n5\r\n{"jso`]
  const sockets = Array.from({ length: 100 }, (_, index) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(slow[index % 2] ?? ''))
    // What the server sends is read, or the socket would not see its end.
    socket.on('error', () => undefined).resume()
    t.after(() => void socket.destroy())
    return socket
  })
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  while (sockets.some(({ destroyed }) => !destroyed)) {
    assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 200)
    await setTimeout(500)
  }
})
