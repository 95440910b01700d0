/** tools: the six tools with which a model makes and messages agents. Texts are those of contracts §1.8: the JSON of the result over RPC. */
import {
  isNexusError,
  type JsonObject,
  type JsonValue,
  type Outcome,
  succeeded,
  type Tool,
} from '../../kernel/index.ts'
import { isAgentId, isAgentKey } from '../../store/index.ts'
import { defineTool } from '../../tools/index.ts'
import { elsewhere } from './elsewhere.ts'
import { toSendOutcome } from './send-outcome.ts'
import { BEYOND_PRESET, POOL, poolError } from './messages.ts'
import type { Created, CreateRequest, OtherServers, PoolAccess, Serving } from './types.ts'

/** The pool as the tools of one agent reach it. */
export interface ToolPool {
  readonly access: PoolAccess
  readonly serving: Serving | undefined
  /** The key of the agent whose tools they are. */
  readonly agentKey: string
  readonly others: OtherServers | undefined
}

const AGENT = { type: 'string', description: 'Id of the agent, such as worker-1' } as const
const PORT = {
  type: 'integer',
  minimum: 1,
  maximum: 65_535,
  description: 'Port of another server of this workspace; default this one',
} as const

export function createNexusTools(pool: ToolPool): readonly Tool[] {
  const tools = [create(pool), send(pool), status(pool), cancel(pool), destroy(pool), shutdown(pool)]
  return tools.map((tool) => anywhere(tool, pool))
}

const json = (value: JsonObject): Outcome => succeeded(JSON.stringify(value), value)

/** The id of an argument. Source of the text: contracts §1.8. */
function idOf({ agent_id: id }: JsonObject): string {
  const text = typeof id === 'string' ? id.trim() : ''
  if (text === '') throw poolError('INVALID_ARGUMENT', POOL.noId())
  // A configured agent is the parent of those that it makes; an ended agent is named by its key.
  if (!isAgentId(text) && !isAgentKey(text)) throw poolError('INVALID_ARGUMENT', POOL.badId(text))
  return text
}

/** The same tool, which with the port of another server does its work there. */
function anywhere(tool: Tool, { serving, others, agentKey }: ToolPool): Tool {
  return {
    ...tool,
    execute(args, context) {
      const { port } = args
      if (port === undefined || port === serving?.port) return tool.execute(args, context)
      const { callId, signal } = context
      return elsewhere(tool.name, args, { port: Number(port), agentKey, others, callId, signal })
    },
  }
}

function create({ access }: ToolPool): Tool {
  return defineTool({
    name: 'nexus_create',
    description:
      'Make another agent that works for you, with at most your rights. Then give it work with nexus_send, and end it with nexus_destroy.',
    parameters: {
      type: 'object',
      properties: {
        agent_id: {
          ...AGENT,
          description:
            'Its id: 1 to 63 letters, digits, dots, underscores and hyphens; a leading dot makes it temporary',
        },
        preset: {
          type: 'string',
          description: 'yolo, trusted, sandboxed, worker or a preset of the user; default sandboxed',
        },
        disable_tools: { type: 'array', items: { type: 'string' }, description: 'Tools that it may not call' },
        allowed_paths: {
          type: 'array',
          items: { type: 'string' },
          description: 'The only directories that it may use',
        },
        instructions: { type: 'string', description: 'Its role, for its system prompt' },
        model: { type: 'string', description: 'provider/name; default yours' },
        skills: { type: 'array', items: { type: 'string' }, description: 'The only skills that it sees' },
        max_tokens: { type: 'integer', minimum: 1, description: 'Most tokens of it and of its agents' },
        max_turns: { type: 'integer', minimum: 1, description: 'Most turns of it and of its agents' },
        message: { type: 'string', description: 'A first message, whose answer you wait for' },
        port: PORT,
      },
      required: ['agent_id'],
    },
    options: { timeoutMs: 0, isIdempotent: true },
    execute: async (args, { signal, callId }) => {
      const { agent, clipped } = await makeOne(access, { ...toRequest(idOf(args), args), requestId: callId })
      const made = {
        agent_id: agent.id,
        url: `/agent/${agent.id}`,
        ...(clipped.length > 0 && { clipped: [...clipped] }),
      }
      if (typeof args['message'] !== 'string') return json(made)
      const sent = await access.send(agent.id, args['message'], { signal, requestId: callId })
      return toSendOutcome(sent, { agent: agent.id, callId, more: made })
    },
  })
}

