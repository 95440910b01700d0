import type { Sessions, StoredMessage, Turns, TurnUse } from '../../store/index.ts'
import type { AgentListener } from './events.ts'
import { authorOf } from './agent-messages.ts'
import {
  cancelled,
  type Ending,
  type FinishedTurn,
  lastMessages,
  stopped,
  timedOut,
  toEnding,
  toResult,
  unanswered,
} from './endings.ts'
import { assistantMessage, CLOSING, openCalls, toolMessage } from './history.ts'
import { createRoom } from './context/room.ts'
import type { ContextSettings, LearnedContext } from './context/settings.ts'
import type { LiveTurn } from './live-turn.ts'
import { NOTICES } from './messages.ts'
import type { RequestedCall, StepAnswer } from './model-step.ts'
import type { OfferedTool } from '../../runtime/index.ts'
import { withParallel } from '../../tools/index.ts'
import { sumUsage, type UsageSum } from './tokens.ts'
import { createRepeatWatch, runToolCalls, type ToolTurn } from './tool-calls.ts'
import type { TurnContext } from './turn-context.ts'
import { unwrittenStep } from './unwritten-step.ts'

/** The parts of a turn. `messages` is the history up to and with the user's message. */
export interface TurnParts extends TurnContext {
  readonly sessions: Sessions
  readonly instructions: string
  readonly messages: readonly StoredMessage[]
  readonly turns: Turns
  /** Steps and tokens so far, as they are stored. */
  readonly use: TurnUse
  /** The part that an ended process did; absent for a turn that begins. */
  readonly before?: Before | undefined
  readonly live: LiveTurn
  readonly context: ContextSettings
  readonly learned: LearnedContext
}

/** A turn that goes on from answers to its questions. */
export type Before = Pick<ToolTurn, 'recorded' | 'hidden'>

/**
 * Asks the model, works off its calls, and asks again, until it answers without a call or a limit ends the turn.
 * Each step is in the store before the next thing happens; the last one is returned. Does not throw: a fault is the result `failed`.
 */
export async function runTurn(parts: TurnParts): Promise<FinishedTurn> {
  const { turnId, sessionId, limits, live } = parts
  const { timer } = live
  const usage = sumUsage(parts.use, () => timer.spentMs())
  const signal = AbortSignal.any([parts.signal, timer.signal])
  const ending = await loop({ ...parts, signal }, usage).catch((cause: unknown) => toEnding(cause, parts))
  // A message that came at the very end is in the history: the next turn reads it.
  await live.close()
  timer.pause()
  const named =
    ending.end === 'cancelled' && timer.signal.aborted && !parts.signal.aborted
      ? timedOut(ending, limits.turnTimeoutMs)
      : ending
  const result = toResult(named, { turnId, sessionId, usage: usage.total() })
  return { result, messages: lastMessages(named, parts), tokens: named.tokens, activeMs: usage.takeTime() }
}

