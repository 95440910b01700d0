import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../../src/store/index.ts'
import { failsFor, withSession } from './state-file.ts'
import { openConnection, SQLITE_SCHEMA } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sql/migrate.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nexus-store-'))
})
after(() => rm(directory, { recursive: true }))

const TABLES = [
  'agents',
  'approvals',
  'blob_references',
  'events',
  'leases',
  'ledger_entries',
  'remembered_approvals',
  'session_messages',
  'sessions',
  'trims',
  'turns',
]

const open = (path: string, projectId = 'default') => openSqliteStore({ path, projectId })

describe('the state file', () => {
  it('gives timers and sockets their turn while a thousand changes wait, and removes old sessions in parts', async () => {
    const store = await open(join(directory, 'thousand.db'))
    let [turns, isOver] = [0, false]
    const turn = (): void => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const ids = Array.from({ length: 1_000 }, (_, index) => `s${index}`)
    await Promise.all(ids.map((id) => store.sessions.create({ id, agentId: 'main', title: '' })))
    isOver = true
    assert.ok(turns > 5, `the event loop had ${turns} turns`)
    const sessions = { maxRows: 750 }
    const parts = [await store.retain({ sessions }), await store.retain({ sessions })]
    assert.deepEqual(parts, [
      { sessions: 200, calls: 0, isMore: true },
      { sessions: 50, calls: 0, isMore: false },
    ])
    const left = (await store.sessions.list()).map(({ id }) => id)
    assert.deepEqual(left.toReversed(), ids.slice(250), 'the longest unused went')
    await store.close()
  })

  it(
    'a state file where nothing can be made is refused at once, with what to set',
    { skip: process.platform !== 'linux' },
    async () => {
      await assert.rejects(openSqliteStore({ path: '/proc/x/nexus.db', projectId: 'default' }), {
        code: 'STORE_FAILED',
        fix: /NEXUS_STATE_DIR/,
      })
    },
  )

  it('is private, and so are the directories made for it', { skip: process.platform === 'win32' }, async () => {
    const path = join(directory, 'private/state/nexus.db')
    const store = await open(path)
    await store.sessions.create({ id: 's', agentId: 'main', title: '' })
    for (const name of await readdir(dirname(path))) {
      assert.equal((await stat(join(dirname(path), name))).mode & 0o777, 0o600, name)
    }
    assert.equal((await stat(dirname(path))).mode & 0o777, 0o700)
    assert.equal((await stat(join(directory, 'private'))).mode & 0o777, 0o700)
    await store.close()
  })

  it('uses a write-ahead log and waits for the disk at every commit', async () => {
    const connection = await openConnection(join(directory, 'pragmas.db'))
    assert.equal((await connection.get('pragma journal_mode'))?.['journal_mode'], 'wal')
    assert.equal((await connection.get('pragma synchronous'))?.['synchronous'], 2)
    assert.equal((await connection.get('pragma busy_timeout'))?.['timeout'], 0)
    assert.equal((await connection.get('pragma foreign_keys'))?.['foreign_keys'], 1)
    await connection.close()
    await connection.close()
    await assert.rejects(connection.get('select 1'), failsFor('pragmas.db', /closed/))
  })

  it('is left as it is when it is no database', async () => {
    const path = join(directory, 'text.db')
    await writeFile(path, 'these are my notes, not a database\n'.repeat(100))
    const before = await readFile(path)
    await assert.rejects(open(path), failsFor(path, /damaged/))
    assert.deepEqual(await readFile(path), before)
  })

  it('is left as it is when it was cut short or overwritten', async () => {
    const whole = join(directory, 'whole.db')
    await withSession(whole)
    const { size } = await stat(whole)
    const cut = join(directory, 'cut.db')
    await writeFile(cut, await readFile(whole))
    await truncate(cut, Math.floor(size / 2))
    const bytes = await readFile(whole)
    bytes.fill(0xa5, 4096)
    const garbled = join(directory, 'garbled.db')
    await writeFile(garbled, bytes)
    for (const path of [cut, garbled]) {
      const before = await readFile(path)
      const read = async () => {
        const store = await open(path)
        try {
          await store.sessions.messages('s')
        } finally {
          await store.close()
        }
      }
      await assert.rejects(read(), failsFor(path, /damaged/))
      assert.deepEqual(await readFile(path), before)
    }
  })

  it('says what is wrong when it cannot be made or opened', async () => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    await assert.rejects(open(join(file, 'nexus.db')), failsFor(join(file, 'nexus.db'), /cannot be used/))
    await mkdir(join(directory, 'folder.db'))
    await assert.rejects(open(join(directory, 'folder.db')), failsFor('folder.db', /cannot be used/))
  })

  it(
    'says that it cannot be written',
    { skip: process.getuid?.() === 0 ? 'root may write everything' : false },
    async () => {
      const path = join(directory, 'read-only/nexus.db')
      await withSession(path)
      await chmod(path, 0o400)
      await assert.rejects(
        async () => {
          const store = await open(path)
          try {
            await store.sessions.create({ id: 'new', agentId: 'main', title: '' })
          } finally {
            await store.close()
          }
        },
        failsFor(path, /cannot be used/),
      )
    },
  )

  it('is refused after 5 s when another process does not let go of it; the event loop goes on meanwhile', async () => {
    const path = join(directory, 'busy.db')
    await withSession(path)
    const connection = await openConnection(path)
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    const { ticks, stop } = countTicks()
    await assert.rejects(
      connection.transaction(async () => {}),
      failsFor(path, /in use by another process/),
    )
    stop()
    assert.ok(ticks() > 1, 'the event loop stood still')
    other.exec('rollback')
    assert.equal(await connection.transaction(async () => 5), 5)
    other.close()
    await connection.close()
  })

  it('waits for another writer, inside and outside of a transaction, until it lets go', async () => {
    const path = join(directory, 'waits.db')
    await withSession(path)
    const connection = await openConnection(path)
    const other = new DatabaseSync(path)
    const writes = [
      () => connection.transaction((tx) => tx.run(`update sessions set title = '"a"'`)),
      () => connection.run(`update sessions set title = '"b"'`),
      () => connection.get(`update sessions set title = '"c"' returning title`),
    ]
    for (const write of writes) {
      other.exec('begin immediate')
      let isWritten = false
      const written = write().then(() => (isWritten = true))
      const { ticks, stop } = countTicks()
      while (ticks() < 5) await delay(20)
      stop()
      assert.equal(isWritten, false)
      other.exec('rollback')
      await written
    }
    other.close()
    await connection.close()
  })

  it('serves stores of two projects and two of one project in one process, opened and written at once', async () => {
    const path = join(directory, 'shared/nexus.db')
    const stores = await Promise.all(['one', 'two', 'two'].map((projectId) => open(path, projectId)))
    await Promise.all(
      stores.flatMap((store, index) =>
        Array.from({ length: 40 }, (_, at) =>
          store.sessions.create({ id: `${index}-${at}`, agentId: 'main', title: '' }),
        ),
      ),
    )
    assert.deepEqual(
      await Promise.all(stores.map(async ({ sessions }) => (await sessions.list()).length)),
      [40, 80, 80],
    )
    for (const store of stores) await store.close()
  })
})