/** The words of the tool for a preset above the ceiling. Source: seed 000, "Ceiling Enforcement". */
async function makeOne(access: PoolAccess, request: CreateRequest): Promise<Created> {
  try {
    return await access.create(request)
  } catch (error) {
    if (!isNexusError(error) || error.cause !== BEYOND_PRESET) throw error
    throw poolError('CALL_DENIED', POOL.toolBeyond(request.preset ?? '', error.fix))
  }
}

function toRequest(id: string, args: JsonObject): CreateRequest {
  const { preset, instructions, model } = args
  const text = (value: JsonValue | undefined) => (typeof value === 'string' ? value : undefined)
  const texts = (value: JsonValue | undefined) => (Array.isArray(value) ? value.map(String) : undefined)
  const count = (value: JsonValue | undefined) => (typeof value === 'number' ? value : undefined)
  const [disableTools, allowedPaths] = [texts(args['disable_tools']), texts(args['allowed_paths'])]
  return {
    id,
    preset: text(preset),
    instructions: text(instructions),
    model: text(model),
    skills: texts(args['skills']),
    permissions: disableTools || allowedPaths ? { disableTools, allowedPaths } : undefined,
    budget: { maxTokens: count(args['max_tokens']), maxTurns: count(args['max_turns']) },
  }
}

function send({ access }: ToolPool): Tool {
  return defineTool({
    name: 'nexus_send',
    description:
      'Send a message to an agent that you made, and wait for its answer. To your parent: it reads the message before its next step, and you do not wait.',
    parameters: {
      type: 'object',
      properties: { agent_id: AGENT, content: { type: 'string', description: 'The message' }, port: PORT },
      required: ['agent_id', 'content'],
    },
    // The rules of the turn and the budgets limit it. Source: decisions.
    options: { timeoutMs: 0, isIdempotent: true },
    execute: async (args, { signal, callId }) => {
      const id = idOf(args)
      const sent = await access.send(id, String(args['content']), { signal, requestId: callId })
      return toSendOutcome(sent, { agent: id, callId })
    },
  })
}

function status({ access }: ToolPool): Tool {
  return defineTool({
    name: 'nexus_status',
    description:
      'Show an agent that you made: the tokens of its context, what it is doing, what it used up with its own agents, and what it has left.',
    parameters: { type: 'object', properties: { agent_id: AGENT, port: PORT }, required: ['agent_id'] },
    execute: async (args) => {
      const id = idOf(args)
      const { state, used, left, context, childCount, questions } = await access.status(id)
      const { tokens } = await access.context(id)
      return json({
        tokens: { ...tokens },
        context: { message_count: context.messageCount, system_prompt: context.systemPrompt },
        state,
        used: { own: { ...used.own }, subtree: { ...used.subtree } },
        left: { ...left },
        children: childCount,
        questions: questions.map(({ id, agentPath, tool }) => ({ id, agent: agentPath, tool })),
      })
    },
  })
}

function cancel({ access }: ToolPool): Tool {
  return defineTool({
    name: 'nexus_cancel',
    description: 'Cancel a message to an agent that you made, by the request id of the message.',
    parameters: {
      type: 'object',
      // Both forms are in use. Source: contracts §1.8.
      properties: {
        agent_id: AGENT,
        request_id: { type: ['string', 'integer'], description: 'Id of the message' },
        port: PORT,
      },
      required: ['agent_id', 'request_id'],
    },
    execute: async (args) => {
      const requestId = String(args['request_id'])
      const cancelled = await access.cancel(idOf(args), requestId)
      return json({ cancelled, request_id: requestId, ...(!cancelled && { reason: 'not_found_or_completed' }) })
    },
  })
}

function destroy({ access }: ToolPool): Tool {
  return defineTool({
    name: 'nexus_destroy',
    description: 'End an agent that you made, with all agents below it. Their work stops; their histories stay.',
    parameters: { type: 'object', properties: { agent_id: AGENT, port: PORT }, required: ['agent_id'] },
    execute: async (args) => {
      const id = idOf(args)
      const ended = await access.destroy(id)
      return json({ success: true, agent_id: id, ended: [...ended] })
    },
  })
}

function shutdown({ serving }: ToolPool): Tool {
  return defineTool({
    name: 'nexus_shutdown',
    description: 'End the server that runs the agents. Only where the user allowed it.',
    parameters: { type: 'object', properties: { port: PORT } },
    execute: () => {
      if (!serving?.shutdown) throw poolError('INVALID_ARGUMENT', POOL.noServer())
      serving.shutdown()
      return json({ success: true, message: 'Server shutting down' })
    },
  })
}
