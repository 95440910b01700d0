/**
 * Processes for `kill-states.ts`: one agent with a session for each state of a turn. The first process stays in each state, says so on
 * stdout, and is killed there; `openStates` in the next one goes on. Arguments: address, project, model URL, file of effects.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { parsePolicy } from '../../../src/authorize/index.ts'
import { type Agent, type AgentEvent, createAgent } from '../../../src/agents/turns/index.ts'
import { type Clock, systemClock } from '../../../src/kernel/index.ts'
import { createRuntime } from '../../../src/runtime/index.ts'
import { openPostgresStore, openSqliteStore, type Store } from '../../../src/store/index.ts'
import { defineTool } from '../../../src/tools/index.ts'
import { localModel } from './rig.ts'

export const STATES = ['queued', 'streaming', 'asked', 'answered', 'started', 'ending'] as const
export type State = (typeof STATES)[number]

export interface Place {
  readonly address: string
  readonly projectId: string
  readonly url: string
  /** One line for each run of a tool. */
  readonly effects: string
}

/** The store as a process sees it whose clock is so far ahead. */
export function openAhead({ address, projectId }: Place, ms: number): Promise<Store> {
  const clock: Clock = { ...systemClock, now: () => Date.now() + ms }
  return address.startsWith('postgres:')
    ? openPostgresStore({ url: address, projectId, clock })
    : openSqliteStore({ path: address, projectId, clock })
}

/** The agent of each session. `inTool` is called when a tool has run. */
export async function openStates(
  { url, effects }: Place,
  store: Store,
  inTool: (sessionId: string | undefined) => unknown = () => undefined,
) {
  const runtime = await createRuntime({
    sources: [],
    facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
    store,
    agents: [{ id: 'main', policy: parsePolicy({ allow: ['work'], ask: ['confirmed'] }).rules }],
    waitForAnswers: true,
    registerTools: (registry) => {
      for (const name of ['work', 'confirmed'])
        registry.register(name, () =>
          defineTool({
            name,
            description: name,
            parameters: { type: 'object' },
            execute: async (_, { sessionId }) => {
              appendFileSync(effects, `${sessionId}\n`)
              await inTool(sessionId)
              return 'did it'
            },
          }),
        )
    },
  })
  const model = await localModel({ url })
  const agents = STATES.map((sessionId): [State, Agent] => [
    sessionId,
    createAgent({ agent: runtime.openAgent({ sessionId }), model, store }),
  ])
  return { runtime, agents: new Map(agents) }
}

/** Stays in the state until the process is killed. */
const stay = (state: State): Promise<never> => {
  writeSync(1, `REACHED ${state}\n`)
  return new Promise<never>(() => setInterval(() => undefined, 1_000))
}

/** A store that lets no call of `answered` begin, and no turn of `ending` end before it is told to. */
function holding(store: Store): Store {
  const start: Store['ledger']['start'] = async (callId, ...rest) => {
    if ((await store.ledger.get(callId))?.call.sessionId === 'answered') await stay('answered')
    return store.ledger.start(callId, ...rest)
  }
  const finish: Store['turns']['finish'] = async (id, ...rest) => {
    if ((await store.turns.get(id))?.sessionId === 'ending') {
      writeSync(1, 'REACHED ending\n')
      await once(process.stdin, 'data')
    }
    return store.turns.finish(id, ...rest)
  }
  return { ...store, ledger: { ...store.ledger, start }, turns: { ...store.turns, finish } }
}

if (import.meta.main) {
  const [address = '', projectId = '', url = '', effects = ''] = process.argv.slice(2)
  const place = { address, projectId, url, effects }
  const store = holding(await openAhead(place, 0))
  const { agents } = await openStates(place, store, (sessionId) => sessionId === 'started' && stay('started'))
  for (const [state, agent] of agents) {
    const onEvent = (event: AgentEvent): void => {
      if (event.type === 'turn-queued') writeSync(1, `QUEUED ${event.turnId}\n`)
      if (event.type === 'turn-queued' && state === 'queued') void stay('queued')
      if (event.type === 'text-delta' && state === 'streaming') void stay('streaming')
      if (event.type === 'tool-asked' && event.isOpen)
        writeSync(1, state === 'asked' ? 'REACHED asked\n' : `QUESTION ${event.approvalId}\n`)
      if (event.type === 'turn-end') writeSync(1, `ENDED ${event.result.turnId}\n`)
    }
    void agent.send(state, { onEvent })
  }
}
