/** Turns of a whole agent whose process is killed at random points, started again, and killed again. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/kernel/index.ts'
import { openSqliteStore, type Store } from '../../../src/store/index.ts'
import { type ModelRequest, type Reply, startModelServer } from '../../../src/testing/index.ts'
import { acknowledged, ended } from '../../store/processes.ts'
import { mulberry32 } from '../../store/rounds.ts'
import { isWhole } from './rig.ts'
import { COMPILED } from '../../source-tree.ts'

const KILLS = 3
/** Longer than the leases of a process: at each start its time is over, without waiting for it. */
const LATER_MS = 60_000
/** A child that starts says about so many things before its messages are done. */
const MOST_LINES = 40

/** One round. Returns what happened; throws when something acknowledged is lost, runs twice, or stays open. */
export async function runTurnRound(directory: string, seed: number): Promise<Record<string, number>> {
  const random = mulberry32(seed)
  const paths = { state: join(directory, `${seed}.db`), effects: join(directory, `${seed}.effects`) }
  const faults: string[] = []
  await using server = await startModelServer({
    script: (request) => {
      const fault = faultOf(request.messages)
      if (fault !== undefined) faults.push(fault)
      return reply(request)
    },
  })
  const lines: string[] = []
  const start = (run: number, messages: number): ChildProcess => {
    const script = join(import.meta.dirname, 'working-agent.ts')
    const args = [script, paths.state, server.url, paths.effects, String(run * LATER_MS), String(messages)]
    return spawn(process.execPath, [COMPILED, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  }
  for (let run = 0; run < KILLS; run++) {
    const child = start(run, 4)
    try {
      lines.push(...(await killAfter(child, { lines: Math.floor(random() * MOST_LINES), ms: random() * 8 })))
    } finally {
      child.kill('SIGKILL')
    }
    await inspectOpen(paths.state, (run + 1) * LATER_MS)
  }
  const last = start(KILLS, 2)
  const spoken = acknowledged(last)
  assert.equal(await ended(last), 0)
  lines.push(...spoken)
  assert.deepEqual(faults, [], 'a provider would refuse a history')
  return await inspect(paths, lines)
}

/** Two calls, one of which is asked about, then an answer in pieces. */
function reply({ index, messages }: ModelRequest): Reply {
  const calls = messages.slice(messages.findLastIndex(({ role }) => role === 'user')).flatMap((each) => each.toolCalls)
  const [name] = ['work', 'confirmed'].slice(calls.length)
  if (name === undefined) return { type: 'text', text: ['Every', 'thing', ' is done.'], delayMs: 2 }
  return { type: 'tool-calls', calls: [{ name, arguments: { token: `request-${index}` }, id: `call_${index}` }] }
}

/** Why a provider would refuse a history: every call is answered at once, and only calls are. */
function faultOf(messages: ModelRequest['messages']): string | undefined {
  let open: string[] = []
  for (const { role, toolCalls, toolCallId = '' } of messages) {
    if (role === 'tool' && !open.includes(toolCallId)) return `${toolCallId} is answered and was not called`
    if (role !== 'tool' && open.length > 0) return `${open.join(' ')} not answered before a message of ${role}`
    open = role === 'tool' ? open.filter((id) => id !== toolCallId) : toolCalls.map(({ id }) => id)
  }
  if (open.length > 0) return `${open.join(' ')} not answered at the end`
  const last = messages.at(-1)?.role
  return last === 'user' || last === 'tool' ? undefined : `the last message is of ${last}`
}

/** Kills the child some time after it said so many lines; returns what it said. */
async function killAfter(child: ChildProcess, at: { readonly lines: number; readonly ms: number }): Promise<string[]> {
  const lines = acknowledged(child)
  const end = ended(child)
  const reached = new Promise<void>((resolve) => {
    child.on('acknowledged', (count: number) => {
      if (count > at.lines) resolve()
    })
  })
  await Promise.race([end, reached])
  await sleep(at.ms)
  child.kill('SIGKILL')
  assert.ok([null, 0].includes(await end), 'the process failed by itself')
  return lines
}

async function withStore<T>(path: string, ahead: number, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({
    path,
    projectId: 'default',
    clock: { ...systemClock, now: () => Date.now() + ahead },
  })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** When the leases of the killed process are over, nothing of it is open but what waits to be run. */
function inspectOpen(path: string, ahead: number): Promise<void> {
  return withStore(path, ahead, async (store) => {
    await store.reclaim()
    assert.deepEqual(await store.turns.list({ states: ['running'] }), [])
    const waiting = await store.turns.list({ states: ['waiting'] })
    assert.ok(waiting.length <= 1)
    const open = await store.ledger.list({ states: ['asked', 'answered', 'started'] })
    assert.deepEqual(
      open.map(({ call: { turnId }, state }) => [turnId, state === 'started']),
      waiting.map(({ id }) => [id, false]),
    )
    const asked = open.filter(({ state }) => state === 'asked').map(({ call }) => call.id)
    assert.deepEqual(
      (await store.approvals.list({ states: ['open'] })).map(({ callId }) => callId),
      asked,
    )
    for (const turn of await store.turns.list({ states: ['queued'] })) assert.ok(turn.isLeft)
  })
}

function inspect(paths: { state: string; effects: string }, lines: readonly string[]): Promise<Record<string, number>> {
  return withStore(paths.state, (KILLS + 1) * LATER_MS, async (store) => {
    const turns = await store.turns.list()
    const calls = await store.ledger.list()
    const messages = await store.sessions.messages('s1')
    assert.ok(isWhole(messages))
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    const states = new Map(turns.map((turn) => [turn.id, turn.state]))
    for (const [word, id = ''] of lines.map((line) => line.split(' '))) {
      if (word === 'QUEUED') assert.ok(states.has(id), `message ${id} was acknowledged and is lost`)
      if (word === 'ENDED') assert.equal(states.get(id), 'done', `turn ${id} was acknowledged as ended`)
    }
    for (const { id, state, message } of turns) {
      assert.ok(state === 'done' || state === 'interrupted', `turn ${id} is ${state}`)
      assert.equal(said.filter((text) => text === message['content']).length, 1, `message ${id} is in the history once`)
    }
    const tokenOf = (entry: (typeof calls)[number]): string => String(entry.call.arguments['token'])
    const effects = existsSync(paths.effects) ? readFileSync(paths.effects, 'utf8').split('\n').filter(Boolean) : []
    assert.equal(new Set(effects).size, effects.length, 'a call ran twice')
    assert.equal(new Set(calls.map(tokenOf)).size, calls.length, 'a call is recorded twice')
    for (const token of effects)
      assert.ok(
        calls.some((entry) => tokenOf(entry) === token),
        `${token} ran without a record`,
      )
    for (const entry of calls) {
      const { state } = entry
      assert.ok(['done', 'interrupted', 'not run'].includes(state), `${tokenOf(entry)} is ${state}`)
      if (state !== 'interrupted') assert.equal(effects.includes(tokenOf(entry)), state === 'done', tokenOf(entry))
    }
    const count = (list: readonly { state: string }[], wanted: string): number =>
      list.filter(({ state }) => state === wanted).length
    return {
      turns: turns.length,
      cutTurns: count(turns, 'interrupted'),
      calls: calls.length,
      cutCalls: count(calls, 'interrupted'),
      notRun: count(calls, 'not run'),
    }
  })
}
