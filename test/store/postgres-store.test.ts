import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, it, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { isNexusError } from '../../src/kernel/index.ts'
import { createApprovals } from '../../src/runtime/index.ts'
import { openDatabase, openPostgresStore, sessionLease, type Store } from '../../src/store/index.ts'
import { SQLITE_SCHEMA } from '../../src/store/sqlite/connection.ts'
import { migrationsOf } from '../../src/store/sql/migrations.ts'
import { plainConnection, postgresSchema } from '../../src/store/postgres/schema.ts'
import { openPool, POOL_LIMITS } from '../../src/store/postgres/pool.ts'
import { storeContract } from '../../src/testing/store/contract.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { inspectMigrated, makeFirstSchema } from './first-schema.ts'
import { PASSWORD, startPostgres, type TestServer, whyNoPostgres } from './postgres-server.ts'
import { endChildren, ended, start } from './processes.ts'
import { type ResetProxy, startResetProxy } from './reset-proxy.ts'

const skip = whyNoPostgres() ?? false
let server: TestServer
before(async () => {
  if (skip !== false) return
  server = await startPostgres()
  await server.create('pooled')
  await server.query(`alter database pooled set search_path = 'elsewhere'`, 'postgres')
  await server.query(`alter database pooled set default_transaction_isolation = 'serializable'`, 'postgres')
})
after(async () => {
  endChildren()
  await server?.close()
})

const open = (url = server.url(), projectId = 'default') => openPostgresStore({ url, projectId })

describe('on a Postgres server', { skip }, () => {
  // One database for all projects: that is how they would meet.
  storeContract('postgres', (options) =>
    openPostgresStore({ ...options, url: server.url(), pool: { maxConnections: 2, idleTimeoutMs: 500 } }),
  )
})

describe('behind a pooler that gives each transaction a fresh session', { skip }, () => {
  let proxy: ResetProxy
  before(async () => {
    proxy = await startResetProxy(server.port)
  })
  after(async () => {
    assert.ok(proxy.resets > 1_000, `only ${proxy.resets} resets`)
    await proxy.close()
  })
  storeContract('postgres, with settings that name other tables', async (options) => {
    const url = server.url('pooled', proxy.port)
    return openPostgresStore({ ...options, url, pool: { maxConnections: 2, idleTimeoutMs: 500 } })
  })
})

describe('stores of one Postgres database', { skip }, () => {
  it('share its connections; closing one leaves the others open', async () => {
    const database = await openDatabase({ type: 'postgres', url: server.url(), pool: { maxConnections: 2 } })
    const stores = ['p1', 'p2', 'p3'].map((projectId) => database.project(projectId))
    await Promise.all(stores.map((store) => store.sessions.create({ id: 's', agentId: store.projectId, title: '' })))
    await stores[0]?.close()
    const agents = await Promise.all(stores.slice(1).map((store) => store.sessions.get('s')))
    assert.deepEqual(
      agents.map((session) => session?.agentId),
      ['p2', 'p3'],
    )
    await database.close()
    await assert.rejects(database.project('p2').sessions.get('s'), /closed/)
  })
})

describe('who follows a project in a Postgres database', { skip }, () => {
  /** A store that follows through a proxy or directly, another one that writes, and the ids that arrived. */
  async function following(t: TestContext, port: number, projectId: string) {
    const [reader, writer] = [await open(server.url('nexus', port), projectId), await open(server.url(), projectId)]
    t.after(() => Promise.all([reader.close(), writer.close()]))
    const seen: string[] = []
    const stop = await reader.events.follow((event) => event?.sessionId && seen.push(event.sessionId))
    t.after(stop)
    return {
      async write(id: string) {
        await writer.sessions.create({ id, agentId: 'main', title: '' })
        const acquired = await writer.leases.acquire(sessionLease(id), { owner: 'test', ttlMs: 60_000 })
        // Its release is what wakes others.
        if (acquired.type === 'acquired') await writer.leases.release(acquired.lease)
      },
      async arrived(ids: readonly string[]) {
        while (seen.length < 2 * ids.length) await sleep(5)
        assert.deepEqual(
          seen,
          ids.flatMap((id) => [id, id]),
        )
      },
    }
  }

  it('is told by the server when another process commits, and again after lost connections', async (t) => {
    const proxy = await startFaultProxy(server.port)
    t.after(() => proxy.close())
    const { write, arrived } = await following(t, proxy.port, 'told')
    await write('first')
    await arrived(['first'])
    const startedAt = performance.now()
    for (const id of ['a', 'b', 'c', 'd']) await write(id)
    await arrived(['first', 'a', 'b', 'c', 'd'])
    assert.ok(performance.now() - startedAt < 1_500, 'it came by looking only')
    proxy.refuse(true)
    await write('missed')
    proxy.refuse(false)
    await arrived(['first', 'a', 'b', 'c', 'd', 'missed'])
  })

  it('looks every 2 s where a pooler keeps what the server says', async (t) => {
    const proxy = await startResetProxy(server.port)
    t.after(() => proxy.close())
    const { write, arrived } = await following(t, proxy.port, 'looks')
    await write('one')
    await arrived(['one'])
  })
})

