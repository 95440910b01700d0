import {
  type Decision,
  errorMessage,
  failed,
  type JsonValue,
  newId,
  type Outcome,
  toSafeLine,
} from '../../kernel/index.ts'
import type { CallOptions, OfferedTool } from '../../runtime/index.ts'
import type { StoredMessage } from '../../store/index.ts'
import { isParallelBatch, runBatch } from '../../tools/index.ts'
import type { Timer } from './limits.ts'
import type { RequestedCall } from './model-step.ts'
import type { TurnContext } from './turn-context.ts'
import type { UnwrittenStep } from './unwritten-step.ts'

/** From here on the model gets a note that it repeats itself. */
const REPEATS_BEFORE_NOTE = 3
const MAX_QUOTED_CHARS = 200

export interface ToolTurn extends Omit<TurnContext, 'model'> {
  readonly tools: readonly OfferedTool[]
  /** The answer to one call as the model reads it from now on, and what belongs to it is durable. */
  readonly toMessage: (call: RequestedCall, outcome: Outcome) => Promise<StoredMessage>
  /** The answer of the model with these calls: it is durable before anything is. Absent where an ended process wrote it. */
  readonly step?: UnwrittenStep | undefined
  /** Keeps an answer in the history; durable when it returns. */
  readonly keep: (message: StoredMessage) => Promise<void>
  readonly repeats: RepeatWatch
  /** Calls that an ended process recorded, by the model's id: their owner now goes on with them. */
  readonly recorded: ReadonlyMap<string, RecordedCall>
  /** The model's ids of calls whose arguments are known without their secrets only: they cannot run. */
  readonly hidden: ReadonlySet<string>
  /** The time limit of the turn: it does not run while a person is asked. */
  readonly timer: Pick<Timer, 'pause' | 'resume'>
}

/** A call with its question that waited for its next owner. */
export type RecordedCall = NonNullable<CallOptions['goesOn']>

/** Counts how often the same call came to the same outcome in a row. */
export interface RepeatWatch {
  note(call: RequestedCall, outcome: Outcome): number
}

export function createRepeatWatch(): RepeatWatch {
  let last = ''
  let count = 0
  return {
    note(call, outcome) {
      const key = JSON.stringify([call.wireName, call.unreadable ?? sorted(call.arguments), withoutStats(outcome)])
      count = key === last ? count + 1 : 1
      last = key
      return count
    },
  }
}

/** A call with the id it has in the ledger and in events. */
interface NumberedCall extends RequestedCall {
  readonly callId: string
  /** Policy name; the name the model used when we know no such tool. */
  readonly tool: string
}

/**
 * Works off the calls of one answer: in order with a halt at the first error, or at once when one says `_parallel`.
 * Every call is answered exactly once, also after a halt and after a cancel. Rejects only when an answer cannot be kept
 * or a call cannot be recorded; what was done until then is answered.
 */
export async function runToolCalls(requested: readonly RequestedCall[], turn: ToolTurn): Promise<void> {
  if (requested.length === 0) return turn.step?.write()
  const names = new Map(turn.tools.map((tool) => [tool.wireName, tool.name]))
  const calls = requested.map((call) => ({
    ...call,
    callId: turn.recorded.get(call.toolCallId)?.entry.call.id ?? newId(turn.clock.now()),
    tool: names.get(call.wireName) ?? quoted(turn.agent.redact(call.wireName)),
  }))
  const faults: unknown[] = []
  const run = async (call: NumberedCall): Promise<Outcome> => {
    const startedAt = announce(call, turn)
    const outcome = await runOne(call, startedAt, turn).catch(async (error: unknown) => {
      faults.push(error)
      await answerUnrun(call, { outcome: UNRECORDED, startedAt }, turn).catch(() => undefined)
      return UNRECORDED
    })
    return faults.length === 0 ? outcome : UNRECORDED
  }
  const named = calls.map(({ callId, tool }) => ({ callId, tool }))
  const isParallel = isParallelBatch(calls)
  turn.emit({ type: 'batch-start', calls: named, isParallel })
  // Else the record of one could be there before the answer that another one writes.
  if (isParallel && calls.length > 1) await turn.step?.write()
  const answered = await runBatch(calls, run, { maxConcurrent: turn.limits.maxConcurrentTools, signal: turn.signal })
  const unrun = answered.filter(({ ran }) => !ran)
  const failed =
    isParallel || turn.signal.aborted ? undefined : answered.find(({ outcome }) => outcome.type === 'failed')
  if (failed && unrun.length > 0) turn.emit({ type: 'batch-halt', callId: failed.call.callId })
  for (const { call, outcome } of unrun) await answerUnrun(call, { outcome, startedAt: announce(call, turn) }, turn)
  turn.emit({ type: 'batch-end', calls: named })
  if (faults.length > 0) throw faults[0]
}

/** The ledger or the session could not be written: whatever comes after in the batch must not run. */
const UNRECORDED = failed('INTERRUPTED', 'The call could not be recorded: outcome unknown.')

/** The arguments are known without their secrets only. */
const HIDDEN = failed(
  'INTERRUPTED',
  'not run: its arguments had a secret, which Nexus did not keep when its process ended. Send the call again.',
)

