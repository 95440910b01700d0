// npm run bench -- agents
// What an agent costs beyond the work itself: a call in process, ten thousand opened agents, and a turn beside the AI SDK's own loop
// against the same local model. Values are checked before they are timed.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ceilingLayers, grantsLayer, presetPermissions } from '../dist/authorize/index.js'
import { createMemoryStore, createRuntime, decide, defineTool, parsePolicy } from '../dist/public/index.js'
import { createAgent, resolveModel } from '../dist/public/agents.js'
import { openSqliteStore } from '../dist/public/local.js'
import { startModelServer } from '../dist/public/testing.js'
import { median, printTable } from './measure.mjs'

const FACTS = { target: 'a bench', os: 'linux', hasBin: () => false, hasEnv: () => false }
const CALLS = 10
/** An answer of a fast model. */
const MODEL_MS = 50
const PARAMETERS = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}
const sum = ({ a, b }) => String(a + b)
const add = defineTool({ name: 'add', description: 'Adds two numbers.', parameters: PARAMETERS, execute: sum })
const parts = { sources: [], facts: FACTS, registerTools: (registry) => registry.register('add', () => add) }

export async function agents(runs) {
  const call = await callCost(runs)
  const handles = await handleCost()
  const decision = decideCost(runs)
  printTable(
    'agents',
    ['what', 'measured', 'goal'],
    [
      ['a call in process over the bare function, µs', call.toFixed(1), '≤ 200'],
      ['a decision on 200 rules and 5 ancestors, µs', decision.toFixed(1), '≤ 10'],
      ['an opened agent before its first use, bytes', handles.toFixed(0), '≤ 4096'],
    ],
  )
  const turns = await turnCost(runs)
  printTable(`a turn with ${CALLS} calls, ms`, ['where', 'ms', 'beside the AI SDK', 'writes a call'], turns)
  const slow = await turnCost(runs, MODEL_MS)
  const title = `the same, the model taking ${MODEL_MS} ms an answer (goal in SQLite ≤ 1.3 ×)`
  printTable(title, ['where', 'ms', 'beside the AI SDK', 'writes a call'], slow)
}

/** Median of rounds of 10,000 decisions: the agent has 200 lines of policy, each of its 5 ancestors has permissions and a short policy. */
function decideCost(runs) {
  const names = Array.from({ length: 197 }, (_, index) => `mcp:server${index}.tool`)
  const { rules: policy } = parsePolicy({
    allow: names.slice(0, 150),
    deny: [...names.slice(150), 'group:web', '*.shutdown'],
    ask: ['add'],
  })
  const { rules: short } = parsePolicy({ profile: 'full', deny: ['group:nexus'] })
  const permissions = presetPermissions('trusted', { presets: {}, workspace: '/w' })
  const ceilings = ['a', 'b', 'c', 'd', 'e'].map((of) => ({ of, permissions, policy: short }))
  const layers = [grantsLayer(permissions), ...ceilingLayers(ceilings)]
  const input = { call: { tool: 'add', arguments: {}, agentId: 'main', origin: 'model' }, tool: add, policy, layers }
  assert.equal(decide(input).type, 'ask')
  const costs = []
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now()
    for (let index = 0; index < 10_000; index++) decide(input)
    costs.push((performance.now() - startedAt) / 10)
  }
  return median(costs)
}

/** Median of rounds of 1,000 calls; the outcome is checked in the first. */
async function callCost(runs) {
  const runtime = await createRuntime(parts)
  const agent = runtime.openAgent()
  const { outcome } = await agent.call({ tool: 'add', arguments: { a: 2, b: 3 } })
  assert.equal(outcome.text, '5')
  const round = async (work) => {
    const startedAt = performance.now()
    for (let index = 0; index < 1000; index++) await work(index)
    return performance.now() - startedAt
  }
  const costs = []
  for (let run = 0; run < runs; run++) {
    const bare = await round(async (index) => sum({ a: index, b: 1 }))
    const called = await round((index) => agent.call({ tool: 'add', arguments: { a: index, b: 1 } }))
    costs.push(called - bare)
  }
  await runtime.close()
  return median(costs)
}