test('100 open questions that a process waits for make no change in a second', { skip }, async () => {
  const store = await open(await server.create('questions'))
  const acquired = await store.leases.acquire('process:one', { owner: 'one', ttlMs: 60_000 })
  assert.ok(acquired.type === 'acquired')
  const { lease } = acquired
  const decision = { type: 'ask', rule: 'ask: x', chain: [], limits: {}, question: 'Run it?' } as const
  const broker = createApprovals(store, { waitForAnswers: true })
  const asking = new AbortController()
  const waiting: Promise<unknown>[] = []
  for (let index = 0; index < 100; index++) {
    const id = `c${index}`
    const call = { id, projectId: 'default', agentId: 'main', origin: 'library', tool: 'x', arguments: {} } as const
    await store.ledger.record({
      call,
      decision,
      lease,
      approval: { id, command: 'x', ttlMs: 60_000 },
    })
    waiting.push(broker.ask(id, { call: { ...call, agentPath: 'main' }, question: 'Run it?', signal: asking.signal }))
  }
  const changes = async (): Promise<number> => {
    const { rows } = await server.query('select sum(change)::int as changes from nexus.writers', 'questions')
    return Number((rows[0] as { changes: number }).changes)
  }
  const before = await changes()
  assert.ok(before >= 100)
  await sleep(1_000)
  assert.equal(await changes(), before)
  asking.abort()
  await Promise.all(waiting)
  await store.close()
})

/** STORE_FAILED with these words in message and fix; neither it nor its causes show the password. */
async function fails(opening: Promise<Store>, message: RegExp, fix: RegExp): Promise<void> {
  await assert.rejects(opening, (error) => {
    assert.ok(isNexusError(error), String(error))
    assert.equal(error.code, 'STORE_FAILED')
    assert.match(error.message, message)
    assert.match(error.fix ?? '', fix)
    const shown = inspect(error, { depth: 9, showHidden: true })
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) assert.ok(!shown.includes(secret), shown)
    return true
  })
}

