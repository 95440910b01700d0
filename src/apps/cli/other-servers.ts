/** other-servers: how the tools of an agent reach another server of its store: as itself, with a token for one method. */
import type { OtherServers } from '../../agents/pool/index.ts'
import type { JsonObject } from '../../kernel/index.ts'
import type { Local } from '../../local/index.ts'
import { createClient } from '../client/index.ts'
import { announcedServers } from '../server/index.ts'
import type { Invocation } from './command.ts'
import { clientAt, portOf } from './commands/server.ts'
import { errorOf } from './failure.ts'
import { toNexusError } from './served-agents.ts'

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
