/** Methods that read about one agent. */
import { z } from 'zod'
import { type JsonObject, NexusError } from '../../../kernel/index.ts'
import type { AgentTokens } from '../../client/index.ts'
import { type AgentContext, agentMethod } from '../method.ts'
import { shown } from '../failures.ts'
import { isoTime, json, jsonObject, NONE } from './schemas.ts'

const count = z.int().min(0)

export const READ_METHODS = [
  agentMethod({
    name: 'get_tokens',
    summary: 'How much of its context the agent uses: an estimate, four characters a token.',
    params: NONE,
    result: z.strictObject({
      system: z.number(),
      tools: z.number(),
      messages: z.number(),
      total: z.number(),
      budget: z.number(),
      available: z.number(),
    }),
    run: (_params, context) => tokensOf(context),
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

const CHARS_A_TOKEN = 4
const TOKENS_A_MESSAGE = 4

/** Source: contracts §1.9, "token estimate". */
async function tokensOf({ agent, served }: AgentContext): Promise<AgentTokens> {
  const { runtime, config } = served
  const handle = runtime.openAgent({ row: agent, sessionId: agent.sessionId })
  const { instructions = '' } = agent.settings as { readonly instructions?: string }
  const history = await runtime.store.sessions.messages(agent.sessionId)
  const system = estimate(`${String(instructions)}${handle.instructions()}`)
  const tools = estimate(JSON.stringify(handle.definitions()))
  const messages = history.reduce((sum, message) => sum + estimate(JSON.stringify(message)) + TOKENS_A_MESSAGE, 0)
  const total = system + tools + messages
  const profile = config.agents.find(({ id }) => id === agent.settings['profile']) ?? config.agents[0]
  const budget = profile?.context?.maxTokens ?? DEFAULT_CONTEXT
  return { system, tools, messages, total, budget, available: Math.max(0, budget - total) }
}

const DEFAULT_CONTEXT = 8_000

const estimate = (text: string): number => Math.ceil(text.length / CHARS_A_TOKEN)
