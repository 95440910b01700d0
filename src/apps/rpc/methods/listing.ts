/** Agents as methods list them. */
import { z } from 'zod'
import type { AgentInfo } from '../../../agents/pool/index.ts'
import { readRules } from '../../../authorize/index.ts'
import type { AgentRecord, Store } from '../../../store/index.ts'
import type { AgentListing } from '../../client/index.ts'
import type { MethodContext } from '../method.ts'
import { isoTime } from './schemas.ts'

export const agentListing = z.strictObject({
  agent_id: z.string(),
  key: z.string(),
  session_id: z.string(),
  depth: z.number(),
  is_temp: z.boolean(),
  created_at: z.string(),
  last_action_at: z.string(),
  message_count: z.number(),
  should_shutdown: z.boolean(),
  parent_agent_id: z.string().nullable(),
  child_count: z.number(),
  halted_at_iteration_limit: z.boolean(),
  model: z.string(),
  permission_level: z.string(),
  preset: z.string(),
  cwd: z.string(),
  write_paths: z.array(z.string()).nullable(),
  state: z.string(),
  path: z.string(),
  ended_at: z.string().optional(),
})

export async function listingsOf(agents: readonly AgentInfo[], context: MethodContext): Promise<AgentListing[]> {
  const { store } = context.served.runtime
  const [one] = agents
  // One row of many costs a query; all of them cost one too.
  const rows = agents.length === 1 && one ? [await store.agents.get(one.key)] : await store.agents.list()
  const byKey = new Map(rows.flatMap((row) => (row ? [[row.key, row] as const] : [])))
  return Promise.all(agents.map(async (agent) => toListing(agent, await placesOf(agent, byKey, context), context)))
}

interface Places extends Pick<AgentListing, 'cwd' | 'write_paths' | 'halted_at_iteration_limit'> {}

async function placesOf(
  agent: AgentInfo,
  rows: ReadonlyMap<string, AgentRecord>,
  { served }: MethodContext,
): Promise<Places> {
  const row = rows.get(agent.key)
  const permissions = row && readRules(row)?.permissions
  const halted_at_iteration_limit = await isHalted(served.runtime.store, agent)
  // Rules that cannot be read allow nothing.
  if (!permissions) return { cwd: served.workspace, write_paths: [], halted_at_iteration_limit }
  const { allowedPaths, isReadOnly, tools } = permissions
  const own = tools.findLast(({ entry }) => entry === 'write_file')?.permission.allowedPaths
  const writable = own ?? allowedPaths
  const cwd = allowedPaths?.length === 1 ? (allowedPaths[0] ?? served.workspace) : served.workspace
  return { cwd, write_paths: isReadOnly ? [] : writable && [...writable], halted_at_iteration_limit }
}

function toListing(agent: AgentInfo, places: Places, { server }: MethodContext): AgentListing {
  return {
    agent_id: agent.id,
    key: agent.key,
    session_id: agent.sessionId,
    depth: agent.depth,
    is_temp: agent.isTemporary,
    created_at: isoTime(agent.createdAt),
    last_action_at: isoTime(agent.lastActionAt),
    message_count: agent.messageCount,
    should_shutdown: server.shutDown.has(agent.key),
    parent_agent_id: agent.parent ?? null,
    child_count: agent.childCount,
    model: agent.model,
    permission_level: agent.level,
    preset: agent.preset,
    ...places,
    state: agent.state,
    path: agent.path,
    ...(agent.endedAt !== undefined && { ended_at: isoTime(agent.endedAt) }),
  }
}

/** Whether its last turn ended at the limit of iterations. */
async function isHalted({ turns }: Store, { sessionId }: AgentInfo): Promise<boolean> {
  const [last] = await turns.list({ sessionId, states: ['done'], limit: 1 })
  return last?.result?.['end'] === 'max-iterations'
}
