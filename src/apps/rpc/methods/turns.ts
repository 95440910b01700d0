/** Turns and status of one agent. */
import { z } from 'zod'
import { resultOf } from '../../../agents/turns/index.ts'
import { NexusError } from '../../../kernel/index.ts'
import type { Approval, TurnRecord } from '../../../store/index.ts'
import type { AgentStatusListing, QuestionListing, TurnListing } from '../../client/index.ts'
import { shown } from '../failures.ts'
import { agentMethod } from '../method.ts'
import { agentListing, listingsOf } from './listing.ts'
import { counts, NONE, requestId, use } from './schemas.ts'

export const turnListing = z.strictObject({
  turn_id: z.string(),
  session_id: z.string(),
  request_id: z.string().nullable(),
  state: z.string(),
  end: z.string().optional(),
  content: z.string().optional(),
  error: z.strictObject({ code: z.string(), message: z.string(), fix: z.string().optional() }).optional(),
  used: use,
})

const limits = z.record(z.string(), z.number())

export const TURN_METHODS = [
  agentMethod({
    name: 'get_status',
    summary: 'What the agent does, what it used up with its descendants, what is left, and their open questions.',
    params: NONE,
    result: z.strictObject({
      agent: agentListing,
      used: z.strictObject({ own: use, subtree: use, turns: z.number(), children: z.number() }),
      budget: limits,
      left: limits,
      context: z.strictObject({ message_count: z.number(), system_prompt: z.boolean() }),
      questions: z.array(
        z.strictObject({
          approval_id: z.string(),
          agent_path: z.string(),
          tool: z.string(),
          command: z.string(),
        }),
      ),
    }),
    async run(_params, context): Promise<AgentStatusListing> {
      const { agent, served } = context
      const status = await served.pool.status(agent.id)
      const { used, budget, left, questions } = status
      const [listing] = await listingsOf([status], context)
      if (!listing) throw new NexusError('AGENT_NOT_FOUND', `Agent not found: ${shown(agent.id)}`)
      return {
        agent: listing,
        used: { ...used, own: counts(used.own), subtree: counts(used.subtree) },
        budget: counts(budget),
        left: counts(left),
        context: { message_count: status.context.messageCount, system_prompt: status.context.systemPrompt },
        questions: questions.map(toQuestion),
      }
    },
  }),
  agentMethod({
    name: 'get_turn',
    summary: 'The turn of a message by its request_id, and its end when it is over. It does not wait.',
    params: z.strictObject({ request_id: requestId }),
    result: turnListing,
    async run({ request_id }, { agent, served }) {
      const turn = await served.runtime.store.turns.get({ sessionId: agent.sessionId, requestId: String(request_id) })
      if (turn) return toTurn(turn)
      throw new NexusError('INVALID_ARGUMENT', `Message not found: ${shown(String(request_id))}`)
    },
  }),
]

export function toTurn(turn: TurnRecord): TurnListing {
  const { id, sessionId, requestId: request, state, use: used, endedAt } = turn
  const { end, text, error } = endedAt === undefined ? {} : resultOf(turn)
  return {
    turn_id: id,
    session_id: sessionId,
    request_id: request ?? null,
    state,
    used: counts(used),
    ...(end !== undefined && { end }),
    ...(text !== undefined && { content: text }),
    ...(error && {
      error: { code: error.code, message: error.message, ...(error.fix !== undefined && { fix: error.fix }) },
    }),
  }
}

function toQuestion({ id, agentPath, tool, command }: Approval): QuestionListing {
  return { approval_id: id, agent_path: agentPath, tool, command }
}
