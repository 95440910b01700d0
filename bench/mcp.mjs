// npm run bench -- mcp
// What `nexus mcp` costs beyond a bare server of the SDK: from the start to the answer of `initialize`, and a trivial call beside a call of
// the bare server plus the same call in process with its rows.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { openLocal } from '../dist/public/local.js'
import { median, printTable, spread } from './measure.mjs'

const CALLS = 300
/** Calls before those that are timed: in a new process the first hundreds wait for the compiler. */
const WARM_UP = 500
const MODULE = `export default {
  name: 'bench_echo', description: 'Echoes.', parameters: { type: 'object', properties: { text: { type: 'string' } } },
  execute: async ({ text }) => text,
}
`

export async function mcp(runs) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-bench-mcp-')))
  try {
    const { bare, nexus, project, env } = await prepare(root)
    const starts = { bare: [], nexus: [] }
    const calls = { bare: [], nexus: [], local: [] }
    for (let run = 0; run <= runs; run++) {
      const order = run % 2 ? ['bare', 'nexus'] : ['nexus', 'bare']
      for (const name of order) {
        const server = await startServer(name === 'bare' ? bare : nexus, { cwd: project, env })
        const ms = await server.timed(CALLS)
        await server.end()
        // The first round fills the compile caches.
        if (run > 0) starts[name].push(server.startMs)
        if (run > 0) calls[name].push(ms)
      }
      const ms = await localCalls(project, env)
      if (run > 0) calls.local.push(ms)
    }
    const startRatios = starts.nexus.map((ms, index) => ms / starts.bare[index])
    const callRatios = calls.nexus.map((ms, index) => ms / (calls.bare[index] + calls.local[index]))
    printTable(
      'mcp',
      ['what', 'bare SDK', 'nexus', 'ratio', 'goal'],
      [
        [
          'start to the answer of initialize, ms',
          median(starts.bare).toFixed(0),
          median(starts.nexus).toFixed(0),
          spread(startRatios),
          '≤ 1.4',
        ],
        [
          `a call, µs (the same call in process: ${(median(calls.local) * 1000).toFixed(0)})`,
          (median(calls.bare) * 1000).toFixed(0),
          (median(calls.nexus) * 1000).toFixed(0),
          spread(callRatios),
          '≤ 1.3 × (bare + in process)',
        ],
      ],
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function prepare(root) {
  const project = join(root, 'project')
  const home = join(root, 'home')
  for (const each of [project, join(home, '.nexus')]) mkdirSync(each, { recursive: true })
  writeFileSync(
    join(home, '.nexus/nexus.yaml'),
    'agents: [{ id: main, preset: yolo }]\nskills: { custom: [./echo.mjs] }\n',
  )
  writeFileSync(join(home, '.nexus/echo.mjs'), MODULE)
  const bundle = join(import.meta.dirname, '../node_modules/.cache/mcp-bare.mjs')
  await build({
    ...{ entryPoints: [join(import.meta.dirname, 'mcp-bare.mjs')], outfile: bundle, bundle: true, minify: true },
    ...{ platform: 'node', format: 'esm', logLevel: 'error' },
    banner: { js: "import{createRequire as c}from'node:module';const require=c(import.meta.url);" },
  })
  const env = { PATH: process.env.PATH, HOME: home }
  return {
    ...{ project, env },
    bare: [process.execPath, bundle, join(root, 'cache')],
    nexus: [process.execPath, join(import.meta.dirname, '../dist/cli/bin.cjs'), 'mcp'],
  }
}

async function startServer([command, ...args], { cwd, env }) {
  const startedAt = performance.now()
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    waiting.get(message.id)?.(message)
    waiting.delete(message.id)
  })
  let last = 0
  const request = (method, params) => {
    const id = ++last
    return new Promise((resolve) => {
      waiting.set(id, resolve)
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  }
  const clientInfo = { name: 'bench', version: '1' }
  const answer = await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  assert.ok(answer.result, JSON.stringify(answer))
  const startMs = performance.now() - startedAt
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return {
    startMs,
    /** Milliseconds of one call, of `count` that follow each other. */
    async timed(count) {
      const call = (index) => request('tools/call', { name: 'bench_echo', arguments: { text: `t${index}` } })
      const { result } = await call('first')
      assert.equal(result?.content?.[0]?.text, 'tfirst', JSON.stringify(result))
      for (let index = 0; index < WARM_UP; index++) await call(index)
      const from = performance.now()
      for (let index = 0; index < count; index++) await call(index)
      return (performance.now() - from) / count
    },
    end: () =>
      new Promise((resolve) => {
        child.once('exit', resolve)
        child.stdin.end()
      }),
  }
}

/** The same tool through the library, with the same store on the disk. */
async function localCalls(project, env) {
  const before = process.env.HOME
  process.env.HOME = env.HOME
  const nexus = await openLocal({ cwd: project }).finally(() => (process.env.HOME = before))
  try {
    const agent = nexus.runtime.openAgent({ sessionId: `bench-${Date.now()}` })
    const call = (index) => agent.call({ tool: 'bench_echo', arguments: { text: `t${index}` } })
    const { outcome } = await call(0)
    assert.equal(outcome.text, 't0', JSON.stringify(outcome))
    for (let index = 0; index < WARM_UP; index++) await call(index)
    const from = performance.now()
    for (let index = 0; index < CALLS; index++) await call(index)
    return (performance.now() - from) / CALLS
  } finally {
    await nexus.close()
  }
}
