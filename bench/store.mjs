// What durable state costs: the append of one message to a session (fenced by its lease, with the event of the change) against
// a bare insert of the same text with the same durability: by node:sqlite into a file of its own (WAL, synchronous=FULL), and
// by pg into a table of its own of the same server, where Postgres is installed. And saving 200 MB of output as a blob against
// `cp` of a file of that size and `sha256sum` of it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openPostgresStore, openSqliteStore } from '../dist/public/local.js'
import { createMemoryStore, openBlobFiles } from '../src/store/index.ts'
import { startPostgres, whyNoPostgres } from '../test/store/postgres-server.ts'
import { pairsOf, printTable, ratios, show, spread } from './measure.mjs'

const APPENDS = 100
const MESSAGE = { role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(500) }] }

export async function store({ runs }) {
  await onSqlite(runs)
  await saving(runs)
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
    print('Postgres', found, 2.5)
    await waking('Postgres', () => openPostgresStore({ url: server.url(), projectId: 'waking' }), 20)
  } finally {
    await client.end()
    await server.close()
  }
}

const ANSWERS = 20

/** From the answer of one connection, as that of another process, to the start of the call by its owner. */
async function waking(database, open, goal) {
  const [owner, other] = [await open(), await open()]
  const acquired = await owner.leases.acquire('process:bench', { owner: 'bench', ttlMs: 3_600_000 })
  const allow = { type: 'allow', rule: 'bench', chain: [], limits: {} }
  const decision = { ...allow, type: 'ask', question: 'Run it?' }
  const approval = { command: 'x', ttlMs: 60_000 }
  const times = []
  for (let index = 0; index < ANSWERS; index++) {
    const id = `c${index}`
    const call = { id, projectId: 'waking', agentId: 'main', origin: 'library', tool: 'x', arguments: {} }
    await owner.ledger.record({ call, decision, approval: { ...approval, id }, lease: acquired.lease })
    const answered = Promise.withResolvers()
    const stop = await owner.events.follow((event) => event?.type === 'approval.allowed' && answered.resolve())
    // A connection that listens is made once a process.
    if (index === 0) await new Promise((resolve) => setTimeout(resolve, 500))
    const startedAt = performance.now()
    await other.approvals.answer(id, { isAllowed: true, by: 'bench', kind: 'person' })
    await answered.promise
    await owner.ledger.start(id, allow, acquired.lease)
    times.push(performance.now() - startedAt)
    stop()
  }
  await Promise.all([owner.close(), other.close()])
  printTable(`From an answer to the start of its call in ${database}, ${ANSWERS} times`, ['ms'], [[spread(times)]])
  console.log(`goal: ≤ ${show(goal)} ms`)
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
    await waking('SQLite', () => openSqliteStore({ path: join(work, 'nexus.db'), projectId: 'waking' }), 600)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const SAVED_BYTES = 200_000_000
const CHUNK = Buffer.alloc(65_536, 'output of a command\n')

async function saving(runs) {
  const work = mkdtempSync(join(tmpdir(), 'nexus-bench-blobs-'))
  try {
    const [source, copy] = [join(work, 'source'), join(work, 'copy')]
    writeFileSync(source, Buffer.alloc(SAVED_BYTES, CHUNK))
    const { blobs: references } = await createMemoryStore({ projectId: 'bench' })
    const blobs = await openBlobFiles({ directory: join(work, 'blobs'), references })
    let grown = 0
    const found = await pairsOf(
      runs,
      async () => {
        rmSync(copy, { force: true })
        const startedAt = performance.now()
        spawnSync('cp', [source, copy])
        spawnSync('sha256sum', [copy])
        return { ms: performance.now() - startedAt }
      },
      async () => {
        const before = process.memoryUsage.rss()
        const startedAt = performance.now()
        const writer = blobs.create({ maxBytes: SAVED_BYTES })
        for (let left = SAVED_BYTES; left > 0; left -= CHUNK.length) writer.write(CHUNK.subarray(0, left))
        const { id } = await writer.save({ name: 'stdout' })
        const ms = performance.now() - startedAt
        grown = Math.max(grown, process.memoryUsage.rss() - before)
        await references.remove(id)
        await blobs.collect()
        return { ms }
      },
    )
    printTable(
      'Saving 200 MB of output',
      ['cp and sha256sum, ms', 'save, ms', 'ratio'],
      [[spread(found.map(({ a }) => a.ms)), spread(found.map(({ b }) => b.ms)), spread(ratios(found, 'ms'))]],
    )
    console.log(`goal: ratio ≤ ${show(1.3)}; memory grew by at most ${show(grown / 1_048_576)} MiB`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function perAppend(append) {
  const startedAt = performance.now()
  for (let index = 0; index < APPENDS; index++) await append()
  return { ms: (performance.now() - startedAt) / APPENDS }
}
