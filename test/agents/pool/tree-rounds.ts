/** Turns of a tree of agents whose process is killed at random points, started again, and killed again. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../../src/kernel/index.ts'
import { type AgentRecord, openPostgresStore, openSqliteStore, type Store } from '../../../src/store/index.ts'
import { type ModelRequest, type Reply, startModelServer } from '../../../src/testing/index.ts'
import { acknowledged, ended } from '../../store/processes.ts'
import { mulberry32 } from '../../store/rounds.ts'
import { isWhole } from '../turns/rig.ts'
import { COMPILED } from '../../source-tree.ts'

const KILLS = 3
/** Longer than the leases of a process: at each start its time is over, without waiting for it. */
const LATER_MS = 60_000
/** A child that starts says about so many things before its messages are done. */
const MOST_LINES = 60

/** A file of SQLite, or the address of a Postgres. */
export function openTreeStore(database: string, ahead: number): Promise<Store> {
  const clock: Clock = { ...systemClock, now: () => Date.now() + ahead }
  return database.startsWith('postgres:')
    ? openPostgresStore({ url: database, projectId: 'default', clock })
    : openSqliteStore({ path: database, projectId: 'default', clock })
}

/** One round. Returns what happened; throws when something acknowledged is lost, runs twice, stays open, or has other rights. */
export async function runTreeRound(database: string, effects: string, seed: number): Promise<Record<string, number>> {
  const random = mulberry32(seed)
  const faults: string[] = []
  await using server = await startModelServer({
    script: (request) => {
      const fault = faultOf(request.messages)
      if (fault !== undefined) faults.push(fault)
      return reply(request)
    },
  })
  const lines: string[] = []
  const rights = new Map<string, string>()
  const start = (run: number, messages: number): ChildProcess =>
    startTree([database, server.url, effects, String(run * LATER_MS), String(messages)])
  for (let run = 0; run < KILLS; run += 1) {
    const child = start(run, 2)
    try {
      lines.push(...(await killAfter(child, { lines: Math.floor(random() * MOST_LINES), ms: random() * 8 })))
    } finally {
      child.kill('SIGKILL')
    }
    await inspectOpen(database, { ahead: (run + 1) * LATER_MS, rights })
  }
  const last = start(KILLS, 1)
  const spoken = acknowledged(last)
  assert.equal(await ended(last), 0)
  lines.push(...spoken)
  assert.deepEqual(faults, [], 'a provider would refuse a history')
  return await inspect({ database, effects, rights }, lines)
}

