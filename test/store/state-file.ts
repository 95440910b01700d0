/** State files for tests, and what is said of those that cannot be used. */
import assert from 'node:assert/strict'
import { isNexusError } from '../../src/kernel/index.ts'
import { openSqliteStore, sessionLease } from '../../src/store/index.ts'

/** STORE_FAILED that names the file and says what to do. */
export function failsFor(path: string, words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isNexusError(error), String(error))
    assert.equal(error.code, 'STORE_FAILED')
    assert.match(error.message, words)
    assert.ok(error.message.includes(path), error.message)
    assert.ok(error.fix)
    return true
  }
}

/** Makes a file with a session of 40 messages. */
export async function withSession(path: string): Promise<void> {
  const store = await openSqliteStore({ path, projectId: 'default' })
  await store.sessions.create({ id: 's', agentId: 'main', title: 'kept' })
  const acquired = await store.leases.acquire(sessionLease('s'), { owner: 'test', ttlMs: 1_000 })
  assert.ok(acquired.type === 'acquired')
  await store.sessions.append(
    's',
    Array.from({ length: 40 }, (_, index) => ({ role: 'user', content: `${index} ${'x'.repeat(500)}` })),
    acquired.lease,
  )
  await store.close()
}
