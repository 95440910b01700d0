/** tokens: what an answer cost by its provider's own counts, and the estimate where it reports none. */
import { isJsonObject, type JsonValue } from '../../kernel/index.ts'
import type { OfferedTool } from '../../runtime/index.ts'
import type { StoredMessage } from '../../store/index.ts'
import type { StepUsage, TurnUsage } from './events.ts'
import type { ModelPrice } from './model/open-model.ts'
import { contentOf } from './stored-message.ts'

/** Source: contracts §1.9, "token estimate". */
export const CHARS_A_TOKEN = 4
const TOKENS_A_MESSAGE = 4

/** More tokens of one answer are no count of them. */
const MOST_OF_ANSWER = 100_000_000

export function estimateText(text: string): number {
  return Math.ceil(text.length / CHARS_A_TOKEN)
}

export function estimateMessage(message: StoredMessage): number {
  return TOKENS_A_MESSAGE + contentOf(message).reduce((sum: number, part) => sum + estimatePart(part), 0)
}

function estimatePart(part: JsonValue): number {
  if (typeof part === 'string') return estimateText(part)
  if (!isJsonObject(part)) return 0
  if (typeof part.text === 'string') return estimateText(part.text)
  const { toolName = '', input = '', output = '' } = part
  const value = isJsonObject(output) ? (output.value ?? '') : output
  return [toolName, input, value].reduce((sum: number, each) => sum + estimateText(textOf(each)), 0)
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The parts of a request to the model, in tokens. */
export interface PromptSize {
  readonly system: number
  readonly tools: number
  readonly messages: number
  readonly total: number
}

/** An estimate of what a request takes. */
export function estimatePrompt(prompt: {
  readonly instructions: string
  readonly tools: readonly OfferedTool[]
  readonly messages: readonly StoredMessage[]
}): PromptSize {
  const system = prompt.instructions === '' ? 0 : estimateText(prompt.instructions) + TOKENS_A_MESSAGE
  const tools = prompt.tools.reduce((sum, tool) => sum + estimateTool(tool), 0)
  const messages = prompt.messages.reduce((sum, message) => sum + estimateMessage(message), 0)
  return { system, tools, messages, total: system + tools + messages }
}

function estimateTool({ wireName, description, parameters }: OfferedTool): number {
  return (
    TOKENS_A_MESSAGE + estimateText(wireName) + estimateText(description) + estimateText(JSON.stringify(parameters))
  )
}

/** The counts as a provider sent them: any number, or none. */
export interface ReportedTokens {
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  readonly totalTokens: number | undefined
  /** The part of the input that came from the provider's cache. */
  readonly cachedTokens?: number | undefined
}

/**
 * The cost of one answer. A count that is missing, or that cannot be one, is replaced by the estimate: a request has at least a token, and
 * so has an answer that says something.
 */
export function countStep(
  reported: ReportedTokens,
  estimate: { readonly input: number; readonly output: number },
): StepUsage {
  const isInput = isCount(reported.inputTokens, 1)
  const isOutput = isCount(reported.outputTokens, estimate.output > 0 ? 1 : 0)
  const inputTokens = isInput ? reported.inputTokens : estimate.input
  const outputTokens = isOutput ? reported.outputTokens : estimate.output
  const sum = inputTokens + outputTokens
  const isTotal = isInput && isOutput && isCount(reported.totalTokens, sum)
  const estimatedTokens = (isInput ? 0 : inputTokens) + (isOutput ? 0 : outputTokens)
  return {
    inputTokens,
    outputTokens,
    totalTokens: isTotal ? reported.totalTokens : sum,
    ...(isInput && cachedPart(reported)),
    ...(estimatedTokens > 0 && { estimatedTokens }),
  }
}

/** More cached tokens than input are no count. */
function cachedPart({ cachedTokens, inputTokens = 0 }: ReportedTokens): Pick<StepUsage, 'cachedTokens'> {
  return isCount(cachedTokens, 1) && cachedTokens <= inputTokens ? { cachedTokens } : {}
}

/** Money is kept in billionths, so that sums are exact. */
const inBillionths = (money: number): number => Math.round(money * 1e9) / 1e9

/** The same with its cost, where the price is known. */
export function priced(step: StepUsage, price: ModelPrice | undefined): StepUsage {
  if (!price) return step
  const { inputTokens, outputTokens, cachedTokens = 0 } = step
  const { input, output, cachedInput = input } = price
  const perMillion = (inputTokens - cachedTokens) * input + cachedTokens * cachedInput + outputTokens * output
  return { ...step, cost: inBillionths(perMillion / 1e6) }
}

function isCount(tokens: number | undefined, least: number): tokens is number {
  return Number.isSafeInteger(tokens) && Number(tokens) >= least && Number(tokens) <= MOST_OF_ANSWER
}

export function addUsage(a: StepUsage, b: StepUsage): StepUsage {
  const sum = (name: 'estimatedTokens' | 'cachedTokens' | 'cost'): number => (a[name] ?? 0) + (b[name] ?? 0)
  const [estimatedTokens, cachedTokens, cost] = [sum('estimatedTokens'), sum('cachedTokens'), inBillionths(sum('cost'))]
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(estimatedTokens > 0 && { estimatedTokens }),
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cost > 0 && { cost }),
  }
}

/** The use of answers that were lost joins that of the next one. */
export function withLost<T extends { readonly usage?: StepUsage | undefined }>(
  answer: T,
  lost: StepUsage | undefined,
): T {
  if (!lost) return answer
  return { ...answer, usage: answer.usage ? addUsage(lost, answer.usage) : lost }
}

/** The sum over the answers of a turn, from what is stored of it. */
export interface UsageSum {
  /** Returns how many answers there are now. */
  add(step: StepUsage): number
  /** With the time until now. */
  total(): TurnUsage
  /** Milliseconds since the last call, to be stored with the next change. */
  takeTime(): number
}

/** `spentMs`: the time of the turn in this process, without the time in which people were asked. */
export function sumUsage({ steps: before, activeMs = 0, ...used }: TurnUsage, spentMs: () => number): UsageSum {
  let steps = before
  let sum: StepUsage = used
  let told = 0
  return {
    add(step) {
      sum = addUsage(sum, step)
      return ++steps
    },
    total() {
      const time = activeMs + Math.round(spentMs())
      return { ...sum, steps, ...(time > 0 && { activeMs: time }) }
    },
    takeTime() {
      const now = Math.round(spentMs())
      const since = Math.max(0, now - told)
      told = now
      return since
    },
  }
}
