import type { JSONSchema7, ModelMessage, streamText, TextStreamPart, ToolSet, wrapLanguageModel } from 'ai'
import { isJsonObject, type JsonObject, type JsonValue, newId, toSafeLine } from '../../kernel/index.ts'
import { asModelReads } from './agent-messages.ts'
import type { OfferedTool } from '../../runtime/index.ts'
import type { StoredMessage } from '../../store/index.ts'
import type { StepUsage } from './events.ts'
import { startTimer, type Timer } from './limits.ts'
import { MAX_RETRY_PAUSE_MS, type ModelFailure, stepTimedOut, toModelFailure } from './model-failure.ts'
import { createAnswerText, type AnswerText, createThoughts, type Thoughts, withoutCutSecret } from './answer-text.ts'
import { CHARS_A_TOKEN, countStep, estimateMessage, estimatePrompt, priced, withLost } from './tokens.ts'
import { takeWarnings } from './model/stream-parts.ts'
import type { TurnContext } from './turn-context.ts'

/** A call as the model asked for it, not yet checked. */
export interface RequestedCall {
  /** The model's own id, by which its answer is found. */
  readonly toolCallId: string
  readonly wireName: string
  readonly arguments: JsonObject
  /** The text of the model, when it is not a JSON object. */
  readonly unreadable?: string
}

/** The result of asking the model once. */
export type StepAnswer =
  | {
      readonly type: 'answer'
      /** Without secrets, as are the texts of the other two. */
      readonly text: string
      /** The answer for the history; undefined when the model said nothing at all. */
      readonly message: StoredMessage | undefined
      readonly calls: readonly RequestedCall[]
      readonly usage: StepUsage
      readonly finishReason: string
    }
  /** `usage`: of the prompt and what had come, which its provider bills too; absent where the request was refused. */
  | {
      readonly type: 'failed'
      readonly failure: ModelFailure
      readonly text: string
      readonly usage?: StepUsage | undefined
    }
  /** The caller's signal aborted. */
  | { readonly type: 'aborted'; readonly text: string; readonly usage?: StepUsage | undefined }

type V4Model = Parameters<typeof wrapLanguageModel>[0]['model']
type ProviderSettings = NonNullable<Parameters<typeof streamText>[0]['providerOptions']>
export interface StepRequest extends Omit<TurnContext, 'sessionId' | 'turnId' | 'lease'> {
  readonly instructions: string
  readonly messages: readonly StoredMessage[]
  readonly tools: readonly OfferedTool[]
  /** The clock of the turn, which stands still while a place is waited for. */
  readonly timer: Pick<Timer, 'pause' | 'resume'>
}

/** Asks the model and repeats what failed for a passing reason, with the pause that the server asks for. */
export async function askModel(request: StepRequest): Promise<StepAnswer> {
  const { limits, clock, signal, emit } = request
  let lost: StepUsage | undefined
  for (let attempt = 0; ; attempt++) {
    const answer = withLost(await askInPlace(request), lost)
    if (answer.type !== 'failed' || !answer.failure.isRetryable || attempt >= limits.maxRetries) return answer
    lost = answer.usage
    const pauseMs = answer.failure.retryAfterMs ?? Math.min(limits.retryDelayMs * 2 ** attempt, MAX_RETRY_PAUSE_MS)
    const again = `Asking again in ${Math.ceil(pauseMs / 1000)} s (${attempt + 1} of ${limits.maxRetries}).`
    const code = answer.text === '' ? 'model-retry' : 'step-restarted'
    emit({ type: 'notice', code, text: `${answer.failure.error.message} ${again}` })
    try {
      await clock.sleep(pauseMs, signal)
    } catch {
      // The only reason to wake early is the caller's signal.
      return { type: 'aborted', text: answer.text, usage: lost }
    }
  }
}

/** Asks while it has a place among those who ask at once. */
async function askInPlace(request: StepRequest): Promise<StepAnswer> {
  const { hooks, timer, signal } = request
  if (!hooks.enterModel) return askOnce(request)
  timer.pause()
  let leave: () => void
  try {
    leave = await hooks.enterModel(signal)
  } catch (error) {
    if (signal.aborted) return { type: 'aborted', text: '' }
    throw error
  } finally {
    timer.resume()
  }
  try {
    return await askOnce(request)
  } finally {
    leave()
  }
}