async function loop(parts: TurnParts, usage: UsageSum): Promise<Ending> {
  const { agent, sessions, turns, turnId, sessionId, lease, limits, emit, signal, before, live } = parts
  const { timer } = live
  const messages = [...parts.messages]
  /** A message as the history keeps it; the model reads it from now on. */
  const join = (message: StoredMessage): StoredMessage => {
    const clean = agent.redact(message)
    messages.push(clean)
    return clean
  }
  const keep = (message: StoredMessage): Promise<void> => sessions.append(sessionId, [message], lease)
  const keepLoaded = keepLoadedSkills(parts)
  const instructions = withSkills(parts.instructions, agent)
  const room = createRoom({ ...parts, timer }, messages, usage)
  const forCalls: Omit<ToolTurn, 'tools'> = {
    ...parts,
    timer,
    repeats: createRepeatWatch(),
    recorded: new Map(),
    hidden: new Set(),
    keep,
    toMessage: async (call: RequestedCall, outcome) => {
      await keepLoaded()
      return join(toolMessage(call, outcome))
    },
  }
  if (before) {
    const { recorded, hidden } = before
    await runToolCalls(openCalls(messages), { ...forCalls, recorded, hidden, tools: agent.definitions() })
    if (signal.aborted) return cancelled('', true)
  }
  for (let iteration = usage.total().steps; iteration < limits.maxIterations; iteration++) {
    // Tools are read at each step: loading a skill may add some.
    const prompt = { instructions, tools: offeredTools(agent, limits) }
    const stop = await askOwner(parts, usage)
    if (stop) return stopped(stop)
    messages.push(...takeDelivered(parts))
    const late = (await room.fit(prompt)) ? await askOwner(parts, usage) : undefined
    if (late) return stopped(late)
    const answer = await room.ask(prompt)
    if (answer.type !== 'answer') return unanswered(answer, usage)
    const number = usage.add(answer.usage)
    emit({ type: 'step-end', step: number, usage: answer.usage })
    warnIncomplete(answer, emit)
    const asked = answer.message ?? assistantMessage(CLOSING.empty)
    const message = join(asked)
    const tokens = answer.usage
    if (answer.calls.length === 0 && (await live.close())) return { end: 'done', text: answer.text, message, tokens }
    const step = { message, tokens, activeMs: usage.takeTime(), hiddenCalls: hiddenIn(answer.calls, agent) }
    const unwritten = unwrittenStep(turns, { turnId, lease, step, number })
    await runToolCalls(answer.calls, { ...forCalls, tools: prompt.tools, step: unwritten })
    if (signal.aborted) return cancelled(answer.text, true)
  }
  return { end: 'max-iterations', text: CLOSING['max-iterations'], closing: CLOSING['max-iterations'] }
}

/** Whether the owner of the agent ends the turn here. */
function askOwner({ hooks, turnId }: TurnParts, usage: UsageSum) {
  const { activeMs = 0, ...use } = usage.total()
  return hooks.beforeStep?.({ turnId, ...use, activeMs })
}

/** The system prompt: the instructions of the turn, then the skills. */
export function withSkills(instructions: string, agent: Pick<TurnContext['agent'], 'instructions'>): string {
  return [instructions, agent.instructions()].filter((text) => text !== '').join('\n\n')
}

/** The tools in the form that the model sees. */
export function offeredTools(
  agent: Pick<TurnContext['agent'], 'definitions'>,
  { maxConcurrentTools }: Pick<TurnContext['limits'], 'maxConcurrentTools'>,
): readonly OfferedTool[] {
  const tools = agent.definitions()
  return maxConcurrentTools > 1 ? tools.map(toParallel) : tools
}

function takeDelivered({ live, emit }: TurnParts): readonly StoredMessage[] {
  const delivered = live.take()
  const from = delivered.map((message) => authorOf(message) ?? '')
  if (from.length > 0) emit({ type: 'messages-delivered', from })
  return delivered
}

/** Writes which skills the model has, each time that changed, so that another process knows it. */
function keepLoadedSkills({ agent, sessions, sessionId, lease }: TurnParts): () => Promise<void> {
  let kept = JSON.stringify(agent.loadedSkills())
  return async () => {
    const loaded = agent.loadedSkills()
    const now = JSON.stringify(loaded)
    if (now === kept) return
    kept = now
    await sessions.update(sessionId, { loaded }, lease)
  }
}

function toParallel(tool: OfferedTool): OfferedTool {
  return { ...tool, parameters: withParallel(tool.parameters) }
}

function warnIncomplete(answer: Extract<StepAnswer, { type: 'answer' }>, emit: AgentListener): void {
  const notice = (text: string): void => emit({ type: 'notice', code: 'incomplete-answer', text })
  if (answer.finishReason === 'length') notice(NOTICES.cutAtLength())
  else if (answer.finishReason === 'content-filter') notice(NOTICES.cutByFilter())
  else if (answer.text === '' && answer.calls.length === 0) notice(NOTICES.emptyAnswer())
}

/** The model's ids of calls whose arguments the history has without their secrets. */
function hiddenIn(calls: readonly RequestedCall[], agent: TurnParts['agent']): readonly string[] {
  return calls
    .filter((call) => JSON.stringify(agent.redact(call.arguments)) !== JSON.stringify(call.arguments))
    .map(({ toolCallId }) => agent.redact(toolCallId))
}
