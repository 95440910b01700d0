/** open-pool: the agents of this machine, for commands. */
import { createPool, type OtherServers, type Pool, type PoolEvent } from '../../agents/pool/index.ts'
import type { ModelChoice } from '../../agents/turns/index.ts'
import type { Local } from '../../local/index.ts'
import type { Invocation } from './command.ts'
import { chooseModel } from './model/choose-model.ts'
import { openFor, type OpenOptions } from './open.ts'
import { eventLine } from './show/agents.ts'
import type { Terminal } from './terminal.ts'
import type { JsonObject } from '../../kernel/index.ts'
import { createClient } from '../client/index.ts'
import { announcedServers } from '../server/index.ts'
import { clientAt, portOf } from './commands/server.ts'
import { errorOf } from './failure.ts'
import { toNexusError } from './served-agents.ts'

/** A pool over a local runtime. The model is looked for when an agent first asks it. */
export function poolOver(local: Local, invocation: Invocation, known?: ModelChoice): Pool {
  const { runtime, config } = local
  let chosen: Promise<ModelChoice> | undefined
  const model = (): Promise<ModelChoice> => (chosen ??= chooseModel(local, invocation))
  const openModel = (name: string): Promise<ModelChoice> =>
    chooseModel(local, { ...invocation, flags: { ...invocation.flags, model: name } })
  return createPool({ runtime, config, model: known ?? model, openModel, others: otherServers(local, invocation) })
}

/** Notes what other agents than this one do. */
export function noteOthers(id: string, terminal: Terminal): (event: PoolEvent) => void {
  return (event) => {
    const line = event.agentId === id ? undefined : eventLine(event, terminal.besideDocument())
    if (line !== undefined) terminal.note(line)
  }
}

/** Opens runtime and pool, and closes both when the work is over. */
export async function withPool<T>(
  invocation: Invocation,
  options: OpenOptions,
  work: (pool: Pool, local: Local) => Promise<T>,
): Promise<T> {
  await using local = await openFor(invocation, options)
  const pool = poolOver(local, invocation)
  try {
    return await work(pool, local)
  } finally {
    await pool.close()
  }
}

const TOKEN_S = 60
/** A message is asked for again after a connection that broke. */
const SEND_S = 24 * 60 * 60

/** Only servers that the store names are contacted: a port is no way to look for others. */
export function otherServers(
  { runtime, store }: Pick<Local, 'runtime' | 'store'>,
  invocation: Pick<Invocation, 'environment'>,
): OtherServers {
  return {
    async call({ port, agentKey, signal }, { agentId, method, params }) {
      const urls = await announcedServers(store, runtime.openAgent().scope)
      const url = urls.find((each) => portOf(each) === port)
      if (url === undefined)
        throw errorOf(
          'INVALID_ARGUMENT',
          `No server of this workspace listens on port ${port}.`,
          'Leave port out: the agents of this process need none.',
        )
      const agent = await store.agents.get(agentKey)
      if (!agent)
        throw errorOf(
          'CALL_DENIED',
          'An agent of nexus.yaml has no rights on another server.',
          'Leave port out: its agents are the same on every server of the workspace.',
        )
      const scope = `rpc:${agentId === undefined ? 'global' : 'agent'}:${method}`
      const expires_s = method === 'send' ? SEND_S : TOKEN_S
      try {
        const keyed = await clientAt({ url, port }, invocation)
        const { token } = await keyed.call('issue_token', { agent_id: agent.id, scopes: [scope], expires_s })
        const client = createClient({ url, token })
        const result =
          agentId === undefined
            ? await client.call(method as never, params as never, { signal })
            : await client.callAgent(agentId, [method as never, params as never], { signal })
        return result as JsonObject
      } catch (error) {
        throw toNexusError(error, { url })
      }
    },
  }
}
