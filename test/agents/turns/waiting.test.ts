import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parsePolicy } from '../../../src/authorize/index.ts'
import { type AgentEvent, createAgent } from '../../../src/agents/turns/index.ts'
import { createRuntime } from '../../../src/runtime/index.ts'
import { type Clock, systemClock } from '../../../src/kernel/index.ts'
import { createMemoryStore, type Store } from '../../../src/store/index.ts'
import { type Reply, startModelServer } from '../../../src/testing/index.ts'
import { defineTool } from '../../../src/tools/index.ts'
import { isWhole, localModel } from './rig.ts'

const SECRET = 'hunter2-hunter2'
const DONE: Reply = { type: 'text', text: 'Done.' }
const calls = (...tokens: readonly string[]): Reply => ({
  type: 'tool-calls',
  calls: tokens.map((token, index) => ({ name: 'pay', arguments: { token }, id: `call_${index}` })),
})

/** Processes over one store: each `open` is a process, and `die` lets its leases end as after kill -9. */
async function startProcesses(script: readonly Reply[]) {
  let ahead = 0
  const clock: Clock = { ...systemClock, now: () => Date.now() + ahead }
  const store = await createMemoryStore({ projectId: 'default', clock })
  const server = await startModelServer({ script: [...script] })
  const paid: string[] = []
  const open = async (over: Store, deny: readonly string[] = []) => {
    const runtime = await createRuntime({
      sources: [],
      facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
      store: over,
      secrets: [SECRET],
      agents: [{ id: 'main', policy: parsePolicy({ ask: ['pay'], deny: [...deny] }).rules }],
      waitForAnswers: true,
      registerTools: (registry) => {
        registry.register('pay', () =>
          defineTool({
            name: 'pay',
            description: 'pay',
            parameters: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
            execute: ({ token }) => `paid ${paid.push(String(token))}`,
          }),
        )
      },
    })
    return createAgent({ agent: runtime.openAgent({ sessionId: 's1' }), model: await localModel(server), store: over })
  }
  return {
    store,
    server,
    paid,
    open: (deny?: readonly string[]) => open(store, deny),
    /** A turn that asks, whose process then ends: what it writes from now on is refused. Returns its id. */
    async leaveAsking(content = 'Pay.'): Promise<string> {
      const first = await open(store)
      const events: AgentEvent[] = []
      void first.send(content, { onEvent: (event) => events.push(event) }).catch(() => undefined)
      while ((await store.approvals.list({ states: ['open'] })).length === 0) await sleep(5)
      ahead += 60_000
      await store.reclaim()
      const [turn] = await store.turns.list({ states: ['waiting'] })
      assert.ok(turn)
      return turn.id
    },
    async answer(isAllowed: boolean): Promise<void> {
      const [question] = await store.approvals.list({ states: ['open'] })
      assert.ok(question)
      assert.ok((await store.approvals.answer(question.id, { isAllowed, by: 'ada' })).isApplied)
    },
    history: () => store.sessions.messages('s1'),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

describe('a turn whose process ended while a person was asked', () => {
  it('goes on from the answer: each call of the batch runs once, and tokens count from before', async () => {
    await using rig = await startProcesses([calls('a', 'b'), DONE])
    const turnId = await rig.leaveAsking()
    const before = (await rig.store.turns.get(turnId))?.use
    assert.equal(before?.steps, 1)
    await rig.answer(true)
    const next = await rig.open()
    const going = next.resume(turnId)
    while ((await rig.store.approvals.list({ states: ['open'] })).length === 0) await sleep(5)
    await rig.answer(true)
    const result = await going
    assert.deepEqual([result.end, result.text, result.usage.steps], ['done', 'Done.', 2])
    assert.equal((await rig.store.turns.get(turnId))?.use.totalTokens, result.usage.totalTokens)
    assert.deepEqual(rig.paid, ['a', 'b'])
    assert.ok(isWhole(await rig.history()))
    assert.deepEqual(
      (await rig.store.ledger.list()).map(({ state }) => state),
      ['done', 'done'],
    )
  })

  it('runs nothing after a no, and nothing that is denied by now', async () => {
    for (const { isAllowed, deny } of [
      { isAllowed: false, deny: [] },
      { isAllowed: true, deny: ['pay'] },
    ]) {
      await using rig = await startProcesses([calls('a'), DONE])
      const turnId = await rig.leaveAsking()
      await rig.answer(isAllowed)
      assert.equal((await (await rig.open(deny)).resume(turnId)).end, 'done')
      assert.deepEqual(rig.paid, [])
      assert.equal((await rig.store.ledger.list())[0]?.state, 'denied')
      assert.ok(isWhole(await rig.history()))
    }
  })

  it('does not run a call whose arguments had a secret, and says so', async () => {
    await using rig = await startProcesses([calls(SECRET), DONE])
    const turnId = await rig.leaveAsking()
    await rig.answer(true)
    assert.equal((await (await rig.open()).resume(turnId)).end, 'done')
    assert.deepEqual(rig.paid, [])
    assert.match(JSON.stringify(await rig.history()), /not run: its arguments had a secret/)
    assert.equal((await rig.store.ledger.list())[0]?.state, 'not run')
  })

  it('names its question to the next message, which waits until the turn is cancelled', async () => {
    await using rig = await startProcesses([calls('a'), DONE])
    const turnId = await rig.leaveAsking()
    const [question] = await rig.store.approvals.list({ states: ['open'] })
    const notices: string[] = []
    const sent = (await rig.open()).send('Next.', {
      onEvent: (event) => {
        if (event.type === 'notice') notices.push(event.text)
      },
    })
    while (notices.length < 3) await sleep(5)
    assert.match(
      notices[0] ?? '',
      new RegExp(`waits for an answer about pay: .* nexus approvals answer ${question?.id} --allow`),
    )
    assert.match(notices[1] ?? '', /nexus sessions resume s1/)
    assert.match(notices[2] ?? '', new RegExp(`nexus sessions cancel ${turnId}`))
    await rig.store.turns.cancel(turnId)
    assert.equal((await sent).end, 'done')
    assert.ok(isWhole(await rig.history()))
    assert.deepEqual(rig.paid, [])
  })
})