describe('a Postgres database', { skip }, () => {
  it('keeps the rows of every kind that the first schema had', async () => {
    const url = await server.create('first')
    const connections = await openPool(url, POOL_LIMITS)
    await makeFirstSchema(plainConnection(connections), postgresSchema(connections.target))
    await connections.close()
    const store = await open(url)
    await inspectMigrated(store)
    await store.close()
  })

  it('is made and migrated once when many processes arrive together', async () => {
    const url = await server.create('together')
    const openers = Array.from({ length: 4 }, () => start('open-store.ts', url))
    const ends = openers.map(ended)
    for (const child of openers) child.stdin?.end()
    assert.deepEqual(await Promise.all(ends), [0, 0, 0, 0])
    const { rows } = await server.query('select version from nexus.migrations order by version', 'together')
    assert.deepEqual(
      rows.map((row: { version: number }) => Number(row.version)),
      migrationsOf(SQLITE_SCHEMA.dialect).map(({ version }) => version),
    )
    const store = await open(url)
    assert.equal((await store.sessions.list()).length, 4)
    await store.close()
  })

  it('keeps its tables apart from those of other programs, each with the project first in every key', async () => {
    const url = await server.create('shared')
    await server.query('create table public.sessions (theirs int); insert into public.sessions values (1)', 'shared')
    await (await open(url)).close()
    const { rows } = await server.query(
      `select tablename, indexdef from pg_indexes where schemaname = 'nexus' and tablename <> 'migrations'
        and indexdef !~ '\\((seq|id|fence)\\)'`,
      'shared',
    )
    assert.ok(rows.length >= 20, `only ${rows.length} indexes`)
    for (const { tablename, indexdef } of rows as { tablename: string; indexdef: string }[])
      assert.match(indexdef, /\(project_id[,)]/, `${tablename}: ${indexdef}`)
    const columns = await server.query(
      `select count(distinct table_name) filter (where column_name = 'project_id' and is_nullable = 'NO') as scoped,
        count(distinct table_name) as tables
        from information_schema.columns where table_schema = 'nexus' and table_name <> 'migrations'`,
      'shared',
    )
    assert.deepEqual(columns.rows, [{ scoped: '12', tables: '12' }])
    assert.equal((await server.query('select theirs from public.sessions', 'shared')).rows.length, 1)
  })

  it('measures leases by its own clock, whatever the clock of the engine says', async () => {
    const store = await open(server.url(), 'clock')
    const acquired = await store.leases.acquire('x', { owner: 'one', ttlMs: 60_000 })
    assert.ok(acquired.type === 'acquired')
    const { rows } = await server.query('select extract(epoch from clock_timestamp()) * 1000 as now')
    const left = acquired.lease.expiresAt - Number((rows as { now: string }[])[0]?.now)
    assert.ok(left > 0 && left <= 60_000, String(left))
    await store.close()
  })

  it('is refused with the exact reason and the fix when it cannot be used', async () => {
    const at = `127\\.0\\.0\\.1:${server.port}`
    const wrong = server.url().replace('nexus:', 'stranger:')
    await fails(open(wrong), new RegExp(`nexus on ${at} refused the login: password`), /user and password in store.url/)
    await fails(open(server.url('missing')), /"missing" does not exist/, /^createdb -h 127\.0\.0\.1 -p \d+ missing$/)
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    for (const mode of ['prefer', 'require', 'verify-ca'])
      await fails(open(`${server.url()}?sslmode=${mode}`), /over TLS: .*SSL/, /sslmode/)
    process.off('warning', onWarning)
    assert.deepEqual(warnings, [])
    for (const typo of ['nexus:p@ss/w:rd-7f3a@h/x', 'nexus:1/p@ss/w:rd-7f3a@h/x', 'nexus:1?p@ss/w:rd-7f3a@h/x', '[/x'])
      await fails(open(`postgres://${typo}`), /not an address/, /percent form/)
    await fails(open('mysql://h/x'), /not an address/, /postgres:/)
    const encoded = await server.create('latin', `encoding 'LATIN1' template template0`)
    await fails(open(encoded), /its encoding is LATIN1, and Nexus needs UTF8/, /-E UTF8/)
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const address = closed.address()
    closed.close()
    const port = typeof address === 'object' && address ? address.port : 0
    await fails(open(server.url('nexus', port)), /cannot be reached: connect ECONNREFUSED/, /pg_isready -h/)
  })

  it('is refused when its user may not make a schema', async () => {
    await server.query(`create user reader password 'p@ss/w:rd-7f3a'`)
    const url = await server.create('locked')
    await fails(
      open(url.replace('nexus:', 'reader:')),
      /permission denied for database locked/,
      /grant create on database "locked"/,
    )
  })

  it('is left as it is when it belongs to a newer or an unreleased Nexus, or to another program', async () => {
    const newer = await server.create('newer')
    await (await open(newer)).close()
    await server.query(`insert into nexus.migrations values (99, 'later', 0)`, 'newer')
    await fails(open(newer), /newer on .* was written by a newer Nexus \(schema 99/, /npm install -g/)
    const older = await server.create('older')
    await (await open(older)).close()
    await server.query(
      'delete from nexus.migrations where version > 9; update nexus.migrations set version = 1',
      'older',
    )
    await fails(open(older), /before the first release \(schema 1\)/, /drop schema nexus cascade/)
    const foreign = await server.create('foreign_one')
    await server.query('create schema nexus; create table nexus.theirs (x int)', 'foreign_one')
    await fails(open(foreign), /schema "nexus" of another program/, /another database/)
  })

  it('is read on when another process changes its tables meanwhile', async () => {
    const url = await server.create('changed')
    const store = await open(url)
    await store.events.append({ type: 'x.y' })
    assert.equal((await store.events.after(0)).length, 1)
    await server.query('alter table nexus.events add column more text', 'changed')
    assert.equal((await store.events.after(0)).length, 1)
    await store.close()
  })

  it('names a store that was closed', async () => {
    const store = await open()
    await store.close()
    await store.close()
    await fails(store.sessions.list() as unknown as Promise<Store>, /is closed/, /store of its own/)
  })
})
