// The stand-in servers of internet.sh: HTTP on 80, HTTPS on 443 and 8443, raw bytes on 2222, a forward proxy on 3128. Each request is a line in DIRECTORY/requests.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, createServer as createRawServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const directory = process.argv[2]
const note = (line) => appendFileSync(`${directory}/requests`, `${line}\n`)
while (!existsSync(`${directory}/wired`)) await sleep(10)

/** The registry of npm about its one package. */
const packument = {
  name: 'shout',
  'dist-tags': { latest: '1.0.0' },
  versions: {
    '1.0.0': {
      name: 'shout',
      version: '1.0.0',
      dist: { tarball: 'https://registry.npmjs.org/packages/shout-1.0.0.tgz' },
    },
  },
}

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
    if (url === '/simple/greeting/')
      return response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          '<a href="https://files.pythonhosted.org/packages/greeting-1.0-py3-none-any.whl">greeting-1.0-py3-none-any.whl</a>',
        )
    if (url === '/shout') return response.end(JSON.stringify(packument))
    // Others are not packages: a fixture asks for one only to be seen.
    if (/^\/packages\/[\w.-]+$/.test(url) && existsSync(directory + url))
      return response.end(readFileSync(directory + url))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ok: true, host: headers.host, path: url, bytes: body.length }))
  })
}

/** A forward proxy for one user, as the user of Nexus may have one. Each connection is a line too. */
const forward = createServer((_request, response) => response.writeHead(405).end())
forward.on('connect', (request, client, head) => {
  const user = Buffer.from((request.headers['proxy-authorization'] ?? '').replace('Basic ', ''), 'base64').toString()
  note(`forward ${request.url} ${user}`)
  if (user !== 'ada:s3cret@77') return client.end('HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n')
  const [, host, port] = /^(.*):(\d+)$/.exec(request.url)
  const to = connect(port, host, () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    to.write(head)
    to.pipe(client).pipe(to)
  })
  for (const socket of [to, client]) socket.on('error', () => [to, client].forEach((each) => each.destroy()))
})

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
  [forward, 3128],
]
for (const [server, port] of servers) await new Promise((resolve) => server.listen(port, '::', resolve))
writeFileSync(`${directory}/listening`, '')
