import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StoredMessage } from '../../../src/store/index.ts'
import { succeeded } from '../../../src/kernel/index.ts'
import type { ModelRequest, Reply } from '../../../src/testing/index.ts'
import { cutOf } from '../../../src/agents/turns/index.ts'
import { chooseCut } from '../../../src/agents/turns/context/choose-cut.ts'
import { cutMessage, shownMessages } from '../../../src/agents/turns/context/cuts.ts'
import { estimateMessage } from '../../../src/agents/turns/tokens.ts'
import { startRig } from './rig.ts'

const LONG = 'word '.repeat(200)
const user = (content: string): StoredMessage => ({ role: 'user', content })
const said = (text: string): StoredMessage => ({ role: 'assistant', content: [{ type: 'text', text }] })
const call = (id: string, toolName: string, input = {}): StoredMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: id, toolName, input }],
})
const answer = (id: string, toolName: string, value: string): StoredMessage => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName, output: { type: 'text', value } }],
})

/** A seeded history with skills, pairs, and words of the user. */
function history(seed: number): StoredMessage[] {
  let state = seed
  const next = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below
  const messages: StoredMessage[] = []
  for (let turn = 0; turn < 3 + next(5); turn++) {
    messages.push(user(`task ${turn} ${LONG.slice(0, next(900))}`))
    for (let step = 0; step < next(4); step++) {
      const name = next(3) === 0 ? 'load_skill' : 'work'
      messages.push(call(`c${step}`, name, { name: `skill-${next(2)}` }))
      messages.push(answer(`c${step}`, name, `${name} ${LONG.slice(0, next(900))}`))
    }
    messages.push(said(`answer ${turn}`))
  }
  return messages
}

const tokensOf = (messages: readonly StoredMessage[]): number =>
  shownMessages(messages).reduce((sum, { message }) => sum + estimateMessage(message), 0)

/** Every result directly follows its call, and every call has its result. */
function isPaired(messages: readonly StoredMessage[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'tool' && open.size > 0) return false
    for (const part of (Array.isArray(message.content) ? message.content : []) as {
      type: string
      toolCallId: string
    }[]) {
      if (part.type === 'tool-call') open.add(part.toolCallId)
      if (part.type === 'tool-result' && !open.delete(part.toolCallId)) return false
    }
  }
  return open.size === 0
}

describe('a cut of a history', () => {
  it('keeps pairs, loaded skills and the task, and takes no more than its target, again and again', () => {
    for (const by of ['oldest_first', 'middle_out', 'compaction'] as const) {
      for (let seed = 1; seed <= 200; seed++) {
        const messages = history(seed)
        const target = 900
        for (let round = 0; round < 3; round++) {
          const chosen = chooseCut(messages, { by, target })
          if (!chosen) break
          messages.push(cutMessage(chosen.cut, '[left out]'), user(`more ${round}`), said(LONG))
          const shown = shownMessages(messages).map(({ message }) => message)
          const about = `${by} seed ${seed} round ${round}`
          assert.ok(isPaired(shown), about)
          assert.ok(JSON.stringify(shown).includes(`more ${round}`), about)
          for (const name of ['skill-0', 'skill-1']) {
            const loaded = (list: readonly StoredMessage[]): boolean =>
              list.some(
                (each) =>
                  each.role === 'assistant' && JSON.stringify(each).includes(`load_skill","input":{"name":"${name}`),
              )
            if (loaded(messages) && !chosen.unloaded.includes(name)) assert.ok(loaded(shown), `${about} ${name}`)
          }
        }
      }
    }
  })

  it('leaves out the oldest, or the middle', () => {
    const messages = [
      user('first'),
      said('one'),
      user(LONG),
      said(LONG),
      user(LONG),
      said(LONG),
      user('last'),
      said('end'),
    ]
    const textOf = (list: readonly StoredMessage[], by: 'oldest_first' | 'middle_out'): string => {
      const chosen = chooseCut(list, { by, target: 300 })
      assert.ok(chosen)
      return shownMessages([...list, cutMessage(chosen.cut, 'CUT')])
        .map(({ message }) => JSON.stringify(message.content).slice(0, 30))
        .join(' ')
    }
    assert.doesNotMatch(textOf(messages, 'oldest_first'), /first/)
    assert.match(textOf(messages, 'middle_out'), /^"first" .*one.* "CUT"/)
    for (const by of ['oldest_first', 'middle_out'] as const) assert.match(textOf(messages, by), /last.*end/)
  })

  it('takes less than before by each further one', () => {
    const messages = history(7)
    const before = tokensOf(messages)
    const chosen = chooseCut(messages, { by: 'oldest_first', target: before / 2 })
    assert.ok(chosen)
    const once = [...messages, cutMessage(chosen.cut, 'CUT')]
    assert.ok(tokensOf(once) <= before / 2 + 10, `${tokensOf(once)} of ${before}`)
  })
})

const work: Reply = { type: 'tool-calls', calls: [{ name: 'work', arguments: {} }] }
const isSummary = ({ messages }: ModelRequest): boolean => /You summarize/.test(messages[0]?.text ?? '')
const usage = null

