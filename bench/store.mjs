// What durable state costs: the append of one message to a session (fenced by its lease, with the event of the change) against
// a bare insert of the same text with the same durability: by node:sqlite into a file of its own (WAL, synchronous=FULL), and
// by pg into a table of its own of the same server, where Postgres is installed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openPostgresStore, openSqliteStore } from '../dist/public/local.js'
import { startPostgres, whyNoPostgres } from '../test/store/postgres-server.ts'
import { pairsOf, printTable, ratios, show, spread } from './measure.mjs'

const APPENDS = 100
const MESSAGE = { role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(500) }] }

export async function store({ runs }) {
  await onSqlite(runs)
  const why = whyNoPostgres({})
  if (why === undefined) await onPostgres(runs)
  else console.log(`Postgres was left out: ${why}`)
}

async function onPostgres(runs) {
  const { default: pg } = await import('pg')
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: server.url() })
  try {
    await client.connect()
    await client.query('create table bare (seq bigint generated always as identity primary key, message text not null)')
    const store = await openPostgresStore({ url: server.url(), projectId: 'default' })
    await store.sessions.create({ id: 's', agentId: 'main', title: 'bench' })
    const { lease } = await store.leases.acquire('session:s', { owner: 'bench', ttlMs: 3_600_000 })
    const found = await pairsOf(
      runs,
      () => perAppend(() => client.query('insert into bare (message) values ($1)', [JSON.stringify(MESSAGE)])),
      () => perAppend(() => store.sessions.append('s', [MESSAGE], lease)),
    )
    await store.close()
    print('Postgres', found, 1.3)
  } finally {
    await client.end()
    await server.close()
  }
}

function print(database, found, goal) {
  printTable(
    `One message in ${database}, ${APPENDS} appends a run`,
    ['bare insert, ms', 'append to a session, ms', 'ratio'],
    [[spread(found.map(({ a }) => a.ms)), spread(found.map(({ b }) => b.ms)), spread(ratios(found, 'ms'))]],
  )
  console.log(`goal: ratio ≤ ${show(goal)}`)
}

async function onSqlite(runs) {
  const work = mkdtempSync(join(tmpdir(), 'nexus-bench-store-'))
  try {
    const store = await openSqliteStore({ path: join(work, 'nexus.db'), projectId: 'default' })
    await store.sessions.create({ id: 's', agentId: 'main', title: 'bench' })
    const { lease } = await store.leases.acquire('session:s', { owner: 'bench', ttlMs: 3_600_000 })
    const bare = new DatabaseSync(join(work, 'bare.db'))
    bare.exec('pragma journal_mode = wal; pragma synchronous = full')
    bare.exec('create table messages (seq integer primary key autoincrement, message text not null) strict')
    const insert = bare.prepare('insert into messages (message) values (?)')
    const found = await pairsOf(
      runs,
      () => perAppend(async () => void insert.run(JSON.stringify(MESSAGE))),
      () => perAppend(() => store.sessions.append('s', [MESSAGE], lease)),
    )
    bare.close()
    await store.close()
    print('SQLite', found, 1.5)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function perAppend(append) {
  const startedAt = performance.now()
  for (let index = 0; index < APPENDS; index++) await append()
  return { ms: (performance.now() - startedAt) / APPENDS }
}
