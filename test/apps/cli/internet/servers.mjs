// The stand-in servers of internet.sh: HTTP on 80, HTTPS on 443 and 8443, raw bytes on 2222. Each request is a line in DIRECTORY/requests.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createRawServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const directory = process.argv[2]
const note = (line) => appendFileSync(`${directory}/requests`, `${line}\n`)
while (!existsSync(`${directory}/wired`)) await sleep(10)

function answer(request, response) {
  const { method, url, headers, socket } = request
  let body = ''
  request.on('data', (data) => (body += data))
  request.on('end', () => {
    note(
      `${socket.localAddress} ${socket.servername ?? '-'} ${method} ${headers.host} ${url} ${headers.authorization ?? '-'} ${body.length}`,
    )
    if (url.startsWith('/to-private')) return response.writeHead(302, { location: 'http://10.77.0.2/secret' }).end()
    if (url.startsWith('/to-evil')) return response.writeHead(302, { location: 'https://evil.lab-other.com/x' }).end()
    if (url.startsWith('/big')) return response.end(Buffer.alloc(5_000_000, 'x'))
    if (url.startsWith('/simple/demo'))
      return response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<a href="/packages/demo-1.0.tar.gz">demo-1.0.tar.gz</a>')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ok: true, host: headers.host, path: url, bytes: body.length }))
  })
}

const tls = { key: readFileSync(`${directory}/key.pem`), cert: readFileSync(`${directory}/cert.pem`) }
const raw = createRawServer((socket) => {
  note(`${socket.localAddress} raw`)
  socket.end('raw greeting\n')
})
const servers = [
  [createServer(answer), 80],
  [createTlsServer(tls, answer), 443],
  [createTlsServer(tls, answer), 8443],
  [raw, 2222],
]
for (const [server, port] of servers) await new Promise((resolve) => server.listen(port, '::', resolve))
writeFileSync(`${directory}/listening`, '')