async function askOnce(request: StepRequest): Promise<StepAnswer> {
  const { agent, model, limits, clock, signal } = request
  if (signal.aborted) return { type: 'aborted', text: '' }
  const timer = startTimer(clock, limits.stepTimeoutMs)
  const heard: Heard = {
    answer: createAnswerText(request),
    thoughts: createThoughts(request),
    calls: [],
    chars: 0,
    named: (toolCallId, wireName) => request.emit({ type: 'tool-named', ...namedTool(request, toolCallId, wireName) }),
    end: undefined,
  }
  const broken = (error: unknown): StepAnswer => {
    const { answer, thoughts } = heard
    thoughts.end()
    answer.end(true)
    const { text, hasBegun } = answer
    const usage = usageOfBroken(request, heard, signal.aborted || timer.signal.aborted)
    if (signal.aborted) return { type: 'aborted', text, usage }
    if (timer.signal.aborted)
      return { type: 'failed', failure: stepTimedOut({ model }, limits.stepTimeoutMs), text, usage }
    return { type: 'failed', failure: toModelFailure(error, { model, clock, isStarted: hasBegun }), text, usage }
  }
  try {
    const { result, warnings } = await startStream(request, AbortSignal.any([signal, timer.signal]))
    await listen(result.stream, heard)
    const { end, answer, calls } = heard
    if (signal.aborted || timer.signal.aborted || !end || isCut(end)) return broken(new TypeError('terminated'))
    const isCutShort = end.finishReason === 'length' || end.finishReason === 'content-filter'
    answer.end(isCutShort)
    for (const warning of warnings) request.emit({ type: 'notice', code: 'model-warning', text: warning })
    const message = (await result.responseMessages).find(({ role }) => role === 'assistant')
    const stored = toStored(message)
    const unique = withUniqueIds({ message: stored && isCutShort ? withoutCutSecret(stored, agent) : stored, calls })
    return {
      type: 'answer',
      text: answer.text,
      ...unique,
      usage: usageOf(request, end, stored),
      finishReason: end.finishReason,
    }
  } catch (error) {
    return broken(error)
  } finally {
    timer.stop()
  }
}

function namedTool({ agent, tools }: StepRequest, toolCallId: string, wireName: string) {
  const known = tools.find((tool) => tool.wireName === wireName)
  return { toolCallId: toSafeLine(toolCallId), tool: known?.name ?? toSafeLine(agent.redact(wireName)) }
}

type StepEnd = Extract<TextStreamPart<ToolSet>, { type: 'finish-step' }>

/** The part of an answer that has arrived. */
interface Heard {
  readonly answer: AnswerText
  readonly thoughts: Thoughts
  readonly calls: RequestedCall[]
  /** Characters of text, thoughts and arguments. */
  chars: number
  /** The model began to write a call. */
  readonly named: (toolCallId: string, wireName: string) => void
  end: StepEnd | undefined
}

async function listen(stream: AsyncIterable<TextStreamPart<ToolSet>>, heard: Heard): Promise<void> {
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    heard.chars += charsOf(part)
    if (part.type === 'text-delta') heard.answer.add(part.text)
    if (part.type === 'reasoning-start') heard.thoughts.begin()
    if (part.type === 'reasoning-delta') heard.thoughts.add(part.text)
    if (part.type === 'reasoning-end') heard.thoughts.end()
    if (part.type === 'tool-input-start') heard.named(part.id, part.toolName)
    if (part.type === 'tool-call') heard.calls.push(toRequestedCall(part))
    if (part.type === 'finish-step') heard.end = part
  }
}

function charsOf(part: TextStreamPart<ToolSet>): number {
  if (part.type === 'tool-input-delta') return part.delta.length
  return part.type === 'text-delta' || part.type === 'reasoning-delta' ? part.text.length : 0
}

/** A stream that ends without saying why was cut; the SDK reports that as a reason of its own. */
function isCut({ finishReason, rawFinishReason }: StepEnd): boolean {
  return finishReason === 'other' && rawFinishReason === undefined
}

