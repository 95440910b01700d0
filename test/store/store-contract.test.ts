import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { systemClock } from '../../src/kernel/index.ts'
import { createMemoryStore, openDatabase, openSqliteStore } from '../../src/store/index.ts'
import { storeContract } from '../../src/testing/store/contract.ts'

/** The clock of the suite that runs. */
const shared = { ...systemClock }
const directory = mkdtempSync(join(tmpdir(), 'nexus-store-'))
after(() => rmSync(directory, { recursive: true }))

storeContract('memory', createMemoryStore)
// One file for all projects: that is how they would meet.
storeContract('sqlite', (options) => openSqliteStore({ ...options, path: join(directory, 'state', 'nexus.db') }))

const database = await openDatabase({ type: 'sqlite', path: join(directory, 'shared.db'), clock: shared })
after(() => database.close())
// One connection for all projects; closing a store leaves the others open.
storeContract('sqlite, one database', async ({ projectId, clock }) => {
  shared.now = clock.now
  const other = database.project(`other than ${projectId}`)
  await other.close()
  return database.project(projectId)
})
