import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NexusError } from '../../src/kernel/index.ts'
import { createOwnership } from '../../src/runtime/ownership.ts'
import { createMemoryStore, type Store } from '../../src/store/index.ts'

it('ends a lease that could not be released with the next heartbeat: it would last as long as the process', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const store = await createMemoryStore({ projectId: 'default' })
  let failures = 1
  const release: Store['leases']['release'] = (lease) =>
    failures-- > 0
      ? Promise.reject(new NexusError('STORE_FAILED', 'The disk is full.', {}))
      : store.leases.release(lease)
  const failing = { ...store, leases: { ...store.leases, release } }
  const ownership = createOwnership(failing, async () => undefined)
  const kept = await ownership.keep('session:s1')
  assert.ok(kept)
  await assert.rejects(kept.release(), /disk is full/)
  assert.ok(await store.leases.get('session:s1'))
  t.mock.timers.tick(2_500)
  while (await store.leases.get('session:s1')) await new Promise(setImmediate)
  assert.ok(await ownership.keep('session:s1'))
  await ownership.close()
  await store.close()
})
