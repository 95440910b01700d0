import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { NewBlobReference } from '../../store/index.ts'
import { type Advance, hasCode, type Open } from './rig.ts'

const [ONE, OTHER] = ['a'.repeat(64), 'b'.repeat(64)]

function saved(id: string, more: Partial<NewBlobReference> = {}): NewBlobReference {
  return { id, digest: ONE, bytes: 10, name: 'stdout', isCut: false, ...more }
}

export function blobTests(open: Open, clock: Advance): void {
  it('keeps what a blob is kept for, and finds it by call and by session', async () => {
    const { blobs } = await open()
    const one = await blobs.add(saved('b1', { callId: 'c1', sessionId: 's1', isCut: true }))
    assert.deepEqual(
      { ...one, createdAt: 0 },
      { ...saved('b1'), callId: 'c1', sessionId: 's1', isCut: true, createdAt: 0 },
    )
    const two = await blobs.add(saved('b2', { callId: 'c1', name: 'stderr' }))
    await blobs.add(saved('b3'))
    assert.deepEqual(await blobs.get('b1'), one)
    assert.equal(await blobs.get('b9'), undefined)
    assert.deepEqual(await blobs.list({ callId: 'c1' }), [one, two])
    assert.deepEqual(await blobs.list({ sessionId: 's1' }), [one])
    assert.equal((await blobs.list()).length, 3)
  })

  it('counts the living references of a blob', async () => {
    const { blobs } = await open()
    const [, ending] = [await blobs.add(saved('b1')), await blobs.add(saved('b2', { ttlMs: 1000 }))]
    await blobs.add(saved('b3', { digest: OTHER }))
    assert.equal(ending.expiresAt, ending.createdAt + 1000)
    assert.equal(await blobs.count(ONE), 2)
    await clock.advance(1000)
    assert.equal(await blobs.count(ONE), 1)
    assert.equal(await blobs.get('b2'), undefined)
    assert.deepEqual(
      (await blobs.list()).map(({ id }) => id),
      ['b1', 'b3'],
    )
    await blobs.remove('b1')
    assert.equal(await blobs.count(ONE), 0)
    assert.equal(await blobs.count(OTHER), 1)
  })

  it('removes references that ended, then the oldest that end by themselves until the others fit', async () => {
    const { blobs } = await open()
    await blobs.add(saved('ended', { ttlMs: 10 }))
    await blobs.add(saved('kept for ever', { bytes: 1000 }))
    for (const id of ['oldest', 'older', 'new']) await blobs.add(saved(id, { ttlMs: 5000 }))
    await clock.advance(10)
    assert.equal(await blobs.trim(), 1)
    assert.equal(await blobs.trim({ maxBytes: 25 }), 1)
    assert.deepEqual(
      (await blobs.list()).map(({ id }) => id),
      ['kept for ever', 'older', 'new'],
    )
    assert.equal(await blobs.trim({ maxBytes: 25 }), 0)
  })

  it('refuses an id that was used, a digest that is none and sizes that are no numbers', async () => {
    const { blobs } = await open()
    await blobs.add(saved('b1'))
    await assert.rejects(blobs.add(saved('b1', { digest: OTHER })), hasCode('CONFLICT'))
    for (const wrong of [{ id: '' }, { digest: 'A'.repeat(64) }, { digest: '../x' }, { bytes: -1 }, { ttlMs: 0 }])
      await assert.rejects(blobs.add(saved('b2', wrong)), hasCode('INVALID_ARGUMENT'))
    assert.equal(await blobs.count(ONE), 1)
  })

  it('keeps the references of two projects apart', async () => {
    const [one, two] = [await open(), await open()]
    await one.blobs.add(saved('b1'))
    assert.equal(await two.blobs.count(ONE), 0)
    assert.equal(await two.blobs.get('b1'), undefined)
    await two.blobs.remove('b1')
    await two.blobs.trim({ maxBytes: 0 })
    await two.blobs.add(saved('b1'))
    assert.deepEqual([await one.blobs.count(ONE), await two.blobs.count(ONE)], [1, 1])
  })
}
