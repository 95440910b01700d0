import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { openSqliteStore } from '../../src/store/index.ts'
import { openConnection } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import { migrationsOf } from '../../src/store/sql/migrations.ts'
import { sqliteStatus } from '../../src/store/sqlite/status.ts'
import { SQLITE_SCHEMA } from '../../src/store/sqlite/schema.ts'
import { failsFor, withSession } from './state-file.ts'

const MIGRATIONS = migrationsOf(SQLITE_SCHEMA.dialect)
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nexus-store-'))
})
after(() => rm(directory, { recursive: true }))

const open = (path: string, projectId = 'default') => openSqliteStore({ path, projectId })

const call = (id: string, projectId = 'default') =>
  JSON.stringify({ id, projectId, agentId: 'main', origin: 'cli', tool: 'echo', arguments: {} })
const ledgerRow = (
  [project, seq, id, state]: readonly [string, number, string, string],
  { decision = 'allow', outcome }: { decision?: string; outcome?: string } = {},
) => `insert into ledger_entries
  (project_id, seq, call_id, opener, call, decision, state, outcome, opened_at, closed_at)
  values ('${project}', ${seq}, '${id}', 'gone', '${call(id, project)}', '{"type":"${decision}"}', '${state}',
    ${outcome === undefined ? 'null, 1, null' : `'{"type":"${outcome}"}', 1, 2`})`
const SNAPSHOT = '{"loaded":[{"address":"local/pdf","name":"pdf","baseDir":"/pdf","treeDigest":"sha256:00"}]}'
/** What an installation of the first schema contains. */
const FIRST_SCHEMA_ROWS = [
  ledgerRow(['other', 1, 'done', 'closed'], { outcome: 'success' }),
  ledgerRow(['default', 1, 'done', 'closed'], { outcome: 'success' }),
  ledgerRow(['default', 2, 'failed', 'closed'], { outcome: 'failed' }),
  ledgerRow(['default', 3, 'denied', 'closed'], { decision: 'deny', outcome: 'failed' }),
  ledgerRow(['default', 4, 'cut', 'interrupted'], { outcome: 'failed' }),
  ledgerRow(['default', 5, 'open', 'open']),
  `insert into sessions values ('default', 1, 's', 'main', 'a "title"', 1, 1, 3, '${SNAPSHOT}', 'running', 'gone')`,
  `insert into sessions values ('default', 2, 'later', 'main', '', 1, 1, 0, null, 'idle', null)`,
  `insert into session_messages values ('default', 's', 2, '{"role":"user","content":"second"}')`,
  `insert into session_messages values ('default', 's', 1, '{"role":"user","content":"first"}')`,
  `insert into session_messages values ('default', 's', 3, '{"role":"user","content":"third"}')`,
]