/** Heap of 10,000 handles of agents with equal rules, and that they share one catalog. */
async function handleCost() {
  const runtime = await createRuntime(parts)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const open = (index) => runtime.openAgent({ id: `agent-${index}`, policy: POLICY, sessionId: `session-${index}` })
  assert.equal(open(0).catalog(), open(1).catalog())
  collect()
  const before = process.memoryUsage().heapUsed
  const opened = Array.from({ length: 10_000 }, (_, index) => open(index))
  collect()
  const bytes = (process.memoryUsage().heapUsed - before) / opened.length
  await runtime.close()
  return bytes
}

const POLICY = { profile: 'full', allow: [], ask: [], deny: [], groups: new Map() }

async function turnCost(runs, modelMs = 0) {
  const step = (index) => ({ type: 'tool-calls', calls: [{ name: 'add', arguments: { a: index, b: 1 } }] })
  const replies = [...Array.from({ length: CALLS }, (_, index) => step(index)), { type: 'text', text: 'Done.' }]
  const turn = async (_request, index) => {
    if (modelMs > 0) await new Promise((resolve) => setTimeout(resolve, modelMs))
    return replies[index]
  }
  const directory = mkdtempSync(join(tmpdir(), 'nexus-bench-'))
  const stores = {
    memory: await createMemoryStore({ projectId: 'default' }),
    sqlite: await openSqliteStore({ path: join(directory, 'state.db'), projectId: 'default' }),
  }
  const rows = { sdk: [], memory: [], sqlite: [] }
  const writes = {}
  try {
    for (let run = 0; run <= runs; run++) {
      const times = { sdk: await timed(turn, sdkTurn) }
      for (const name of ['memory', 'sqlite']) {
        const counted = counting(stores[name])
        times[name] = await timed(turn, (server) => nexusTurn(server, counted.store))
        writes[name] = counted.writes() / CALLS
      }
      // The first round loads the modules.
      if (run > 0) for (const [name, ms] of Object.entries(times)) rows[name].push(ms)
    }
  } finally {
    await stores.sqlite.close()
    rmSync(directory, { recursive: true, force: true })
  }
  const ratio = (name) => median(rows[name].map((ms, index) => ms / rows.sdk[index])).toFixed(2)
  return [
    ['the AI SDK', median(rows.sdk).toFixed(1), '1.00', '–'],
    ['in memory (goal ≤ 2 ×)', median(rows.memory).toFixed(1), ratio('memory'), writes.memory.toFixed(1)],
    ['in SQLite (goal ≤ 4 writes a call)', median(rows.sqlite).toFixed(1), ratio('sqlite'), writes.sqlite.toFixed(1)],
  ]
}

async function timed(script, work) {
  const server = await startModelServer({ script })
  try {
    const startedAt = performance.now()
    assert.equal(await work(server), 'Done.')
    return performance.now() - startedAt
  } finally {
    await server.close()
  }
}

async function sdkTurn(server) {
  const { jsonSchema, stepCountIs, streamText, tool } = await import('ai')
  const model = await modelOf(server)
  const result = streamText({
    model: model.languageModel,
    messages: [{ role: 'user', content: 'Add.' }],
    tools: {
      add: tool({ description: 'Adds.', inputSchema: jsonSchema(PARAMETERS), execute: async (args) => sum(args) }),
    },
    stopWhen: stepCountIs(50),
  })
  return result.text
}

async function nexusTurn(server, store) {
  const runtime = await createRuntime({ ...parts, store })
  const agent = createAgent({
    agent: runtime.openAgent({ sessionId: crypto.randomUUID() }),
    model: await modelOf(server),
    store,
    instructions: 'Add.',
  })
  const { text } = await agent.send('Add.')
  await runtime.close()
  return text
}

function modelOf(server) {
  return resolveModel({ spec: 'openai-compatible/scripted', environment: { openaiBaseUrl: server.url } })
}

/** The store, and how many of its writes were asked for: each is one commit. */
function counting(store) {
  let writes = 0
  const WRITES = new Set([
    'record',
    'start',
    'close',
    'append',
    'step',
    'update',
    'create',
    'enqueue',
    'take',
    'finish',
    'acquire',
    'release',
  ])
  const wrap = (part) =>
    new Proxy(part, {
      get: (target, name) => {
        const value = target[name]
        if (typeof value !== 'function') return value
        return (...args) => {
          if (WRITES.has(name)) writes += 1
          return value.apply(target, args)
        }
      },
    })
  const { ledger, sessions, turns, leases } = store
  const wrapped = { ledger: wrap(ledger), sessions: wrap(sessions), turns: wrap(turns), leases: wrap(leases) }
  return { store: { ...store, ...wrapped }, writes: () => writes }
}
