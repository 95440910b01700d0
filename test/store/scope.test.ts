import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openSqliteStore, type StoredEvent } from '../../src/store/index.ts'
import { type Connection, createScope } from '../../src/store/sql/scope.ts'
import { openConnection } from '../../src/store/sqlite/connection.ts'

/** Rolls the first attempt of every transaction back and runs its work again, as after a lost connection to Postgres. */
function losingOnce(connection: Connection): Connection {
  const lost = new Error('the connection was lost before the commit')
  return {
    ...connection,
    transaction: async (work) => {
      const attempt = connection.transaction(async (tx) => {
        await work(tx)
        throw lost
      })
      await assert.rejects(attempt, lost)
      return connection.transaction(work)
    },
  }
}

it('a transaction that runs again delivers only the events that were committed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-scope-'))
  try {
    const path = join(directory, 'nexus.db')
    const store = await openSqliteStore({ path, projectId: 'default' })
    await store.close()
    const connection = await openConnection(path)
    const scope = createScope(losingOnce(connection), 'default')
    const delivered: StoredEvent[] = []
    scope.listen((event) => delivered.push(event))
    const written = await scope.change((tx) => tx.event({ type: 'call.started' }))
    assert.deepEqual(delivered, [written])
    await connection.close()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
