/** room: sees to it that a request fits into the context of the model, by a summary or by leaving messages out. */
import type { OfferedTool } from '../../../runtime/index.ts'
import type { Sessions, StoredMessage, Turns } from '../../../store/index.ts'
import type { LiveTurn } from '../live-turn.ts'
import { NOTICES } from '../messages.ts'
import { askModel, type StepAnswer, type StepRequest } from '../model-step.ts'
import type { StepUsage } from '../events.ts'
import { addUsage, estimatePrompt, type UsageSum, withLost } from '../tokens.ts'
import type { TurnContext } from '../turn-context.ts'
import { type ChosenCut, chooseCut } from './choose-cut.ts'
import { cutMessage, shownMessages } from './cuts.ts'
import { type ContextSettings, type LearnedContext, windowOf } from './settings.ts'
import { askForSummary, summaryText } from './summary.ts'

/** The part of the room that is full after messages were left out, so that it is not done again at once. */
const AFTER_CUT = 0.6
/** The part of that for the messages behind a summary. */
const BEHIND_SUMMARY = 0.5
/** How often one request is made shorter after the provider refused it. */
const MOST_REFUSALS = 3
/** Without a number from the provider, so much less than it refused is tried. */
const LESS = 0.7
const LEAST_TARGET = 100

export interface RoomParts extends TurnContext {
  readonly sessions: Sessions
  readonly turns: Turns
  readonly context: ContextSettings
  readonly learned: LearnedContext
  readonly timer: StepRequest['timer']
  /** Messages that come meanwhile are in the store. */
  readonly live: Pick<LiveTurn, 'isQuiet' | 'take'>
}

export interface Prompt {
  readonly instructions: string
  readonly tools: readonly OfferedTool[]
}

export interface Room {
  /** Leaves messages out where the request would not fit. True when the model was asked for a summary. */
  fit(prompt: Prompt): Promise<boolean>
  /** Asks the model; where its provider refuses the request because it is too long, again with less. */
  ask(prompt: Prompt): Promise<StepAnswer>
}

