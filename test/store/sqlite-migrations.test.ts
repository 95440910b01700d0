import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { openSqliteStore } from '../../src/store/index.ts'
import { openConnection, SQLITE_SCHEMA } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import { migrationsOf } from '../../src/store/sql/migrations.ts'
import { sqliteStatus } from '../../src/store/sqlite/sqlite-store.ts'
import { inspectMigrated, makeFirstSchema } from './first-schema.ts'
import { failsFor, withSession } from './state-file.ts'

const MIGRATIONS = migrationsOf(SQLITE_SCHEMA.dialect)
/** Lower numbers were used before the first release. */
const FIRST = 9
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nexus-store-'))
})
after(() => rm(directory, { recursive: true }))

const open = (path: string, projectId = 'default') => openSqliteStore({ path, projectId })

describe('migrations', () => {
  it('are numbered without gaps and applied once', async () => {
    assert.deepEqual(
      MIGRATIONS.map(({ version }) => version),
      MIGRATIONS.map((_, index) => FIRST + index),
    )
    const path = join(directory, 'twice.db')
    await withSession(path)
    await (await open(path)).close()
    const connection = await openConnection(path)
    assert.equal((await connection.all('select version from migrations')).length, MIGRATIONS.length)
    await connection.close()
  })

  it('keep the rows of every kind that the first schema had', async () => {
    const path = join(directory, 'first.db')
    const connection = await openConnection(path)
    await makeFirstSchema(connection, SQLITE_SCHEMA)
    await connection.close()
    const store = await open(path)
    await inspectMigrated(store)
    await store.close()
  })

  it('happen whole or not at all', async () => {
    const path = join(directory, 'half.db')
    await withSession(path)
    const connection = await openConnection(path)
    const version = FIRST + MIGRATIONS.length
    const statements = ['create table extra (project_id text)', 'create table sessions (project_id text)']
    await assert.rejects(
      migrate(connection, SQLITE_SCHEMA, [...MIGRATIONS, { version, name: 'bad', statements }]),
      failsFor(path, /already exists/),
    )
    assert.equal((await connection.get(`select count(*) as n from sqlite_schema where name = 'extra'`))?.['n'], 0)
    assert.equal((await connection.get('select max(version) as v from migrations'))?.['v'], version - 1)
    await connection.close()
    const store = await open(path)
    assert.equal((await store.sessions.get('s'))?.title, 'kept')
    await store.close()
  })

  it('refuse a file from before the first release, and leave it as it is', async () => {
    for (const version of [1, FIRST - 1]) {
      const path = join(directory, `unreleased-${version}.db`)
      const connection = await openConnection(path)
      await migrate(connection, SQLITE_SCHEMA, [{ version, name: 'unreleased', statements: ['create table kept (x)'] }])
      await connection.close()
      const before = readFileSync(path)
      await assert.rejects(open(path), failsFor(path, new RegExp(`before the first release \\(schema ${version}\\)`)))
      await assert.rejects(sqliteStatus(path), failsFor(path, /before the first release/))
      assert.ok(before.equals(readFileSync(path)))
    }
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
