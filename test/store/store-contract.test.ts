import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { createMemoryStore, openSqliteStore } from '../../src/store/index.ts'
import { storeContract } from '../../src/testing/store/contract.ts'

const directory = mkdtempSync(join(tmpdir(), 'nexus-store-'))
after(() => rmSync(directory, { recursive: true }))

storeContract('memory', createMemoryStore)
// One file for all projects: that is how they would meet.
storeContract('sqlite', (options) => openSqliteStore({ ...options, path: join(directory, 'state', 'nexus.db') }))