/** One step of `streamText`: tools have no `execute`, so that every call comes back to us; we repeat requests ourselves. */
async function startStream(request: StepRequest, abortSignal: AbortSignal) {
  const { jsonSchema, streamText, tool, wrapLanguageModel } = await import('ai')
  const warnings: string[] = []
  const described = request.tools.map(
    ({ wireName, description, parameters }) =>
      [wireName, tool({ description, inputSchema: jsonSchema(parameters as JSONSchema7) })] as const,
  )
  const result = streamText({
    model: wrapLanguageModel({ model: request.model.languageModel as V4Model, middleware: takeWarnings(warnings) }),
    messages: asModelReads(request.messages) as unknown as ModelMessage[],
    instructions: request.instructions || undefined,
    tools: described.length > 0 ? (Object.fromEntries(described) as ToolSet) : undefined,
    providerOptions: request.model.providerOptions as ProviderSettings | undefined,
    maxRetries: 0,
    abortSignal,
    // Errors are read from the stream; without this the SDK prints them.
    onError: () => undefined,
  })
  return { result, warnings }
}

function toRequestedCall(part: Extract<TextStreamPart<ToolSet>, { type: 'tool-call' }>): RequestedCall {
  const { toolCallId, toolName } = part
  const input: unknown = part.input
  if (isJsonObject(input)) return { toolCallId, wireName: toolName, arguments: input }
  const isText = part.invalid === true && typeof input === 'string'
  const refused = isText ? readRefused(input) : undefined
  if (refused) return { toolCallId, wireName: toolName, arguments: refused }
  return { toolCallId, wireName: toolName, arguments: {}, unreadable: isText ? input : JSON.stringify(input) }
}

/**
 * Sound JSON that the SDK does not read because it names a prototype, such as `__proto__`. `JSON.parse` makes plain data of it,
 * and the check of arguments says which name is wrong.
 */
function readRefused(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    // No JSON at all: that is what it is answered.
    return undefined
  }
}

/** The cost of an answer: the provider's counts, else the estimate of what was sent and said. */
function usageOf(request: StepRequest, { usage }: StepEnd, said: StoredMessage | undefined): StepUsage {
  const output = said ? estimateMessage(said) : 0
  return counted(request, usage, output)
}

/**
 * The same for an answer that broke off. Where we stopped waiting before any of it came, its provider had the prompt and bills it; one
 * that refused the request, or was not reached, bills nothing.
 */
function usageOfBroken(request: StepRequest, { chars, end }: Heard, isStopped: boolean): StepUsage | undefined {
  if (chars === 0 && !end && !isStopped) return undefined
  return counted(request, end?.usage, Math.ceil(chars / CHARS_A_TOKEN))
}

function counted(request: StepRequest, usage: StepEnd['usage'] | undefined, output: number): StepUsage {
  const { inputTokens, outputTokens, totalTokens, inputTokenDetails } = usage ?? {}
  const reported = { inputTokens, outputTokens, totalTokens, cachedTokens: inputTokenDetails?.cacheReadTokens }
  return priced(countStep(reported, { input: estimatePrompt(request).total, output }), request.model.price)
}

/** The message as plain JSON, as it will be read again. */
function toStored(message: ModelMessage | undefined): StoredMessage | undefined {
  return message && (JSON.parse(JSON.stringify(message)) as StoredMessage)
}

/** Every call of an answer gets an id of its own, also when a careless server repeats or omits them: answers are matched by it. */
function withUniqueIds(answer: { message: StoredMessage | undefined; calls: readonly RequestedCall[] }): typeof answer {
  const ids = answer.calls.map((call) => call.toolCallId)
  if (new Set(ids).size === ids.length && !ids.includes('')) return answer
  const calls = answer.calls.map((call) => ({ ...call, toolCallId: `call_${newId()}` }))
  const content = Array.isArray(answer.message?.content) ? answer.message.content : []
  let position = 0
  const renamed = content.map((part: JsonValue) =>
    isJsonObject(part) && part.type === 'tool-call'
      ? { ...part, toolCallId: calls[position++]?.toolCallId ?? '' }
      : part,
  )
  return { message: { role: 'assistant', content: renamed }, calls }
}
