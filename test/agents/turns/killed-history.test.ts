import assert from 'node:assert/strict'
import { it } from 'node:test'
import { agentMessage } from '../../../src/agents/turns/agent-messages.ts'
import { cutMessage } from '../../../src/agents/turns/context/cuts.ts'
import { sessionLease, type StoredMessage } from '../../../src/store/index.ts'
import { startRig } from './rig.ts'

const user: StoredMessage = { role: 'user', content: 'go' }
const calls: StoredMessage = {
  role: 'assistant',
  content: ['a', 'b'].map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'work', input: {} })),
}
const answer = (toolCallId: string): StoredMessage => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 'work', output: { type: 'text', value: 'worked' } }],
})
const late = agentMessage('I am done', { agent: 'main/child' })
const cut = cutMessage({ by: 'oldest_first', from: 0, to: 1, keep: [{ at: 0 }] }, '[left out]')
const whole: StoredMessage = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }

/** Everything that a process can have written when it was killed, with the tools whose answers are missing. */
const left: readonly [string, readonly StoredMessage[], number][] = [
  ['a message of an agent between the calls and their answers', [user, calls, late], 2],
  ['a message of an agent between two answers', [user, calls, answer('a'), late], 1],
  ['a message of an agent after the answers', [user, calls, answer('b'), answer('a'), late], 0],
  ['a cut before the first answer of the model', [user, cut], 0],
  ['a cut after the answers', [user, calls, answer('a'), answer('b'), cut], 0],
  ['a cut after the end of a turn', [user, whole, cut], 0],
]

for (const [what, messages, missing] of left) {
  it(`a provider accepts the history after a kill behind ${what}`, async () => {
    await using rig = await startRig({ script: [{ type: 'text', text: 'fine' }] })
    const { store, agent } = rig
    await store.sessions.create({ id: agent.sessionId, agentId: 'main', title: 't', scope: '' })
    const acquired = await store.leases.acquire(sessionLease(agent.sessionId), { owner: 'gone', ttlMs: 60_000 })
    assert.ok(acquired.type === 'acquired')
    await store.sessions.append(agent.sessionId, messages, acquired.lease)
    await store.leases.release(acquired.lease)
    assert.equal((await rig.send('and now?')).end, 'done')
    const seen = rig.server.requests[0]?.messages ?? []
    const open = new Set<string>()
    for (const { role, toolCalls, toolCallId = '' } of seen) {
      if (role !== 'tool') assert.deepEqual([...open], [], 'only answers follow calls')
      for (const { id } of toolCalls) open.add(id)
      if (role === 'tool') assert.ok(open.delete(toolCallId), `${toolCallId} answers a call once`)
    }
    assert.equal(seen.at(-1)?.text, 'and now?')
    assert.equal(seen.filter(({ text }) => /interrupted: outcome unknown/.test(text)).length, missing)
    if (messages.includes(late)) assert.ok(seen.some(({ text }) => text.includes('I am done')))
    const closes = seen.filter(({ text }) => text.startsWith('[The turn was cut off')).length
    assert.equal(closes, messages.includes(whole) ? 0 : 1)
  })
}
