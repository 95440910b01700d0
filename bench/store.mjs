// What durable state costs: the append of one message to a session (fenced by its lease, with the event of the change) against
// a bare insert of the same text by node:sqlite, into a file of its own with the same durability (WAL, synchronous=FULL).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../dist/public/local.js'
import { pairsOf, printTable, ratios, show, spread } from './measure.mjs'

const APPENDS = 100
const MESSAGE = { role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(500) }] }

export async function store({ runs }) {
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
    printTable(
      `One message, ${APPENDS} appends a run`,
      ['bare insert, ms', 'append to a session, ms', 'ratio'],
      [[spread(found.map(({ a }) => a.ms)), spread(found.map(({ b }) => b.ms)), spread(ratios(found, 'ms'))]],
    )
    console.log(`goal: ratio ≤ ${show(1.5)}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function perAppend(append) {
  const startedAt = performance.now()
  for (let index = 0; index < APPENDS; index++) await append()
  return { ms: (performance.now() - startedAt) / APPENDS }
}
