import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAgent } from '../../../src/agents/turns/index.ts'
import { isNexusError, succeeded } from '../../../src/kernel/index.ts'
import { createMemoryStore, openDatabase, sessionLease, type StoredMessage } from '../../../src/store/index.ts'
import { type Reply, startModelServer } from '../../../src/testing/index.ts'
import { openTestAgent, isWhole, localModel, startRig, toolAnswers } from './rig.ts'
import { COMPILED } from '../../source-tree.ts'

const DONE: Reply = { type: 'text', text: 'Done.' }
const part = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'pay', input: {} })
const answer = (toolCallId: string) => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'pay',
  output: { type: 'text', value: 'paid' },
})
const CUT_OFF: readonly StoredMessage[] = [
  { role: 'user', content: 'Pay both' },
  { role: 'assistant', content: [part('c1'), part('c2')] },
  { role: 'tool', content: [answer('c1')] },
]

/** A session as a dead process would leave it. */
async function startCutOff(messages: readonly StoredMessage[], session: { agentId?: string } = {}) {
  const store = await createMemoryStore({ projectId: 'default' })
  await store.sessions.create({ id: 's1', agentId: session.agentId ?? 'main', title: 'Pay both' })
  const acquired = await store.leases.acquire(sessionLease('s1'), { owner: 'dead', ttlMs: 60_000 })
  assert.ok(acquired.type === 'acquired')
  await store.sessions.append('s1', messages, acquired.lease)
  await store.leases.release(acquired.lease)
  let paid = 0
  const rig = await startRig({
    script: [DONE],
    tools: { pay: () => succeeded(`${++paid}`) },
    store,
    sessionId: 's1',
  })
  return {
    ...rig,
    get paid() {
      return paid
    },
  }
}

describe('resume', () => {
  it('answers the open calls of a cut-off turn, ends that turn, and runs nothing again', async () => {
    const rig = await startCutOff(CUT_OFF)
    await using _closing = rig
    assert.equal((await rig.send('What happened?')).text, 'Done.')
    assert.equal(rig.paid, 0)
    const history = await rig.history()
    assert.deepEqual(
      history.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'tool', 'assistant', 'user', 'assistant'],
    )
    assert.ok(isWhole(history))
    assert.match(toolAnswers(history)[1]?.text ?? '', /^interrupted: outcome unknown/)
    assert.deepEqual(
      rig.ofType('notice').map(({ code, text }) => [code, text]),
      [
        [
          'interrupted-turn',
          'The turn before this one was cut off in pay: outcome unknown. Nexus does not run it again by itself.',
        ],
      ],
    )
    assert.deepEqual(
      rig.server.requests[0]?.messages.slice(-3).map(({ role }) => role),
      ['tool', 'assistant', 'user'],
    )
  })

  it('ends a turn that was cut off before the model answered or after all calls were', async () => {
    for (const messages of [CUT_OFF.slice(0, 1), [...CUT_OFF, { role: 'tool', content: [answer('c2')] }]]) {
      const rig = await startCutOff(messages)
      await using _closing = rig
      await rig.send('And?')
      const history = await rig.history()
      assert.ok(isWhole(history))
      assert.match(JSON.stringify(history[messages.length]), /cut off before its end/)
    }
  })

  it('leaves a whole history as it is', async () => {
    const whole: StoredMessage[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ]
    const rig = await startCutOff(whole)
    await using _closing = rig
    await rig.send('And?')
    assert.deepEqual((await rig.history()).slice(0, 2), whole)
    assert.deepEqual(rig.ofType('notice'), [])
  })

  it('takes no session of another agent', async () => {
    await using rig = await startCutOff(CUT_OFF, { agentId: 'other' })
    await assert.rejects(rig.send('go'), (error) => isNexusError(error) && error.code === 'CONFLICT')
    assert.deepEqual(await rig.history(), CUT_OFF)
    assert.deepEqual(await rig.store.turns.list(), [])
    await assert.rejects(rig.agent.resume('m1'), (error) => isNexusError(error) && error.code === 'CONFLICT')
  })

  it('finds a readable session after kill -9 in a tool call', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'nexus-resume-'))
    const path = join(directory, 'state.db')
    await using server = await startModelServer({
      script: [{ type: 'tool-calls', calls: [{ name: 'wait', arguments: {} }] }, DONE],
    })
    try {
      const script = join(import.meta.dirname, 'killed-agent.ts')
      const child = spawn(process.execPath, [COMPILED, script, path, server.url, 's1'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      assert.match(String((await once(child.stdout, 'data'))[0]), /in the tool/)
      const database = await openDatabase({ type: 'sqlite', path })
      const store = database.project('default')
      try {
        assert.equal((await store.reclaim()).calls, 0, 'a living turn is left alone')
        child.kill('SIGKILL')
        await once(child, 'exit')
        for (let closed = 0; closed === 0; await sleep(100)) closed = (await store.reclaim()).calls
        const [entry] = await store.ledger.list({ sessionId: 's1' })
        assert.deepEqual([entry?.call.tool, entry?.state], ['wait', 'interrupted'])
        assert.deepEqual(
          (await store.sessions.messages('s1')).map(({ role }) => role),
          ['user', 'assistant'],
        )
        let waited = 0
        const agent = createAgent({
          agent: await openTestAgent({ tools: { wait: () => succeeded(`${++waited}`) } }, store, 's1'),
          model: await localModel(server),
          store,
        })
        assert.equal((await agent.send('What happened?')).text, 'Done.')
        assert.equal(waited, 0)
        assert.ok(isWhole(await store.sessions.messages('s1')))
      } finally {
        child.kill('SIGKILL')
        await database.close()
      }
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})