describe('migrations', () => {
  it('are numbered from 1 without gaps and applied once', async () => {
    assert.deepEqual(
      MIGRATIONS.map(({ version }) => version),
      MIGRATIONS.map((_, index) => index + 1),
    )
    const path = join(directory, 'twice.db')
    await withSession(path)
    await (await open(path)).close()
    const connection = await openConnection(path)
    assert.equal((await connection.all('select version from migrations')).length, MIGRATIONS.length)
    await connection.close()
  })

  it('happen whole or not at all', async () => {
    const path = join(directory, 'half.db')
    await withSession(path)
    const connection = await openConnection(path)
    const version = MIGRATIONS.length + 1
    const statements = ['create table extra (project_id text)', 'create table sessions (project_id text)']
    await assert.rejects(
      migrate(connection, SQLITE_SCHEMA, [...MIGRATIONS, { version, name: 'bad', statements }]),
      failsFor(path, /already exists/),
    )
    assert.equal((await connection.get(`select count(*) as n from sqlite_schema where name = 'extra'`))?.['n'], 0)
    assert.equal((await connection.get('select max(version) as v from migrations'))?.['v'], MIGRATIONS.length)
    await connection.close()
    const store = await open(path)
    assert.equal((await store.sessions.get('s'))?.title, 'kept')
    await store.close()
  })

  it('keep the rows of a file of the first schema, in their order', async () => {
    const path = join(directory, 'first-schema.db')
    const connection = await openConnection(path)
    await migrate(connection, SQLITE_SCHEMA, MIGRATIONS.slice(0, 1))
    for (const statement of FIRST_SCHEMA_ROWS) await connection.run(statement)
    await connection.close()
    const store = await open(path)
    assert.deepEqual(
      (await store.ledger.list()).map(({ call, state, closedAt }) => [call.id, state, closedAt]),
      [
        ['done', 'done', 2],
        ['failed', 'failed', 2],
        ['denied', 'denied', 2],
        ['cut', 'interrupted', 2],
        ['open', 'started', undefined],
      ],
    )
    const { loaded, ...session } = (await store.sessions.get('s')) ?? assert.fail('the session is lost')
    assert.deepEqual(loaded, [{ address: 'local/pdf', name: 'pdf', baseDir: '/pdf', treeDigest: 'sha256:00' }])
    assert.deepEqual([session.title, session.messageCount], ['a "title"', 3])
    assert.deepEqual(
      (await store.sessions.messages('s')).map(({ content }) => content),
      ['first', 'second', 'third'],
    )
    assert.deepEqual(
      (await store.sessions.list()).map(({ id }) => id),
      ['later', 's'],
    )
    const other = await open(path, 'other')
    assert.deepEqual((await other.ledger.get('done'))?.call.projectId, 'other')
    assert.equal((await other.ledger.list()).length, 1)
    assert.deepEqual(await store.reclaim(), { calls: 1, turns: 0, approvals: 0 })
    await store.close()
    await other.close()
    const raw = new DatabaseSync(path)
    assert.equal(raw.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok')
    assert.deepEqual(raw.prepare('pragma foreign_key_check').all(), [])
    raw.close()
  })

  it('keep an answer that was remembered without a scope, and apply it to no call', async () => {
    const path = join(directory, 'third-schema.db')
    const connection = await openConnection(path)
    await migrate(connection, SQLITE_SCHEMA, MIGRATIONS.slice(0, 3))
    await connection.run(`insert into remembered_approvals
      (project_id, id, agent_path, tool, match, text, created_at, answered_by)
      values ('default', 'r1', 'main', 'run_command', 'exact', '"make"', 1, 'ada')`)
    await connection.close()
    const store = await open(path)
    assert.deepEqual(
      (await store.approvals.remembered()).map(({ id, scope }) => [id, scope]),
      [['r1', undefined]],
    )
    assert.deepEqual(await store.approvals.remembered({ agentPath: 'main', tool: 'run_command' }), [])
    await store.close()
  })

  it('keep a session that was started without a scope, and list it with all only', async () => {
    const path = join(directory, 'fourth-schema.db')
    const connection = await openConnection(path)
    await migrate(connection, SQLITE_SCHEMA, MIGRATIONS.slice(0, 4))
    await connection.run(`insert into sessions (project_id, id, agent_id, title, created_at, updated_at, loaded)
      values ('default', 'old', 'main', '"Make a report"', 1, 1, '[]')`)
    await connection.close()
    const store = await open(path)
    assert.deepEqual(
      (await store.sessions.list()).map(({ id, scope }) => [id, scope]),
      [['old', undefined]],
    )
    assert.deepEqual(await store.sessions.list({ scope: '' }), [])
    await store.close()
  })

  it('refuse a newer schema and the database of another program, and change neither', async () => {
    const newer = join(directory, 'newer.db')
    await withSession(newer)
    const database = new DatabaseSync(newer)
    database.exec(`insert into migrations values (999, 'from the future', 0)`)
    database.close()
    await assert.rejects(open(newer), failsFor(newer, /newer Nexus \(schema 999, this one knows/))
    const foreign = join(directory, 'foreign.db')
    const other = new DatabaseSync(foreign)
    other.exec('create table migrations (version integer); insert into migrations values (1)')
    other.close()
    const before = readFileSync(foreign)
    await assert.rejects(open(foreign), failsFor(foreign, /another program/))
    await assert.rejects(sqliteStatus(foreign), failsFor(foreign, /another program/))
    // Not even the journal mode in its header.
    assert.ok(before.equals(readFileSync(foreign)))
    const again = new DatabaseSync(foreign)
    assert.deepEqual(
      again
        .prepare('select name from sqlite_schema')
        .all()
        .map((row) => row['name']),
      ['migrations'],
    )
    again.close()
  })
})
