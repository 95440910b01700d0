/** Spans of turns, from the events of the pool: the agent, each answer of its model, each tool. Names are those of the GenAI conventions. */
import type { Attributes, Context, Span, SpanStatusCode, Tracer } from '@opentelemetry/api'
import type { PoolEvent } from '../../../agents/pool/index.ts'
import type { AgentEvent } from '../../../agents/turns/index.ts'
import type { JsonObject } from '../../../kernel/index.ts'
import type { Served } from '../../rpc/index.ts'

export interface TurnSpansOptions {
  readonly served: Served
  readonly tracer: Tracer
  /** Also arguments and results of tools. */
  readonly content: boolean
  readonly context: typeof import('@opentelemetry/api').context
  readonly trace: typeof import('@opentelemetry/api').trace
  readonly SpanStatusCode: typeof SpanStatusCode
}

interface OpenTurn {
  readonly span: Span
  readonly inside: Context
  readonly model: string
  chat: Span | undefined
  readonly tools: Map<string, { readonly span: Span; readonly inside: Context }>
}

type Of<T extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: T }>

/** Returns the end of it. Spans of turns that run then end too. */
export function followTurns(options: TurnSpansOptions): () => void {
  const { served, tracer, content, context, trace, SpanStatusCode: Status } = options
  const { redact } = served.runtime
  /** By the key of the agent: it has one turn at a time. */
  const turns = new Map<string, OpenTurn>()

  /** The call of the parent that waits for this agent, else what is active: the request. */
  function outside({ path }: PoolEvent): Context {
    const parent = path.split('/').slice(0, -1).join('/')
    const [above] = parent === '' ? [] : [...turns].filter(([key]) => paths.get(key) === parent)
    const call = [...(above?.[1].tools.values() ?? [])].at(-1)
    return call?.inside ?? context.active()
  }
  const paths = new Map<string, string>()

  function begin(event: PoolEvent, { turnId, sessionId, model }: Of<'turn-start'>): void {
    const attributes: Attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': event.key,
      'gen_ai.agent.name': event.agentId,
      'gen_ai.conversation.id': sessionId,
      'gen_ai.request.model': model,
      'nexus.agent.path': event.path,
      'nexus.turn.id': turnId,
    }
    const parent = outside(event)
    const span = tracer.startSpan(`invoke_agent ${event.agentId}`, { attributes }, parent)
    const inside = trace.setSpan(parent, span)
    paths.set(event.key, event.path)
    turns.set(event.key, { span, inside, model, chat: undefined, tools: new Map() })
    ask(event.key)
  }

  /** The model is asked when a turn begins, and when its calls have answers. */
  function ask(key: string): void {
    const turn = turns.get(key)
    if (!turn || turn.chat) return
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': turn.model }
    turn.chat = tracer.startSpan(`chat ${turn.model}`, { attributes }, turn.inside)
  }

  function answered(turn: OpenTurn, { usage }: Of<'step-end'>): void {
    turn.chat?.setAttributes({
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
    })
    turn.chat?.end()
    turn.chat = undefined
  }

  function call(turn: OpenTurn, { callId, tool, arguments: args }: Of<'tool-call'>): void {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
      ...(content && { 'gen_ai.tool.call.arguments': JSON.stringify(redact(args)) }),
    }
    const span = tracer.startSpan(`execute_tool ${tool}`, { attributes }, turn.inside)
    turn.tools.set(callId, { span, inside: trace.setSpan(turn.inside, span) })
  }

  async function result(key: string, turn: OpenTurn, { callId, outcome }: Of<'tool-result'>): Promise<void> {
    const open = turn.tools.get(callId)
    if (!open) return
    const { span } = open
    turn.tools.delete(callId)
    const ended = new Date()
    if (turn.tools.size === 0) ask(key)
    if (outcome.type === 'failed') {
      span.setAttribute('error.type', outcome.code)
      span.setStatus({ code: Status.ERROR })
    }
    if (content) span.setAttribute('gen_ai.tool.call.result', JSON.stringify(redact(outcome as unknown as JsonObject)))
    const entry = await served.runtime.store.ledger.get(callId).catch(() => undefined)
    if (entry) span.setAttribute('nexus.decision', entry.decision.type)
    if (entry?.skill) span.setAttribute('gen_ai.skill.name', entry.skill.name)
    if (entry?.skill?.treeDigest !== undefined) span.setAttribute('nexus.skill.digest', entry.skill.treeDigest)
    span.end(ended)
  }

  function finish(key: string, turn: OpenTurn, { result: { end, usage } }: Of<'turn-end'>): void {
    turns.delete(key)
    paths.delete(key)
    // A budget ended it before the model was asked again. A span without an end is never sent.
    if (end !== 'stopped') turn.chat?.end()
    for (const { span } of turn.tools.values()) span.end()
    turn.span.setAttributes({
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'nexus.turn.end': end,
    })
    if (end === 'failed') turn.span.setStatus({ code: Status.ERROR })
    turn.span.end()
  }

  const stop = served.pool.listen((event) => {
    const { key, event: said } = event
    if (said.type === 'turn-start') return begin(event, said)
    const turn = turns.get(key)
    if (!turn) return
    if (said.type === 'step-end') answered(turn, said)
    else if (said.type === 'tool-call') call(turn, said)
    else if (said.type === 'tool-result') void result(key, turn, said)
    else if (said.type === 'turn-end') finish(key, turn, said)
  })
  return () => {
    stop()
    for (const turn of turns.values()) turn.span.end()
    turns.clear()
  }
}
