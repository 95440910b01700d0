import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failed, NexusError, succeeded } from '../../../src/kernel/index.ts'
import { createMemoryStore, type Store } from '../../../src/store/index.ts'
import type { Reply } from '../../../src/testing/index.ts'
import { isWhole, startRig, toolAnswers } from './rig.ts'

const DONE: Reply = { type: 'text', text: 'Done.' }
const batch = (...list: [string, object?][]): Reply => ({
  type: 'tool-calls',
  calls: list.map(([name, args = {}]) => ({ name, arguments: args as {} })),
})

describe('a batch of calls', () => {
  it('runs in order and halts at the first error', async () => {
    const order: string[] = []
    const tools = {
      good: () => {
        order.push('good')
        return succeeded('fine')
      },
      bad: () => {
        order.push('bad')
        return failed('EXECUTION_ERROR', 'broken')
      },
    }
    await using rig = await startRig({ script: [batch(['good'], ['bad'], ['good'], ['good']), DONE], tools })
    assert.equal((await rig.send('go')).end, 'done')
    assert.deepEqual(order, ['good', 'bad'])
    const answers = toolAnswers(await rig.history()).map(({ text }) => text)
    assert.equal(answers.length, 4)
    for (const text of answers.slice(2)) assert.match(text, /Did not execute: halted due to error in previous tool/)
    assert.deepEqual(
      rig.events.filter(({ type }) => /^(tool-(?!named)|batch-)/.test(type)).map(({ type }) => type),
      [
        'batch-start',
        'tool-call',
        'tool-decision',
        'tool-result',
        'tool-call',
        'tool-decision',
        'tool-result',
        'batch-halt',
        'tool-call',
        'tool-result',
        'tool-call',
        'tool-result',
        'batch-end',
      ],
    )
  })

  it('halts also at a call that cannot be read', async () => {
    let ran = 0
    const script = [
      {
        ...batch(),
        calls: [
          { name: 'good', arguments: '{' },
          { name: 'good', arguments: {} },
        ],
      } as Reply,
      DONE,
    ]
    await using rig = await startRig({ script, tools: { good: () => succeeded(`${++ran}`) } })
    await rig.send('go')
    assert.equal(ran, 0)
    assert.ok(isWhole(await rig.history()))
  })

  it('runs at once when a call says _parallel, and an error halts nothing', async () => {
    const meeting = Promise.withResolvers<void>()
    let waiting = 0
    const meet = async () => {
      if (++waiting === 2) meeting.resolve()
      await meeting.promise
      return succeeded('met')
    }
    const script = [batch(['bad', { _parallel: true }], ['meet'], ['meet']), DONE]
    await using rig = await startRig({ script, tools: { meet, bad: () => failed('EXECUTION_ERROR', 'no') } })
    assert.equal((await rig.send('go')).end, 'done')
    const history = await rig.history()
    assert.ok(isWhole(history))
    assert.deepEqual(toolAnswers(history).filter(({ text }) => text === 'met').length, 2)
  })

  it('runs no more at once than the limit allows', async () => {
    let running = 0
    let most = 0
    const step = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      running -= 1
      return succeeded('ok')
    }
    const many = Array.from({ length: 7 }, (): [string, object] => ['step', { _parallel: true }])
    await using rig = await startRig({
      script: [batch(...many), DONE],
      tools: { step },
      agent: { limits: { maxConcurrentTools: 3 } },
    })
    await rig.send('go')
    assert.equal(most, 3)
  })

  it('denies and records what the agent may not call', async () => {
    let ran = 0
    const secret = () => succeeded(`${++ran}`)
    await using rig = await startRig({ script: [batch(['secret']), DONE], tools: { secret }, hidden: ['secret'] })
    const { turnId } = await rig.send('go')
    assert.equal(ran, 0)
    assert.deepEqual(rig.server.requests[0]?.toolNames, [])
    assert.equal((await rig.store.ledger.list({ turnId }))[0]?.decision.type, 'deny')
    assert.match(toolAnswers(await rig.history())[0]?.text ?? '', /Tools you can call: none/)
  })

  it('ends the turn when the ledger cannot be written, and runs nothing more', async () => {
    const store = await createMemoryStore({ projectId: 'default' })
    const full = new NexusError('STORE_FAILED', 'The disk is full.')
    const broken: Store = { ...store, ledger: { ...store.ledger, record: () => Promise.reject(full) } }
    let ran = 0
    await using rig = await startRig({
      script: [batch(['good'], ['good']), DONE],
      tools: { good: () => succeeded(`${++ran}`) },
      store: broken,
    })
    const result = await rig.send('go')
    assert.deepEqual(
      [result.end, result.error?.code, ran, rig.server.requests.length],
      ['failed', 'STORE_FAILED', 0, 1],
    )
    assert.ok(isWhole(await rig.history()))
  })

  it('records a call together with the answer that asked for it, and an unclear write happens once', async () => {
    const store = await createMemoryStore({ projectId: 'default' })
    const lost = new NexusError('STORE_FAILED', 'The connection was lost.')
    const writes: string[] = []
    let fails = false
    const watched: Store = {
      ...store,
      turns: {
        ...store.turns,
        step: (...given) => {
          writes.push('step')
          return store.turns.step(...given)
        },
      },
      ledger: {
        ...store.ledger,
        record: async (given) => {
          writes.push(given.step ? 'record and step' : 'record')
          const entry = await store.ledger.record(given)
          if (fails) throw lost
          return entry
        },
      },
    }
    const tools = { good: () => succeeded('fine') }
    const at = { _parallel: true }
    const script = [batch(['good'], ['good']), batch(['good', at], ['good', at]), DONE, batch(['good'])]
    await using rig = await startRig({ script, tools, store: watched })
    assert.equal((await rig.send('go')).end, 'done')
    assert.deepEqual(writes, ['record and step', 'record', 'step', 'record', 'record'])
    fails = true
    const { end, turnId } = await rig.send('again')
    const history = await rig.history()
    assert.deepEqual([end, writes.length, isWhole(history)], ['failed', 6, true])
    assert.equal(history.filter(({ role }) => role === 'assistant').length, 5, 'three answers, one more and the end')
    assert.equal((await store.turns.get(turnId))?.use.steps, 1)
  })

  it('ends the turn when the session cannot be written, and the next turn repairs it', async () => {
    const store = await createMemoryStore({ projectId: 'default' })
    let fails = false
    const full = new NexusError('STORE_FAILED', 'The disk is full.')
    const broken: Store = {
      ...store,
      sessions: {
        ...store.sessions,
        append: (...given) => (fails ? Promise.reject(full) : store.sessions.append(...given)),
      },
      ledger: {
        ...store.ledger,
        close: (...given) => (fails ? Promise.reject(full) : store.ledger.close(...given)),
      },
    }
    const good = () => {
      fails = true
      return succeeded('ran')
    }
    await using rig = await startRig({ script: [batch(['good'], ['good']), DONE], tools: { good }, store: broken })
    const result = await rig.send('go')
    assert.deepEqual(
      [result.end, result.error?.code, rig.ofType('tool-decision').length],
      ['failed', 'STORE_FAILED', 1],
    )
    fails = false
    assert.equal((await rig.send('go on')).end, 'done')
    assert.deepEqual(
      rig.ofType('notice').map(({ code }) => code),
      ['interrupted-turn'],
    )
    assert.ok(isWhole(await rig.history()))
  })
})
