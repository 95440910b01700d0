/**
 * A process for `agents-load.test.ts`, started with --expose-gc. `idle FILE N` makes agents and says the bytes of the heap with one and with
 * all; `work FILE AGENTS TURNS` lets all of them work at once, and says the bytes after a quarter of the turns and at the end.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createPool, type Pool } from '../../src/agents/pool/index.ts'
import { parsePolicy } from '../../src/authorize/index.ts'
import { createRuntime } from '../../src/runtime/index.ts'
import { openSqliteStore, type Store } from '../../src/store/index.ts'
import { startModelServer } from '../../src/testing/index.ts'
import { localModel } from '../agents/turns/rig.ts'

/** Bytes that are in use after everything else was let go of. */
async function used(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const name = (index: number): string => `agent-${index}`

async function idle(pool: Pool, count: number): Promise<object> {
  await pool.create({ id: name(0), instructions: name(0) })
  const one = await used()
  for (let index = 1; index < count; index += 1) await pool.create({ id: name(index), instructions: name(index) })
  return { one, all: await used() }
}

async function work(pool: Pool, store: Store, [agents, turns]: readonly [number, number]): Promise<object> {
  const ids = Array.from({ length: agents }, (_, index) => name(index))
  for (const id of ids) await pool.create({ id, instructions: id })
  const upTo = async (from: number, to: number): Promise<void> => {
    await Promise.all(
      ids.map(async (id) => {
        for (let turn = from; turn < to; turn += 1) await pool.send(id, `${id} says ${turn}`)
      }),
    )
  }
  const warm = Math.ceil(turns / 4)
  await upTo(0, warm)
  const before = await used()
  await upTo(warm, turns)
  const after = await used()
  let mixed = 0
  for (const id of ids) {
    const expected = Array.from({ length: turns }, (_, turn) => [
      `${id} says ${turn}`,
      `Heard: ${id} says ${turn}`,
    ]).flat()
    const { messages } = await pool.messages(id, { limit: 2 * turns })
    if (JSON.stringify(messages.map(textOf)) !== JSON.stringify(expected)) mixed += 1
  }
  return { before, after, mixed, done: (await store.turns.list({ states: ['done'] })).length }
}

function textOf({ content }: { readonly [name: string]: unknown }): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : ''
}

/** The model is another process: it keeps the requests that it got, which is not our memory. */
async function startModel(): Promise<{ readonly url: string } & Disposable> {
  const child = spawn(process.execPath, [import.meta.filename, 'model'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { url: line, [Symbol.dispose]: () => child.stdin.end() }
}

async function model(): Promise<void> {
  await using server = await startModelServer({
    script: ({ messages }) => ({ type: 'text', text: `Heard: ${messages.at(-1)?.text ?? ''}` }),
  })
  process.stdout.write(`${server.url}\n`)
  await once(process.stdin.resume(), 'end')
}

async function main([mode = '', path = '', ...counts]: readonly string[]): Promise<void> {
  if (mode === 'model') return model()
  using server = await startModel()
  const store = await openSqliteStore({ path, projectId: 'default' })
  const runtime = await createRuntime({
    sources: [],
    facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
    store,
    workspace: '/w',
    agents: [{ id: 'main', policy: parsePolicy({}).rules }],
  })
  const pool = createPool({ runtime, model: await localModel(server) })
  const [first = 0, second = 0] = counts.map(Number)
  const seen = mode === 'idle' ? await idle(pool, first) : await work(pool, store, [first, second])
  process.stdout.write(`${JSON.stringify(seen)}\n`)
  await pool.close()
  await runtime.close()
  await store.close()
}

await main(process.argv.slice(2))