/** `messages` is the history as the turn has it: cuts join it. */
export function createRoom(parts: RoomParts, messages: StoredMessage[], usage: UsageSum): Room {
  const { sessions, turns, sessionId, turnId, lease, emit, context, learned, model, signal, live } = parts
  /** The use of answers that gave nothing, until the next one is counted. */
  let lost: StepUsage | undefined
  const lose = (used: StepUsage | undefined): void => {
    if (used) lost = lost ? addUsage(lost, used) : used
  }
  const counted = (answer: StepAnswer): StepAnswer => {
    const whole = withLost(answer, lost)
    lost = undefined
    return whole
  }
  const shown = (): StoredMessage[] => shownMessages(messages).map(({ message }) => message)
  const sizeOf = (prompt: Prompt): number => estimatePrompt({ ...prompt, messages: shown() }).total * learned.factor
  const isFull = (prompt: Prompt): boolean => sizeOf(prompt) > windowOf(context, model, learned).room
  /** Tokens of the estimate that the messages may take after a cut. */
  const targetOf = (prompt: Prompt): number => {
    const { system, tools } = estimatePrompt({ ...prompt, messages: [] })
    const { room } = windowOf(context, model, learned)
    return Math.max(LEAST_TARGET, Math.floor((room * AFTER_CUT) / learned.factor) - system - tools)
  }
  const tell = (chosen: ChosenCut, before: number, prompt: Prompt): void => {
    const { cut, messages: count } = chosen
    const { by, from, to } = cut
    emit({
      type: 'context-cut',
      by,
      from,
      to,
      messages: count,
      tokensBefore: Math.round(before),
      tokensAfter: Math.round(sizeOf(prompt)),
    })
    emit({ type: 'notice', code: 'context-cut', ...NOTICES.cut({ by, count, sessionId, unloaded: chosen.unloaded }) })
  }

  async function truncate(prompt: Prompt): Promise<boolean> {
    const chosen = chooseCut(messages, { by: context.truncation, target: targetOf(prompt) })
    if (!chosen) return false
    const before = sizeOf(prompt)
    const message = cutMessage(chosen.cut, NOTICES.cutForModel(chosen.messages, chosen.unloaded))
    await sessions.append(sessionId, [message], lease)
    messages.push(message)
    tell(chosen, before, prompt)
    return true
  }

  /** A summary that cannot be had is no fault: messages are left out instead. */
  async function compact(prompt: Prompt): Promise<boolean> {
    const target = targetOf(prompt)
    const chosen = chooseCut(messages, { by: 'compaction', target: Math.floor(target * BEHIND_SUMMARY) })
    if (!chosen) return false
    const before = sizeOf(prompt)
    const made = await summarize(parts, messages, { chosen, target })
    if (made.type !== 'made') {
      lose(made.usage)
      if (!signal.aborted) emit({ type: 'notice', code: 'context-cut', text: NOTICES.noSummary() })
      return false
    }
    const { message, usage: tokens } = made
    usage.add(tokens)
    await turns.step(turnId, lease, { message, tokens, activeMs: usage.takeTime() })
    messages.push(message)
    tell(chosen, before, prompt)
    return true
  }

  /** The places of a cut are those of the stored history, where answers of calls at the same time have another order. */
  async function reload(): Promise<void> {
    for (let isQuiet = false; !isQuiet;) {
      await live.isQuiet()
      live.take()
      messages.splice(0, messages.length, ...(await sessions.messages(sessionId)))
      isQuiet = await live.isQuiet()
    }
  }

  async function makeRoom(prompt: Prompt): Promise<{ readonly isCut: boolean; readonly isSummary: boolean }> {
    await reload()
    const isSummary = context.compaction === 'auto' && (await compact(prompt))
    const isCut = (!isSummary || isFull(prompt)) && !signal.aborted && (await truncate(prompt))
    return { isCut: isCut || isSummary, isSummary }
  }

  function learn(refused: number, limit: number | undefined): void {
    const { budget } = windowOf(context, model, learned)
    const less = Math.floor(refused * LESS)
    learned.limit = Math.max(
      1,
      limit !== undefined && limit < budget ? limit : Math.min(less, Math.floor(budget * LESS)),
    )
  }

  return {
    fit: async (prompt) => isFull(prompt) && (await makeRoom(prompt)).isSummary,
    async ask(prompt) {
      for (let refusals = 0; ; refusals++) {
        const size = estimatePrompt({ ...prompt, messages: shown() }).total
        const answer = await askModel({ ...parts, ...prompt, messages: shown() })
        if (answer.type === 'answer') learned.factor = factorOf(answer, size) ?? learned.factor
        if (answer.type !== 'failed' || !answer.failure.isTooLong || refusals >= MOST_REFUSALS) return counted(answer)
        lose(answer.usage)
        learn(size * learned.factor, answer.failure.limit)
        if (!(await makeRoom(prompt)).isCut) return counted({ ...answer, usage: undefined })
      }
    },
  }

  function factorOf(answer: Extract<StepAnswer, { type: 'answer' }>, size: number): number | undefined {
    const { usage: tokens } = answer
    if (tokens.estimatedTokens !== undefined) return undefined
    return Math.min(MOST_FACTOR, Math.max(1, tokens.inputTokens / size))
  }
}

/** The estimate is at least that part of the truth: a provider that counts more is wrong. */
const MOST_FACTOR = 2

/** The message of a summary, or the answer that is none. */
export async function summarize(
  parts: Omit<RoomParts, 'turns' | 'sessions' | 'live'>,
  messages: readonly StoredMessage[],
  { chosen, target }: { readonly chosen: ChosenCut; readonly target: number },
): Promise<
  | {
      readonly type: 'made'
      readonly message: StoredMessage
      readonly text: string
      readonly usage: StepUsage
    }
  | Exclude<StepAnswer, { type: 'answer' }>
  | { readonly type: 'empty'; readonly usage: StepUsage }
> {
  const { context, model, learned, agent } = parts
  const { room } = windowOf(context, model, learned)
  const answer = await askForSummary(parts, {
    messages,
    to: chosen.cut.to,
    roomTokens: Math.floor(room / learned.factor),
  })
  if (answer.type !== 'answer') return answer
  if (answer.text.trim() === '') return { type: 'empty', usage: answer.usage }
  const text = summaryText(answer.text, {
    count: chosen.messages,
    most: Math.max(LEAST_TARGET, Math.floor(target / 4)) * 4,
  })
  return { type: 'made', message: agent.redact(cutMessage(chosen.cut, text)), text: answer.text, usage: answer.usage }
}
