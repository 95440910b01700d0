/** Methods that read about one agent. */
import { z } from 'zod'
import { type JsonObject, NexusError } from '../../../kernel/index.ts'
import type { AgentTokens } from '../../client/index.ts'
import { agentMethod } from '../method.ts'
import { shown } from '../failures.ts'
import { isoTime, json, jsonObject, NONE, tokens } from './schemas.ts'

const count = z.int().min(0)

export const READ_METHODS = [
  agentMethod({
    name: 'get_tokens',
    summary:
      'How much of its context the next request takes, by estimate. `available` is free for messages, without the reserve for the answer.',
    params: NONE,
    result: tokens,
    run: async (_params, { agent, served }): Promise<AgentTokens> => (await served.pool.context(agent.id)).tokens,
  }),
  agentMethod({
    name: 'get_context',
    summary: 'How many messages the history has, and whether the agent has a system prompt of its own.',
    params: NONE,
    result: z.strictObject({ message_count: z.number(), system_prompt: z.boolean() }),
    async run(_params, { agent, served }) {
      const session = await served.runtime.store.sessions.get(agent.sessionId)
      const systemPrompt = agent.settings['instructions'] !== undefined
      return { message_count: session?.messageCount ?? 0, system_prompt: systemPrompt }
    },
  }),
  agentMethod({
    name: 'get_messages',
    summary: 'Messages of the history, oldest first: from `offset` on, or those after the first `after` ones.',
    params: z.strictObject({
      offset: count.optional(),
      limit: z.int().min(1).max(2_000).optional(),
      after: count.optional(),
    }),
    result: z.strictObject({ messages: z.array(jsonObject), total: z.number(), offset: z.number() }),
    async run({ offset, after, limit = 200 }, { agent, served }) {
      const part = await served.pool.messages(agent.id, { offset: after ?? offset ?? 0, limit })
      return { messages: part.messages, total: part.total, offset: part.offset }
    },
  }),
  agentMethod({
    name: 'get_call',
    summary: 'A call of the agent as the ledger has it, with its decision and outcome.',
    params: z.strictObject({ call_id: z.string() }),
    result: z.strictObject({
      call_id: z.string(),
      tool: z.string(),
      state: z.string(),
      arguments: jsonObject,
      decision: jsonObject,
      outcome: json,
      created_at: z.string(),
    }),
    async run({ call_id }, { agent, served }) {
      const entry = await served.runtime.store.ledger.get(call_id)
      // A call of another agent does not exist for this one.
      if (!entry || entry.call.agentId !== agent.key)
        throw new NexusError('INVALID_ARGUMENT', `Call not found: ${shown(call_id)}`)
      const { call, state, decision, outcome } = entry
      return {
        call_id,
        tool: call.tool,
        state,
        arguments: call.arguments,
        decision: plain(decision),
        outcome: outcome === undefined ? null : plain(outcome),
        created_at: isoTime(entry.openedAt),
      }
    },
  }),
]

/** JSON without members that are undefined. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject
}
