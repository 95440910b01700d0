/**
 * A process for `turn-rounds.ts` to kill: an agent that goes on with the turn that waits, runs what was left in its session, then two messages at a time.
 * Says on stdout what happens. Arguments: state file, model URL, file of effects, milliseconds that the clock is ahead, how many messages.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parsePolicy } from '../../../src/authorize/index.ts'
import { type AgentEvent, createAgent } from '../../../src/agents/turns/index.ts'
import { createRuntime } from '../../../src/runtime/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { openSqliteStore } from '../../../src/store/index.ts'
import { defineTool } from '../../../src/tools/index.ts'
import { localModel } from './rig.ts'

const [path = '', url = '', effects = '', ahead = '0', messages = '0'] = process.argv.slice(2)
const say = (line: string): number => writeSync(1, `${line}\n`)

const clock = { ...systemClock, now: () => Date.now() + Number(ahead) }
const store = await openSqliteStore({ path, projectId: 'default', clock })
await store.reclaim()
const runtime = await createRuntime({
  sources: [],
  facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
  store,
  agents: [{ id: 'main', policy: parsePolicy({ allow: ['work'], ask: ['confirmed'] }).rules }],
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
const sessionId = 's1'
const agent = createAgent({ agent: runtime.openAgent({ sessionId }), model: await localModel({ url }), store })

function onEvent(event: AgentEvent): void {
  if (event.type === 'turn-queued') say(`QUEUED ${event.turnId}`)
  else if (event.type === 'turn-end') say(`ENDED ${event.result.turnId} ${event.result.end}`)
  else say(event.type)
}

const left = await store.turns.list({ sessionId, states: ['waiting', 'queued'] })
for (const { id } of left) await agent.resume(id, { onEvent })
for (let sent = 0; sent < Number(messages); sent += 2)
  await Promise.all(['one', 'two'].map((which) => agent.send(`message ${which} after ${ahead}.${sent}`, { onEvent })))
await runtime.close()
await store.close()
