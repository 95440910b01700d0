import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Advance, hasCode, type Open } from './rig.ts'

export function sessionTests(open: Open, clock: Advance): void {
  it('keeps messages in order and counts them', async () => {
    const { sessions } = await open()
    const made = await sessions.create({ id: 's1', agentId: 'main', title: 'Make a report' })
    assert.deepEqual(await sessions.get('s1'), made)
    assert.equal(made.state, 'idle')
    const first = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'hi' }] },
    ]
    await sessions.append('s1', first)
    await sessions.append('s1', [])
    await sessions.append('s1', [{ role: 'user', content: '' }])
    assert.deepEqual(await sessions.messages('s1'), [...first, { role: 'user', content: '' }])
    assert.equal((await sessions.get('s1'))?.messageCount, 3)
  })

  it('adds all messages of an append or none', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    const bad = [{ role: 'user' }, { content: 'no role' } as unknown as { role: string }]
    await assert.rejects(sessions.append('s1', bad), hasCode('INVALID_ARGUMENT'))
    assert.deepEqual(await sessions.messages('s1'), [])
  })

  it('refuses a used id and an unknown session', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    await assert.rejects(sessions.create({ id: 's1', agentId: 'main', title: '' }), hasCode('CONFLICT'))
    assert.equal(await sessions.get('nope'), undefined)
    await assert.rejects(sessions.messages('nope'), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(sessions.append('nope', []), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(sessions.update('nope', {}), hasCode('INVALID_ARGUMENT'))
  })

  it('lists the session used last first', async () => {
    const { sessions } = await open()
    for (const id of ['a', 'b', 'c']) await sessions.create({ id, agentId: 'main', title: id })
    const ids = async (limit?: number) =>
      (await sessions.list(limit === undefined ? {} : { limit })).map(({ id }) => id)
    assert.deepEqual(await ids(), ['c', 'b', 'a'])
    await clock.advance(10)
    await sessions.append('a', [{ role: 'user', content: 'again' }])
    assert.deepEqual(await ids(), ['a', 'c', 'b'])
    assert.deepEqual(await ids(1), ['a'])
  })

  it('changes state, owner and snapshot, each only when given', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    await sessions.update('s1', { state: 'running', owner: 'process-1', snapshot: { skills: ['a'] } })
    const kept = await sessions.update('s1', {})
    assert.deepEqual([kept.state, kept.owner, kept.snapshot], ['running', 'process-1', { skills: ['a'] }])
    const idle = await sessions.update('s1', { state: 'idle', owner: null })
    assert.equal('owner' in idle, false)
    assert.deepEqual(idle.snapshot, { skills: ['a'] })
  })

  it('lets only one of two start a turn in an idle session', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    await sessions.update('s1', { state: 'running', owner: 'one', expectedState: 'idle' })
    await assert.rejects(
      sessions.update('s1', { state: 'running', owner: 'two', expectedState: 'idle' }),
      hasCode('CONFLICT'),
    )
    assert.equal((await sessions.get('s1'))?.owner, 'one')
  })
}
