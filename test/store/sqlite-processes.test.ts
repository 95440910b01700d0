import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import type { LedgerEntry } from '../../src/kernel/index.ts'
import { openSqliteStore } from '../../src/store/index.ts'
import { migrationsOf } from '../../src/store/sql/migrations.ts'
import { SQLITE_SCHEMA } from '../../src/store/sqlite/connection.ts'
import { acknowledged, endChildren, FIXTURES, start, waitFor } from './processes.ts'
import { COMPILED } from '../source-tree.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nexus-store-'))
})
after(async () => {
  endChildren()
  await rm(directory, { recursive: true })
})

async function readAll(path: string): Promise<Map<string, LedgerEntry>> {
  const store = await openSqliteStore({ path, projectId: 'default' })
  const entries = await store.ledger.list()
  await store.close()
  assert.equal(new Set(entries.map(({ call }) => call.id)).size, entries.length)
  return new Map(entries.map((entry) => [entry.call.id, entry]))
}

function assertKept(lines: readonly string[], entries: ReadonlyMap<string, LedgerEntry>): void {
  for (const line of lines) {
    const [word, id = ''] = line.split(' ')
    if (word === 'OPENED') assert.ok(entries.has(id), `${id} was acknowledged and is lost`)
    if (word === 'CLOSED') assert.equal(entries.get(id)?.outcome?.type, 'success', `${id} was closed and is not`)
  }
}

describe('a state file that several processes use', () => {
  it('keeps everything a writer acknowledged before kill -9', async () => {
    const path = join(directory, 'killed/nexus.db')
    for (const [round, count] of [3, 40, 151, 400].entries()) {
      const writer = start('append-calls.ts', path, `round${round}`)
      const lines = acknowledged(writer)
      await waitFor(writer, lines, count)
      writer.kill('SIGKILL')
      await once(writer, 'close')
      assert.ok(lines.length >= count)
      assertKept(lines, await readAll(path))
    }
    const database = new DatabaseSync(path)
    assert.equal(database.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok')
    database.close()
  })

  it('closes the open calls of a process whose lease is over as interrupted, and leaves those of another', async () => {
    const path = join(directory, 'recovered/nexus.db')
    const lines: string[][] = []
    for (const [name, ttl] of [
      ['dead', '1'],
      ['living', '600000'],
    ] as const) {
      const child = start('append-calls.ts', path, name, '3', '0', ttl)
      lines.push(acknowledged(child))
      await once(child, 'close')
    }
    const store = await openSqliteStore({ path, projectId: 'default' })
    await store.reclaim()
    assert.equal((await store.ledger.get('dead-2'))?.state, 'interrupted')
    assert.equal((await store.ledger.get('living-2'))?.state, 'started')
    await store.close()
    assertKept(lines.flat(), await readAll(path))
  })

  it('takes the rows of eight writers at once without an error, each in its own order', async () => {
    const path = join(directory, 'shared/nexus.db')
    const names = Array.from({ length: 8 }, (_, index) => `writer${index}`)
    const writers = names.map((name) => start('append-calls.ts', path, name, '40'))
    const lines = writers.map(acknowledged)
    const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'close'))[0] as number))
    assert.deepEqual(new Set(codes), new Set([0]))
    const entries = await readAll(path)
    assert.equal(entries.size, names.length * 40)
    assertKept(lines.flat(), entries)
    for (const name of names) {
      const order = [...entries.keys()].filter((id) => id.startsWith(`${name}-`))
      assert.deepEqual(
        order,
        Array.from({ length: 40 }, (_, index) => `${name}-${index}`),
      )
    }
  })

  it('is made and migrated once when many processes arrive together', async () => {
    const path = join(directory, 'together/nexus.db')
    const openers = Array.from({ length: 4 }, () => start('open-store.ts', path))
    const ends = openers.map(async (child) => (await once(child, 'close'))[0] as number)
    for (const child of openers) child.stdin?.end()
    assert.deepEqual(await Promise.all(ends), [0, 0, 0, 0])
    const store = await openSqliteStore({ path, projectId: 'default' })
    assert.equal((await store.sessions.list()).length, 4)
    await store.close()
    const database = new DatabaseSync(path)
    assert.deepEqual(
      database
        .prepare('select version from migrations')
        .all()
        .map((row) => row['version']),
      migrationsOf(SQLITE_SCHEMA.dialect).map(({ version }) => version),
    )
    database.close()
  })

  it(
    'keeps what was acknowledged when the disk is full, and says so',
    { skip: process.platform === 'win32' },
    async () => {
      const path = join(directory, 'full/nexus.db')
      // A file size limit stands for a full disk: writes beyond 400 blocks of 1 KiB fail.
      const command = `trap '' XFSZ; ulimit -f 400; exec "$0" "$@"`
      const script = join(FIXTURES, 'append-calls.ts')
      const writer = spawn('bash', ['-c', command, process.execPath, COMPILED, script, path, 'full', '500', '20000'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const lines = acknowledged(writer)
      let errors = ''
      writer.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
      const [code] = (await once(writer, 'close')) as [number]
      assert.notEqual(code, 0)
      assert.match(errors, /STORE_FAILED/)
      assert.match(errors, /full\/nexus\.db/)
      assert.ok(lines.length > 3)
      assertKept(lines, await readAll(path))
    },
  )
})