/** Runs the call; its answer is written with its end in the ledger. */
async function runOne(call: NumberedCall, startedAt: number, turn: ToolTurn): Promise<Outcome> {
  const { agent, turnId, signal, emit, timer } = turn
  const { callId, tool } = call
  if (call.unreadable !== undefined) {
    const outcome = unreadableArguments(call, agent.redact(call.unreadable))
    await answerUnrun(call, { outcome, startedAt }, turn)
    return outcome
  }
  const goesOn = turn.recorded.get(call.toolCallId)
  // One that began is made again: its effect was kept without secrets, if it came to that.
  const refusal = turn.hidden.has(call.toolCallId) && goesOn?.entry.state !== 'started' ? HIDDEN : undefined
  if (refusal && !goesOn) {
    await answerUnrun(call, { outcome: refusal, startedAt }, turn)
    return refusal
  }
  let answered: Answered | undefined
  const options: CallOptions = {
    signal,
    goesOn: goesOn && { ...goesOn, refusal },
    onOutput: ({ stream, text }) => emit({ type: 'tool-output', callId, stream, text }),
    onDecision: (made) => emit({ type: 'tool-decision', callId, decision: made }),
    onAsked: (asked) => {
      if (asked.isOpen) timer.pause()
      else timer.resume()
      emit({ type: 'tool-asked', callId, ...asked })
    },
    toMessage: (ended, decision) => {
      answered = toAnswer(call, withOffered(ended, decision, { call, turn }), turn)
      return turn.toMessage(call, answered.forModel)
    },
  }
  const request = {
    tool,
    arguments: call.arguments,
    turnId,
    callId,
    origin: 'model',
    toolCallId: call.toolCallId,
  } as const
  const { outcome } = turn.step
    ? await turn.step.writtenBy((step) => agent.call(request, { ...options, step }))
    : await agent.call(request, options)
  if (answered) tell(call, { ...answered, startedAt }, turn)
  return answered?.outcome ?? outcome
}

/** A call of something that is not offered is answered with what is. */
function withOffered(
  outcome: Outcome,
  decision: Decision,
  { call, turn: { tools } }: { call: NumberedCall; turn: ToolTurn },
): Outcome {
  const isOffered = tools.some((offered) => offered.wireName === call.wireName)
  if (isOffered || outcome.type !== 'failed' || (decision.type === 'allow' && outcome.code !== 'NOT_FOUND'))
    return outcome
  return withNote(outcome, `Tools you can call: ${tools.map((offered) => offered.wireName).join(', ') || 'none'}.`)
}

/** Nothing was run and nothing decided: there is no call yet, only text that should become one. */
function unreadableArguments(call: NumberedCall, text: string): Outcome {
  const why = text.trim() === '' ? 'they are empty' : problemOf(text)
  return failed(
    'INVALID_PARAM',
    `Invalid arguments for ${call.tool}: ${why}. Got: ${quoted(text)} Send the call again with one JSON object that fits the tool's parameters.`,
  )
}

function problemOf(text: string): string {
  try {
    JSON.parse(text)
    return 'they are JSON, but not an object'
  } catch (error) {
    return `they are not valid JSON (${toSafeLine(errorMessage(error)).slice(0, MAX_QUOTED_CHARS)})`
  }
}

function announce(call: NumberedCall, turn: ToolTurn): number {
  const { callId, tool, unreadable } = call
  turn.emit({
    type: 'tool-call',
    callId,
    tool,
    arguments: turn.agent.redact(call.arguments),
    unreadableArguments: unreadable === undefined ? undefined : turn.agent.redact(unreadable),
  })
  return turn.clock.now()
}

/** The end of a call. */
interface Answered {
  readonly outcome: Outcome
  /** The same with a note when the model goes round in circles. */
  readonly forModel: Outcome
  /** How often in a row. */
  readonly times: number
}

function toAnswer(call: NumberedCall, outcome: Outcome, turn: ToolTurn): Answered {
  const times = turn.repeats.note(call, outcome)
  if (times < REPEATS_BEFORE_NOTE) return { outcome, forModel: outcome, times }
  const note = `Note: this is the same call with the same result, ${times} times in a row. Another one will change nothing: use the result, change the arguments, or answer the user.`
  return { outcome, forModel: withNote(outcome, note), times }
}

function tell(call: NumberedCall, answered: Answered & { readonly startedAt: number }, turn: ToolTurn): void {
  const { callId, tool } = call
  const { outcome, times, startedAt } = answered
  turn.emit({ type: 'tool-result', callId, tool, outcome, durationMs: turn.clock.now() - startedAt })
  if (times < REPEATS_BEFORE_NOTE) return
  turn.emit({
    type: 'notice',
    code: 'repeated-call',
    text: `The model made the same call of ${tool} ${times} times with the same result.`,
  })
}

/** Answers a call that has no row in the ledger. */
async function answerUnrun(
  call: NumberedCall,
  { outcome, startedAt }: { outcome: Outcome; startedAt: number },
  turn: ToolTurn,
): Promise<void> {
  const answered = toAnswer(call, outcome, turn)
  tell(call, { ...answered, startedAt }, turn)
  await turn.step?.write()
  await turn.keep(await turn.toMessage(call, answered.forModel))
}

/** Adds a sentence for the model; the ledger keeps the outcome as it was. */
function withNote(outcome: Outcome, note: string): Outcome {
  return outcome.type === 'failed'
    ? { ...outcome, message: `${outcome.message} ${note}` }
    : { ...outcome, text: `${outcome.text}\n${note}` }
}

function quoted(text: string): string {
  const line = toSafeLine(text)
  return line.length > MAX_QUOTED_CHARS ? `${line.slice(0, MAX_QUOTED_CHARS)}…` : line
}

function withoutStats({ stats: _stats, ...outcome }: Outcome): JsonValue {
  return JSON.parse(JSON.stringify(outcome)) as JsonValue
}

/** The same arguments in another order are the same call. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sorted(member as JsonValue)])
}
