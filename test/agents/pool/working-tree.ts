/**
 * A process for `tree-rounds.ts` to kill: a tree of three agents, each of which gives the next one work; the last one runs tools. Goes on
 * with what ended processes left, then sends messages. Arguments: database, model URL, file of effects, milliseconds that the clock is
 * ahead, how many messages; with the start of an id, it kills itself when it has made such an agent.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPool } from '../../../src/agents/pool/index.ts'
import { parsePolicy } from '../../../src/authorize/index.ts'
import { createRuntime } from '../../../src/runtime/index.ts'
import { defineTool } from '../../../src/tools/index.ts'
import { localModel } from '../turns/rig.ts'
import { openTreeStore } from './tree-rounds.ts'

const [database = '', url = '', effects = '', ahead = '0', messages = '0', killedBy] = process.argv.slice(2)
const say = (line: string): number => writeSync(1, `${line}\n`)

const store = await openTreeStore(database, Number(ahead))
await store.reclaim()
const runtime = await createRuntime({
  sources: [],
  facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
  store,
  workspace: '/w',
  agents: [{ id: 'main', policy: parsePolicy({ ask: ['confirmed'] }).rules }],
  approve: () => sleep(10, true),
  registerTools: (registry) => {
    for (const name of ['work', 'confirmed'])
      registry.register(name, () =>
        defineTool({
          name,
          description: name,
          parameters: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
          execute: async ({ token }) => {
            appendFileSync(effects, `${String(token)}\n`)
            say('in the tool')
            await sleep(10)
            return `did ${String(token)}`
          },
        }),
      )
  },
})
const pool = createPool({ runtime, model: await localModel({ url }) })
pool.listen(({ agentId, event }) => {
  if (event.type === 'agent-created' && killedBy !== undefined && agentId.startsWith(killedBy))
    process.kill(process.pid, 'SIGKILL')
  if (event.type === 'turn-queued') say(`QUEUED ${event.turnId}`)
  else if (event.type === 'turn-end') say(`ENDED ${event.result.turnId} ${event.result.end}`)
  else say(event.type)
})
const { failed } = await pool.restore()
if (failed.length > 0) throw failed[0]?.error ?? new Error('not restored')
const known = new Set((await pool.list()).map(({ id }) => id))
if (!known.has('boss')) await pool.create({ id: 'boss', instructions: 'boss' })
if (!known.has('mid')) await pool.create({ id: 'mid', parent: 'boss', preset: 'trusted', instructions: 'mid' })
if (!known.has('hand')) await pool.create({ id: 'hand', parent: 'mid', preset: 'sandboxed', instructions: 'hand' })
for (const id of ['hand', 'mid', 'boss']) await pool.resume(id)
for (let sent = 0; sent < Number(messages); sent += 1) await pool.send('boss', `message ${ahead}.${sent}`)
await pool.close()
await runtime.close()
await store.close()