describe('a context that is full', () => {
  it('is made smaller by a summary of the model, which is kept and said', async () => {
    let calls = 0
    await using rig = await startRig({
      script: (request) => {
        if (isSummary(request))
          return { type: 'text', text: 'SUMMARY of it', usage: { inputTokens: 50, outputTokens: 5 } }
        return ++calls <= 8 ? { ...work, usage } : { type: 'text', text: 'done', usage }
      },
      tools: { work: () => succeeded(LONG) },
      agent: { context: { maxTokens: 1_600, reserveTokens: 100 } },
    })
    const result = await rig.send('The task')
    assert.deepEqual([result.end, result.text], ['done', 'done'])
    const [cut] = rig.ofType('context-cut')
    assert.equal(cut?.by, 'compaction')
    assert.ok(cut.tokensAfter < cut.tokensBefore)
    assert.ok(rig.ofType('notice').some(({ code, text }) => code === 'context-cut' && /sessions show/.test(text)))
    const last = rig.server.requests.at(-1)?.messages ?? []
    assert.match(last[1]?.text ?? '', /SUMMARY of it/)
    assert.ok(last.some(({ role, text }) => role === 'user' && text === 'The task'))
    const stored = await rig.history()
    assert.equal(stored.filter(({ role }) => role === 'tool').length, 8, 'the whole history stays')
    assert.ok(stored.some((message) => cutOf(message)?.by === 'compaction'))
    assert.ok(rig.events.every((event) => event.type !== 'text-delta' || !event.text.includes('SUMMARY')))
    const { tokens, cuts, messageCount, shownCount } = await rig.agent.context()
    assert.ok(tokens.total < 1_600 && tokens.budget === 1_600 && cuts.length === 1)
    assert.ok(shownCount < messageCount)
    assert.equal(tokens.total, tokens.system + tokens.tools + tokens.messages)
  })

  for (const truncation of ['oldest_first', 'middle_out'] as const) {
    it(`leaves messages out by ${truncation}, where summaries are off or fail`, async () => {
      let calls = 0
      await using rig = await startRig({
        script: (request) => {
          if (isSummary(request)) return { type: 'status', status: 400, message: 'no' }
          return ++calls <= 8 ? { ...work, usage } : { type: 'text', text: 'done', usage }
        },
        tools: { work: () => succeeded(LONG) },
        agent: {
          context: {
            maxTokens: 1_600,
            reserveTokens: 100,
            truncation,
            compaction: truncation === 'middle_out' ? 'auto' : 'off',
          },
        },
      })
      assert.equal((await rig.send('The task')).end, 'done')
      assert.equal(rig.ofType('context-cut')[0]?.by, truncation)
      for (const { messages } of rig.server.requests.filter((request) => !isSummary(request))) {
        const chars = messages.reduce((sum, { text }) => sum + text.length, 0)
        assert.ok(chars / 4 < 1_500, `${chars} characters`)
        assert.ok(messages.some(({ role, text }) => role === 'user' && text === 'The task'))
      }
      const [, , another] = [await rig.send('And now?'), 0, rig.server.requests.at(-1)]
      assert.equal(another?.messages.at(-1)?.text, 'And now?')
    })
  }

  it('is learned from a provider that refuses a request, which is asked again with less', async () => {
    const refusal =
      'This model’s maximum context length is 1200 tokens. However, your messages resulted in 3000 tokens.'
    await using rig = await startRig({
      script: (request) => {
        const chars = request.messages.reduce((sum, { text }) => sum + text.length, 0)
        if (chars > 4_800) return { type: 'status', status: 400, message: refusal }
        if (isSummary(request)) return { type: 'text', text: 'SUMMARY', usage }
        return { type: 'text', text: LONG, usage }
      },
    })
    for (let turn = 0; turn < 8; turn++) assert.equal((await rig.send(`task ${turn}`)).end, 'done', `turn ${turn}`)
    assert.ok(rig.ofType('context-cut').length > 0)
    assert.equal((await rig.agent.context()).tokens.budget, 1_200)
  })

  it('fails with words where nothing can be left out', async () => {
    const refusal = { type: 'status', status: 400, message: 'prompt is too long: 9000 tokens > 10 maximum' } as const
    await using rig = await startRig({ script: () => refusal })
    const { end, error } = await rig.send('task')
    assert.deepEqual([end, error?.code], ['failed', 'MODEL_FAILED'])
    assert.match(error?.message ?? '', /longer than it can take: prompt is too long/)
  })
})

describe('a summary that a person asks for', () => {
  it('replaces the whole history in a turn of its own', async () => {
    await using rig = await startRig({
      script: (request) => ({
        type: 'text',
        text: isSummary(request) ? 'SHORT' : 'fine',
        usage: { inputTokens: 9, outputTokens: 1 },
      }),
    })
    await rig.send(`one ${LONG}`)
    await rig.send(`two ${LONG}`)
    const result = await rig.agent.compact({ onEvent: (event) => rig.events.push(event) })
    assert.deepEqual([result.end, result.text, result.usage.totalTokens], ['done', 'SHORT', 10])
    assert.equal(rig.ofType('context-cut')[0]?.messages, 3, 'the last task is kept')
    await rig.send('three')
    const seen = rig.server.requests.at(-1)?.messages ?? []
    assert.deepEqual(
      seen.map(({ role, text }) => [role, text.slice(0, 12)]),
      [
        ['system', 'You are an a'],
        ['user', 'Summary of t'],
        ['user', 'two word wor'],
        ['user', 'three'],
      ],
    )
    assert.equal((await rig.history()).length, 7)
    assert.deepEqual(
      rig.ofType('notice').filter(({ code }) => code === 'interrupted-turn'),
      [],
    )
  })

  it('does nothing to an empty history, and leaves it as it is when the model fails', async () => {
    await using rig = await startRig({
      script: (request) => (isSummary(request) ? { type: 'status', status: 400 } : { type: 'text', text: 'fine' }),
    })
    await rig.send('one')
    const before = await rig.history()
    assert.equal((await rig.agent.compact()).end, 'failed')
    assert.deepEqual(await rig.history(), before)
  })
})
