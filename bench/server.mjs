// npm run bench -- server
// What a read over `nexus serve` costs beside an echo on node:http and beside the same checks on bare Hono, the time of `cancel` under
// 50 waiting senders, and the memory of 1,000 event streams.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { Agent, createServer, get, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../dist/public/client.js'
import { median, printTable, spread } from './measure.mjs'

const CALLS = 2_000
const PARALLEL = 8
const SENDERS = 50
const STREAMS = 1_000
const ROUNDS = 20

export async function server(runs) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-bench-server-')))
  const children = []
  // A model that never answers.
  const model = createServer(() => undefined)
  await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve))
  try {
    const nexus = await startNexus(root, model.address().port, children)
    const client = createClient({ url: nexus.url, key: nexus.key })
    await client.createAgent({ agent_id: 'bench' })
    const servers = { nexus }
    for (const kind of ['node', 'hono'])
      servers[kind] = { key: nexus.key, url: await startBare(kind, nexus.key, children) }
    const rates = { nexus: [], node: [], hono: [] }
    for (let run = 0; run <= runs; run++)
      for (const name of run % 2 ? ['node', 'nexus', 'hono'] : ['hono', 'nexus', 'node']) {
        const rate = await reads(servers[name])
        if (run > 0) rates[name].push(rate)
      }
    const ratio = (name) => spread(rates.nexus.map((rate, index) => rate / rates[name][index]))
    const cancels = await cancelTimes(client)
    const memory = await streamMemory(nexus)
    printTable(
      'server',
      ['what', 'beside', 'nexus', 'ratio', 'goal'],
      [
        [
          'get_context a second, node:http echo',
          median(rates.node).toFixed(0),
          median(rates.nexus).toFixed(0),
          ratio('node'),
          '≥ 0.6',
        ],
        [
          'get_context a second, the same checks on Hono',
          median(rates.hono).toFixed(0),
          median(rates.nexus).toFixed(0),
          ratio('hono'),
          '≥ 0.8',
        ],
        [`cancel under ${SENDERS} waiting senders, p99 ms`, '', cancels.toFixed(1), '', '≤ 50'],
        [
          `memory of ${STREAMS} event streams, MiB: at first, after 20 more messages`,
          memory[0].toFixed(0),
          memory[1].toFixed(0),
          '',
          'flat',
        ],
      ],
    )
  } finally {
    for (const child of children) child.kill('SIGKILL')
    model.closeAllConnections()
    model.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function startNexus(root, modelPort, children) {
  const [home, project] = ['home', 'project'].map((name) => join(root, name))
  for (const directory of [home, project]) mkdirSync(directory)
  const bin = join(import.meta.dirname, '../dist/cli/bin.cjs')
  const args = [
    'serve',
    '--trust',
    '--port',
    '0',
    '--model',
    'openai-compatible/none',
    '--base-url',
    `http://127.0.0.1:${modelPort}/v1`,
  ]
  const env = { PATH: process.env.PATH, HOME: root, NEXUS_HOME: home, OPENAI_API_KEY: 'sk-bench' }
  const child = spawn(process.execPath, [bin, ...args], { cwd: project, env, stdio: ['ignore', 'ignore', 'pipe'] })
  children.push(child)
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  while (!/agents at (\S+)\./.test(said)) await once(child.stderr, 'data')
  const url = /agents at (\S+)\./.exec(said)[1]
  return { child, url, key: readFileSync(join(home, 'apikeys', `${new URL(url).port}.key`), 'utf8') }
}

async function startBare(kind, key, children) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'server-bare.mjs'), kind, key], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const [port] = await once(child.stdout, 'data')
  return `http://127.0.0.1:${String(port).trim()}`
}

/** Reads a second, over connections that are kept. */
async function reads({ url, key }) {
  const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL })
  const body = '{"jsonrpc":"2.0","id":1,"method":"get_context","params":{}}'
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length }
  let left = CALLS
  const one = () =>
    new Promise((resolve, reject) => {
      request(`${url}/agent/bench`, { method: 'POST', agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
        response.resume().on('end', resolve)
      })
        .on('error', reject)
        .end(body)
    })
  const start = performance.now()
  const work = async () => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  const rate = (CALLS / (performance.now() - start)) * 1_000
  agent.destroy()
  return rate
}

async function cancelTimes(client) {
  const { agent_id: id } = await client.createAgent()
  const senders = Array.from({ length: SENDERS }, (_, index) =>
    client.send(id, 'wait', { requestId: index }).catch(() => undefined),
  )
  await sleep(2_000)
  const times = []
  for (let index = SENDERS - 1; index >= 0; index--) {
    const start = performance.now()
    await client.cancel(id, index)
    times.push(performance.now() - start)
  }
  await Promise.all(senders)
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99) - 1]
}

async function streamMemory({ child, url, key }) {
  const open = () =>
    new Promise((resolve, reject) => {
      get(`${url}/agent/bench/events`, { agent: false, headers: { authorization: `Bearer ${key}` } }, (response) => {
        response.resume()
        response.once('data', () => resolve(response))
      }).on('error', reject)
    })
  const streams = []
  for (let count = 0; count < STREAMS; count++) streams.push(await open())
  const client = createClient({ url, key })
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024
  const change = async (from) => {
    for (let count = from; count < from + ROUNDS; count++) {
      const sent = client.send('bench', 'x', { requestId: `m${count}` }).catch(() => undefined)
      while (!(await client.cancel('bench', `m${count}`)).cancelled) await sleep(1)
      await sent
    }
    await sleep(500)
    return memory()
  }
  const sizes = [await change(0), await change(ROUNDS)]
  for (const stream of streams) stream.destroy()
  return sizes
}
