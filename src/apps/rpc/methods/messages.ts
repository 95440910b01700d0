/** Methods about messages to one agent. */
import { z } from 'zod'
import type { Sent } from '../../../agents/pool/index.ts'
import { NexusError } from '../../../kernel/index.ts'
import type { AgentMethods, MessageResult } from '../../client/index.ts'
import { shown } from '../failures.ts'
import { type AgentContext, agentMethod } from '../method.ts'
import { NONE, requestId, tokens } from './schemas.ts'
import { toTurn, turnListing } from './turns.ts'

export const MESSAGE_METHODS = [
  agentMethod({
    name: 'send',
    summary: 'Sends a message and waits for the end of its turn. The same request_id with the same message runs once.',
    params: z.strictObject({
      content: z.string(),
      request_id: requestId.optional(),
      source: z.string().min(1).max(100).optional(),
      source_agent_id: z.string().optional(),
    }),
    result: z.strictObject({
      request_id: z.string(),
      content: z.string().optional(),
      cancelled: z.literal(true).optional(),
      halted_at_iteration_limit: z.literal(true).optional(),
      status: z.enum(['delivered', 'queued']).optional(),
    }),
    isWaiting: () => true,
    notes: (params): Readonly<Record<string, string>> => {
      const { source } = params as AgentMethods['send']['params']
      return source === undefined ? {} : { source }
    },
    run: send,
  }),
  agentMethod({
    name: 'resume',
    summary: 'Goes on with what ended processes left to the agent: a turn that waits for an answer, then messages.',
    params: NONE,
    result: z.strictObject({ turns: z.array(turnListing) }),
    isWaiting: () => true,
    async run(_params, { agent, served }) {
      const results = await served.pool.resume(agent.id)
      const rows = await Promise.all(results.map(({ turnId }) => served.runtime.store.turns.get(turnId)))
      return { turns: rows.flatMap((row) => (row ? [toTurn(row)] : [])) }
    },
  }),
  agentMethod({
    name: 'cancel',
    summary: 'Cancels a message by its request_id: queued, at the model, in a tool, or while a person is asked.',
    params: z.strictObject({ request_id: requestId }),
    result: z.strictObject({
      cancelled: z.boolean(),
      request_id: z.string(),
      reason: z.literal('not_found_or_completed').optional(),
    }),
    async run({ request_id }, { agent, served }) {
      const id = String(request_id)
      const cancelled = await served.pool.cancel(agent.id, id)
      return { cancelled, request_id: id, ...(!cancelled && { reason: 'not_found_or_completed' }) }
    },
  }),
  agentMethod({
    name: 'compact',
    summary:
      'Lets the model sum up the history, so that later requests take less; `content` is the summary. With `force: false` only where the next request would not fit.',
    params: z.strictObject({ force: z.boolean().optional(), request_id: requestId.optional() }),
    result: z.strictObject({
      request_id: z.string(),
      content: z.string().optional(),
      cancelled: z.literal(true).optional(),
      tokens,
    }),
    isWaiting: () => true,
    run: compact,
  }),
  agentMethod({
    name: 'shutdown',
    summary: 'The agent takes no more messages from this server, until the server starts again. What runs goes on.',
    params: NONE,
    result: z.strictObject({ success: z.literal(true) }),
    async run(_params, { agent, server }) {
      server.shutDown.add(agent.key)
      return { success: true }
    },
  }),
]

async function send(params: AgentMethods['send']['params'], context: AgentContext): Promise<MessageResult> {
  const { agent, server } = context
  if (server.shutDown.has(agent.key))
    throw new NexusError('CONFLICT', `The agent ${agent.id} was shut down, so it takes no more messages.`, {
      fix: 'Start the server again, or make another agent.',
    })
  const access = await senderOf(params, context)
  const given = params.request_id === undefined ? newRequestId() : String(params.request_id)
  return messageResult(await access.send(agent.id, params.content, { requestId: given }))
}

async function compact(
  { force = true, request_id }: AgentMethods['compact']['params'],
  { agent, served: { pool } }: AgentContext,
): Promise<AgentMethods['compact']['result']> {
  const requestId = request_id === undefined ? newRequestId() : String(request_id)
  const { tokens: before } = await pool.context(agent.id)
  if (!force && before.available > 0) return { request_id: requestId, tokens: before }
  const result = await pool.compact(agent.id, { requestId })
  return {
    ...messageResult({ type: 'answered', requestId, result }),
    tokens: (await pool.context(agent.id)).tokens,
  }
}

/** With the key of the server a message may be that of an agent, which then reaches no more than that agent does. */
async function senderOf(
  { source_agent_id: source }: AgentMethods['send']['params'],
  { access, caller, agent, served }: AgentContext,
): Promise<AgentContext['access']> {
  if (caller.type === 'agent') return caller.agent.key === agent.key ? served.pool : access
  if (source === undefined) return access
  const sender = await served.runtime.store.agents.find(source)
  if (!sender) throw new NexusError('AGENT_NOT_FOUND', `Agent not found: ${shown(source)}`)
  return served.pool.as({ key: sender.key, sessionId: sender.sessionId })
}

/** Throws the error of a turn that failed. */
export function messageResult(sent: Sent): MessageResult {
  const { requestId: id } = sent
  if (sent.type !== 'answered') return { request_id: id, status: sent.type }
  const { end, text, error } = sent.result
  if (end === 'cancelled') return { cancelled: true, request_id: id }
  if (end === 'failed' && error) throw error
  return { content: text, request_id: id, ...(end === 'max-iterations' && { halted_at_iteration_limit: true }) }
}

/** 16 hex digits. Source: contracts §1.4. */
export function newRequestId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')
}
