// What the way of commands to their hosts costs: a confined `true` with hosts and without, a GET by a fresh curl through relay and
// proxy beside a direct one, the same with a masked key, and 200 MB. Server and proxy are processes of their own.
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, pairsOf, printTable, show, spread } from './measure.mjs'

const MANY_BYTES = 200_000_000
const MIB = 1024 * 1024
const MASKED_HOST = 'api.bench-masked.com'
const PLACEHOLDER = `nexus_masked_${'0'.repeat(32)}`
const [, , role, ...roleArgs] = process.argv

/** Loads a part of the build in the process that uses it. */
const built = (path) => import(new URL(`../dist/machine/${path}/index.js`, import.meta.url))

if (role === 'serve') serve(roleArgs[0])
else if (role === 'proxy') await proxy(roleArgs[0], Number(roleArgs[1]))
else if (role === 'masking') await masking(roleArgs[0], Number(roleArgs[1]), roleArgs[2])

function serve(directory) {
  const tls = { key: readFileSync(join(directory, 'key.pem')), cert: readFileSync(join(directory, 'cert.pem')) }
  const part = Buffer.alloc(MIB, 'x')
  const answer = async (request, response) => {
    if (request.url !== '/many') return response.end('hello')
    for (let left = MANY_BYTES; left > 0; left -= part.length)
      if (!response.write(part.subarray(0, left))) await once(response, 'drain')
    response.end()
  }
  const server = createServer(tls, (request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

/** Says the greatest memory that it had since it was asked last. */
async function proxy(socket, port) {
  const { openEgress } = await built('egress')
  await openEgress(socket, { allowed: [{ host: 'localhost', port }], denied: [] })
  let peak = 0
  setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
  process.on('message', () => {
    process.send(peak)
    peak = 0
  })
  process.send('ready')
}

/** Ends the TLS of one host, which is the server on loopback. Says whose certificate is to be trusted. */
async function masking(socket, port, certificate) {
  const { openAuthority, openEgress } = await built('egress')
  const made = await openAuthority([certificate])
  const hosts = [{ host: MASKED_HOST }]
  const masks = [{ placeholder: PLACEHOLDER, value: 'the-key-of-the-bench', hosts }]
  const net = {
    ownAddresses: () => [],
    lookup: async () => [{ address: '93.184.216.34' }],
    connect: async () => {
      const upstream = connect(port, '127.0.0.1')
      await once(upstream, 'connect')
      return upstream
    },
  }
  await openEgress(socket, { allowed: hosts, denied: [] }, { net, masked: { ...made, masks } })
  process.send(made.authority.certificate)
}

async function timed(file, args) {
  const at = performance.now()
  const [code] = await once(spawn(file, args, { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`${file} ${args.join(' ')}: exit code ${code}`)
  return performance.now() - at
}

async function startRole(name, ...args) {
  const child = fork(import.meta.filename, [name, ...args])
  const [answer] = await once(child, 'message')
  return { child, answer }
}

async function freePort() {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

async function startRelay(socket) {
  const port = await freePort()
  const options = `TCP-LISTEN:${port},bind=127.0.0.1,fork,backlog=128,nodelay`
  const child = spawn('socat', [options, `UNIX-CONNECT:${socket}`])
  await listening(port)
  return { child, port }
}

/** Until something accepts there. */
async function listening(port) {
  for (let tries = 0; tries < 200; tries++) {
    if (await timed('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${port}`]).catch(() => undefined)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('socat does not listen')
}

async function measureRequests(work, runs) {
  const request =
    '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out cert.pem -subj /CN=localhost'
  execFileSync(
    'openssl',
    ['req', ...request.split(' '), '-addext', `subjectAltName=DNS:localhost,DNS:${MASKED_HOST}`],
    {
      cwd: work,
      stdio: 'ignore',
    },
  )
  const server = await startRole('serve', work)
  const socket = join(work, 'socket')
  const egress = await startRole('proxy', socket, String(server.answer))
  const masked = await startRole('masking', `${socket}-masked`, String(server.answer), join(work, 'cert.pem'))
  writeFileSync(join(work, 'authority.pem'), masked.answer)
  const relays = [await startRelay(socket), await startRelay(`${socket}-masked`)]
  const [{ port }, { port: maskedPort }] = relays
  const peak = async () => {
    egress.child.send('peak')
    return (await once(egress.child, 'message'))[0]
  }
  try {
    const curl = (url, trusted, ...more) =>
      timed('curl', ['-sSf', '--cacert', join(work, trusted), '-o', '/dev/null', ...more, url])
    const by = (of) => ['--noproxy', '', '-x', `http://127.0.0.1:${of}`]
    const at = `https://localhost:${server.answer}`
    const direct = (path) => curl(at + path, 'cert.pem', '--noproxy', '*')
    const through = (path) => curl(at + path, 'cert.pem', ...by(port))
    const key = ['-H', `Authorization: Bearer ${PLACEHOLDER}`]
    const keyed = await pairsOf(
      runs * 5,
      () => curl(`${at}/`, 'cert.pem', '--noproxy', '*', ...key),
      () => curl(`https://${MASKED_HOST}/`, 'authority.pem', ...by(maskedPort), ...key),
    )
    const gets = await pairsOf(
      runs * 5,
      () => direct('/'),
      () => through('/'),
    )
    await peak()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const before = await peak()
    const many = await pairsOf(
      3,
      () => direct('/many'),
      () => through('/many'),
    )
    const grown = (await peak()) - before
    // With memory that grows with the bytes, as many again would take more.
    for (let round = 0; round < 4; round++) await through('/many')
    const again = (await peak()) - before
    return [
      [
        'GET by a fresh curl over HTTPS, × direct',
        show(median(gets.map(({ b }) => b))),
        spread(gets.map(({ a, b }) => b / a)),
      ],
      [
        'the same with a masked key, × direct',
        show(median(keyed.map(({ b }) => b))),
        spread(keyed.map(({ a, b }) => b / a)),
      ],
      ['200 MB, × direct', show(median(many.map(({ b }) => b))), spread(many.map(({ a, b }) => b / a))],
      [
        'memory of the proxy at the peak of 800 MB, and of 800 MB more, MiB',
        `${show(grown / MIB)}, ${show(again / MIB)}`,
        '',
      ],
    ]
  } finally {
    for (const { child } of [server, egress, masked, ...relays]) child.kill()
  }
}

async function measureTrue(work, runs) {
  const { createSandbox } = await built('sandbox')
  const workspace = join(work, 'workspace')
  mkdirSync(workspace)
  const sandbox = await createSandbox({ kind: 'local', projectId: 'bench-network', nexusHome: join(work, 'home') })
  const run = async (network) => {
    const at = performance.now()
    const { exitCode, stderr } = await sandbox.run({ command: 'true', workspace, network })
    if (exitCode !== 0) throw new Error(stderr)
    return performance.now() - at
  }
  try {
    const found = await pairsOf(
      runs * 5,
      () => run(undefined),
      () => run({ allowed: [{ host: 'api.github.com' }], denied: [] }),
    )
    return [
      [
        'confined `true` with hosts, × without',
        show(median(found.map(({ b }) => b))),
        spread(found.map(({ a, b }) => b / a)),
      ],
    ]
  } finally {
    await sandbox.close()
  }
}

export async function network(runs) {
  const work = mkdtempSync(join(tmpdir(), 'nexus-bench-network-'))
  chmodSync(work, 0o755)
  try {
    printTable(
      'The way of commands to their hosts',
      ['', 'ms', 'ratio'],
      [...(await measureTrue(work, runs)), ...(await measureRequests(work, runs))],
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