/** Turns of an event loop that is not stopped: a timer of 20 ms. */
function countTicks(): { ticks: () => number; stop: () => void } {
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), 20)
  return { ticks: () => ticks, stop: () => clearInterval(timer) }
}

describe('project scope', () => {
  it('is part of every table and of every statement', async () => {
    const connection = await openConnection(join(directory, 'scope.db'))
    await migrate(connection, SQLITE_SCHEMA)
    const named = `select name from sqlite_schema where type = 'table' and name not in ('migrations', 'sqlite_sequence')`
    const tables = (await connection.all(named)).map(({ name }) => String(name))
    assert.deepEqual(tables.toSorted(), TABLES)
    for (const table of tables) {
      const columns = await connection.all(`select name, "notnull" from pragma_table_info('${table}')`)
      assert.equal(columns.find((column) => column['name'] === 'project_id')?.['notnull'], 1, table)
      for (const index of await connection.all(`select name from pragma_index_list('${table}')`)) {
        const [first] = await connection.all(`select name from pragma_index_info('${String(index['name'])}')`)
        assert.equal(first?.['name'], 'project_id', `${table}: ${String(index['name'])}`)
      }
    }
    await connection.close()
    const source = join(dirname(fileURLToPath(import.meta.url)), '../../src/store')
    let statements = 0
    const files = await Promise.all(
      ['sql', 'postgres'].map(async (room) => (await readdir(join(source, room))).map((file) => join(room, file))),
    )
    // The schema and the status are of the database: they have no project.
    for (const file of files.flat().filter((each) => !/(migrate|migrations|schema|status)\.ts$/.test(each))) {
      const text = await readFile(join(source, file), 'utf8')
      // A condition may itself contain templates: they are cut out before the outer one is read.
      const flat = text.replace(/\$\{[^`{}]*(`[^`]*`)?[^`{}]*(`[^`]*`|'[^']*')?[^`{}]*\}/g, '…')
      const templates = [...flat.matchAll(/`([^`]*)`/g)].map((match) => match[1] ?? '')
      const strings = [...flat.replace(/`[^`]*`/g, '').matchAll(/'([^'\n]*)'/g)].map((match) => match[1] ?? '')
      for (const statement of [...templates, ...strings].filter((part) =>
        /^\s*(select|insert|update|delete)\s/.test(part),
      )) {
        statements += 1
        assert.match(
          statement,
          /project_id = :projectId|\(project_id, [^)]*\)\s+(values \(|select ):projectId/,
          `${file}: ${statement}`,
        )
      }
    }
    assert.ok(statements >= 40, `only ${statements} statements were found`)
  })
})