function startTree(args: readonly string[]): ChildProcess {
  const script = join(import.meta.dirname, 'working-tree.ts')
  return spawn(process.execPath, [COMPILED, script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The process is killed when `nexus_create` has made an agent and not yet sent its message; the next one goes on. */
export async function runCreateRound(database: string, effects: string): Promise<void> {
  await using server = await startModelServer({ script: reply })
  const run = async (number: number, ...more: readonly string[]): Promise<number | null> => {
    const child = startTree([database, server.url, effects, String(number * LATER_MS), ...more])
    acknowledged(child)
    return ended(child)
  }
  const look = async (number: number) => {
    await using store = await closing(openTreeStore(database, number * LATER_MS))
    const rows = (await store.agents.list()).filter(({ id }) => id.startsWith('hand-'))
    return { ids: rows.map(({ id }) => id), turns: await store.turns.list({ sessionId: rows[0]?.sessionId ?? '' }) }
  }
  assert.equal(await run(0, '1', 'hand-'), null)
  assert.deepEqual(await look(1), { ids: ['hand-1'], turns: [] })
  assert.equal(await run(1, '0'), 0)
  const { ids, turns } = await look(2)
  assert.deepEqual([ids, turns.map(({ state }) => state)], [['hand-1'], ['done']])
  await inspect({ database, effects, rights: new Map() }, [])
}

/** The first two give the next one work; the last one makes two calls, one of which is asked about. */
function reply({ index, messages }: ModelRequest): Reply {
  const who = /^\w+/.exec(messages[0]?.text ?? '')?.[0]
  const content = `Work ${index}.`
  const calls = messages.slice(messages.findLastIndex(({ role }) => role === 'user')).flatMap((each) => each.toolCalls)
  const id = `call_${index}`
  if (who === 'hand') {
    const [name] = ['work', 'confirmed'].slice(calls.length)
    if (name === undefined) return { type: 'text', text: 'Done.' }
    return { type: 'tool-calls', calls: [{ name, arguments: { token: `request-${index}` }, id }] }
  }
  if (calls.length > 0) return { type: 'text', text: 'They are done.' }
  // Each second task of the middle one goes to an agent that it makes for it.
  const isNew = who === 'mid' && index % 2 === 1
  const made = { agent_id: `hand-${index}`, instructions: 'hand', message: content }
  const sent = { agent_id: who === 'boss' ? 'mid' : 'hand', content }
  const call = isNew ? { name: 'nexus_create', arguments: made } : { name: 'nexus_send', arguments: sent }
  return { type: 'tool-calls', calls: [{ ...call, id }] }
}

/** Why a provider would refuse a history: every call is answered at once, and only calls are. */
function faultOf(messages: ModelRequest['messages']): string | undefined {
  let open: string[] = []
  for (const { role, toolCalls, toolCallId = '' } of messages) {
    if (role === 'tool' && !open.includes(toolCallId)) return `${toolCallId} is answered and was not called`
    if (role !== 'tool' && open.length > 0) return `${open.join(' ')} not answered before a message of ${role}`
    open = role === 'tool' ? open.filter((id) => id !== toolCallId) : toolCalls.map(({ id }) => id)
  }
  return open.length > 0 ? `${open.join(' ')} not answered at the end` : undefined
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

const rightsOf = ({ permissions, ceiling, settings, parent, depth }: AgentRecord): string =>
  JSON.stringify([permissions, ceiling, settings, parent, depth])

/** An agent has the rights that it was made with, whatever happened since. */
async function checkRights(store: Store, rights: Map<string, string>): Promise<void> {
  for (const row of await store.agents.list({ isLiving: true })) {
    assert.equal(rightsOf(row), rights.get(row.key) ?? rightsOf(row), `${row.path} has other rights`)
    rights.set(row.key, rightsOf(row))
  }
}

/** Calls that are made again, with the same effect once. */
const isOfPool = (tool: string): boolean => tool === 'nexus_send' || tool === 'nexus_create'

/** When the leases of the killed process are over, nothing of it is open but what waits to go on. */
async function inspectOpen(
  database: string,
  { ahead, rights }: { readonly ahead: number; readonly rights: Map<string, string> },
): Promise<void> {
  await using store = await closing(openTreeStore(database, ahead))
  await store.reclaim()
  await checkRights(store, rights)
  assert.deepEqual(await store.turns.list({ states: ['running'] }), [])
  const waiting = new Set((await store.turns.list({ states: ['waiting'] })).map(({ id }) => id))
  const open = await store.ledger.list({ states: ['asked', 'answered', 'started'] })
  for (const { call, state } of open) {
    assert.ok(state !== 'started' || isOfPool(call.tool), `${call.tool} is open`)
    assert.ok(waiting.has(call.turnId ?? ''), `${call.tool} is open without a turn that waits`)
  }
  const asked = open.filter(({ state }) => state === 'asked').map(({ call }) => call.id)
  const questions = (await store.approvals.list({ states: ['open'] })).map(({ callId }) => callId)
  assert.deepEqual(questions, asked, 'questions stay open')
}

async function inspect(
  place: { readonly database: string; readonly effects: string; readonly rights: Map<string, string> },
  lines: readonly string[],
): Promise<Record<string, number>> {
  await using store = await closing(openTreeStore(place.database, (KILLS + 1) * LATER_MS))
  await checkRights(store, place.rights)
  const turns = await store.turns.list()
  const states = new Map(turns.map(({ id, state }) => [id, state]))
  for (const [word, id = '', end] of lines.map((line) => line.split(' '))) {
    if (word === 'QUEUED') assert.ok(states.has(id), `message ${id} was acknowledged and is lost`)
    if (word === 'ENDED' && end === 'done') assert.equal(states.get(id), 'done', `turn ${id} was acknowledged as done`)
  }
  for (const { id, state } of turns)
    assert.ok(['done', 'interrupted', 'cancelled'].includes(state), `turn ${id} is ${state}`)
  await checkHistories(store)
  const { effects } = place
  const ran = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').filter(Boolean) : []
  assert.equal(new Set(ran).size, ran.length, 'a call ran twice')
  const calls = await store.ledger.list()
  const done = calls.filter(({ state }) => state === 'done').map(({ call }) => String(call.arguments['token']))
  for (const { call } of calls.filter(({ state, call: { tool } }) => state === 'done' && !isOfPool(tool)))
    assert.ok(ran.includes(String(call.arguments['token'])), 'a call that is recorded as done did run')
  return { turns: turns.length, cut: turns.filter(({ state }) => state === 'interrupted').length, done: done.length }
}

async function checkHistories(store: Store): Promise<void> {
  for (const { id, sessionId } of await store.agents.list()) {
    const turns = await store.turns.list({ sessionId })
    // A turn that was cut off is repaired by the next one.
    if (turns.at(-1)?.state === 'done')
      assert.ok(isWhole(await store.sessions.messages(sessionId)), 'every call has one answer')
    assert.ok(!id.startsWith('hand-') || turns.length <= 1, `${id} got its first message twice`)
  }
}

async function closing(opening: Promise<Store>): Promise<Store & AsyncDisposable> {
  const store = await opening
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}
