import { after, before } from 'node:test'
import { openPostgresStore } from '../../src/store/index.ts'
import { storeContract } from '../../src/testing/store/contract.ts'
import { startPostgres, type TestServer, whyNoPostgres } from './postgres-server.ts'

const skip = whyNoPostgres()
if (skip !== undefined) console.log(`# SKIP ${skip}`)
else {
  let server: TestServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())
  // One database for all projects: that is how they would meet.
  storeContract('postgres', (options) =>
    openPostgresStore({ ...options, url: server.url(), pool: { maxConnections: 2, idleTimeoutMs: 500 } }),
  )
}
