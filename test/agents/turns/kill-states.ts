/** The owner of turns is killed with -9 while they are in every state; the next owner goes on. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionLease, type Store, type TurnRecord } from '../../../src/store/index.ts'
import { type ModelRequest, type Reply, startModelServer } from '../../../src/testing/index.ts'
import { startPostgres, whyNoPostgres } from '../../store/postgres-server.ts'
import { acknowledged, ended } from '../../store/processes.ts'
import { mulberry32 } from '../../store/rounds.ts'
import { isWhole } from './rig.ts'
import { openAhead, openStates, type Place, type State, STATES } from './state-agent.ts'
import { COMPILED } from '../../source-tree.ts'

/** Longer than the leases of a process: then its time is over, without waiting for it. */
const LATER_MS = 60_000
const MOST_MS = 30_000

function reply({ messages }: ModelRequest): Reply {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const task = messages[at]?.text ?? ''
  if (task === 'streaming') return { type: 'hang', text: 'It was a dark and stormy night, and' }
  const name = { asked: 'confirmed', answered: 'confirmed', started: 'work' }[task]
  if (name === undefined || at < messages.length - 1) return { type: 'text', text: 'Done.' }
  return { type: 'tool-calls', calls: [{ name, arguments: {} }] }
}

/** Registers the rounds over both databases. */
export function killRounds(count: number): void {
  const run = async (t: TestContext, address: (directory: string) => string): Promise<void> => {
    const directory = mkdtempSync(join(tmpdir(), 'nexus-states-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const first = Date.now() % 1_000_000
    for (let seed = first; seed < first + count; seed++) {
      const place = { address: address(directory), projectId: `p${seed}`, effects: join(directory, `${seed}.effects`) }
      t.diagnostic(`seed ${seed}: the end was ${await killInEveryState(place, seed)}`)
    }
  }
  test(`kill -9 of the owner in every state of a turn loses and repeats nothing (rounds: ${count})`, (t) =>
    run(t, (directory) => join(directory, 'nexus.db')))

  test(`the same on Postgres (rounds: ${count})`, { skip: whyNoPostgres() ?? false }, async (t) => {
    const server = await startPostgres()
    t.after(() => server.close())
    await run(t, () => server.url())
  })
}

/** One round. Returns how the turn ended whose end was being written. */
async function killInEveryState(at: Omit<Place, 'url'>, seed: number): Promise<string> {
  await using server = await startModelServer({ script: reply })
  const place = { ...at, url: server.url }
  const first = await openAhead(place, 0)
  // Another owner has the session of the message that waits.
  const other = await first.leases.acquire(sessionLease('queued'), { owner: 'other', ttlMs: MOST_MS })
  assert.equal(other.type, 'acquired')
  const lines = await killed(place, first, mulberry32(seed)() * 8)
  const store = await openAhead(place, LATER_MS)
  try {
    await store.reclaim()
    const ending = await inspectLeft(store, lines)
    await goOn(place, store, first)
    await inspectEnd(place, store, lines)
    return ending
  } finally {
    await first.close()
    await store.close()
  }
}

/** What the process said until it was killed: every turn was in its state, and one was about to end. */
async function killed(place: Place, store: Store, ms: number): Promise<readonly string[]> {
  const script = join(import.meta.dirname, 'state-agent.ts')
  const { address, projectId, url, effects } = place
  const child = spawn(process.execPath, [COMPILED, script, address, projectId, url, effects], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const end = ended(child)
  const lines = acknowledged(child)
  try {
    const until = Date.now() + MOST_MS
    let isAnswered = false
    while (lines.filter((line) => line.startsWith('REACHED')).length < STATES.length) {
      assert.ok(Date.now() < until && child.exitCode === null, `only: ${lines.join(', ')}`)
      const [, question] = lines.find((line) => line.startsWith('QUESTION'))?.split(' ') ?? []
      if (question !== undefined && !isAnswered) {
        isAnswered = true
        await store.approvals.answer(question, { isAllowed: true, by: 'ada', kind: 'person' })
      }
      await sleep(5)
    }
    child.stdin.write('end\n')
    await sleep(ms)
  } finally {
    child.kill('SIGKILL')
    await end
  }
  return lines
}

const turnOf = async (store: Store, sessionId: State): Promise<TurnRecord> => {
  const [turn] = await store.turns.list({ sessionId })
  assert.ok(turn, `the message of ${sessionId} is lost`)
  return turn
}

/** What the killed process left, when its time is over. */
async function inspectLeft(store: Store, lines: readonly string[]): Promise<string> {
  const turns = new Map<State, TurnRecord>()
  for (const state of STATES) turns.set(state, await turnOf(store, state))
  const { state: ending = '', id = '' } = turns.get('ending') ?? {}
  assert.ok(ending === 'done' || (ending === 'interrupted' && !lines.includes(`ENDED ${id}`)), ending)
  const waits = { asked: 'waiting', answered: 'waiting' }
  assert.deepEqual(Object.fromEntries([...turns].map(([state, turn]) => [state, turn.state])), {
    ...{ queued: 'queued', streaming: 'interrupted', ...waits, started: 'interrupted', ending },
  })
  assert.equal(turns.get('queued')?.isLeft, true)
  const calls = (await store.ledger.list()).map(({ call, state }) => `${call.sessionId} ${state}`).sort()
  assert.deepEqual(calls, ['answered answered', 'asked asked', 'started interrupted'])
  const open = await store.approvals.list({ states: ['open'] })
  assert.deepEqual(
    open.map(({ sessionId }) => sessionId),
    ['asked'],
  )
  return ending
}

/** The next owner takes over what was left, then every session takes another message. */
async function goOn(place: Place, store: Store, other: Store): Promise<void> {
  const [question] = await store.approvals.list({ states: ['open'] })
  const answer = { isAllowed: true, by: 'ada', kind: 'person' } as const
  const answers = await Promise.all([store, other].map((each) => each.approvals.answer(question?.id ?? '', answer)))
  assert.deepEqual(answers.map(({ isApplied }) => isApplied).sort(), [false, true], 'one of two answers applies')
  const { runtime, agents } = await openStates(place, store)
  await Promise.all(
    [...agents].map(async ([state, agent]) => {
      const results = await agent.takeOver()
      const isLeft = state === 'queued' || state === 'asked' || state === 'answered'
      assert.deepEqual(
        results.map(({ end }) => end),
        isLeft ? ['done'] : [],
        state,
      )
      assert.equal((await agent.send('more')).end, 'done')
    }),
  )
  await runtime.close()
}

/** Nothing acknowledged is lost or doubled, no call ran twice, and nothing is open. */
async function inspectEnd({ effects }: Place, store: Store, lines: readonly string[]): Promise<void> {
  const turns = await store.turns.list()
  for (const [word, id] of lines.map((line) => line.split(' ')))
    if (word === 'QUEUED')
      assert.ok(
        turns.some((turn) => turn.id === id),
        `message ${id} is lost`,
      )
  assert.ok(turns.every(({ state }) => state === 'done' || state === 'interrupted'))
  for (const sessionId of STATES) {
    const history = await store.sessions.messages(sessionId)
    assert.ok(isWhole(history), sessionId)
    const said = history.filter(({ role }) => role === 'user').map(({ content }) => content)
    assert.deepEqual(said, [sessionId, 'more'])
    const [turn] = await store.turns.list({ sessionId })
    if (sessionId === 'asked' || sessionId === 'answered') assert.equal(turn?.use.steps, 2)
  }
  const calls = (await store.ledger.list()).map(({ call, state }) => `${call.sessionId} ${state}`).sort()
  assert.deepEqual(calls, ['answered done', 'asked done', 'started interrupted'])
  assert.deepEqual(readFileSync(effects, 'utf8').trim().split('\n').sort(), ['answered', 'asked', 'started'])
  assert.deepEqual(await store.approvals.list({ states: ['open'] }), [])
  for (const sessionId of STATES) assert.equal(await store.leases.get(sessionLease(sessionId)), undefined, sessionId)
}
