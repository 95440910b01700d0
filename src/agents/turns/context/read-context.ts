/** read-context: how much of its context an agent uses, and what of its history is cut. */
import type { StoredMessage } from '../../../store/index.ts'
import { estimatePrompt, type PromptSize } from '../tokens.ts'
import type { OfferedTool } from '../../../runtime/index.ts'
import { type CutBy, cutOf, shownMessages } from './cuts.ts'
import { type ContextSettings, type LearnedContext, windowOf } from './settings.ts'

/** Tokens of the next request. Source: contracts §1.4, `get_tokens`. */
export interface AgentTokens extends PromptSize {
  /** Most tokens of a request. */
  readonly budget: number
  /** The part of the budget that is free for the history, without what is kept for the answer. */
  readonly available: number
}

export interface AgentContext {
  readonly messageCount: number
  /** How many of them the model reads. */
  readonly shownCount: number
  readonly tokens: AgentTokens
  /** The places that the model does not read, counted in the history from 0; `to` is the first after it. */
  readonly cuts: readonly { readonly by: CutBy; readonly from: number; readonly to: number }[]
}

export function readContext(
  prompt: { readonly instructions: string; readonly tools: readonly OfferedTool[] },
  messages: readonly StoredMessage[],
  about: {
    readonly context: ContextSettings
    readonly model: { readonly contextTokens?: number }
    readonly learned: LearnedContext
  },
): AgentContext {
  const shown = shownMessages(messages)
  const size = estimatePrompt({ ...prompt, messages: shown.map(({ message }) => message) })
  const { budget, room } = windowOf(about.context, about.model, about.learned)
  const cuts = new Set(shown.flatMap(({ cut }) => cut ?? []))
  return {
    messageCount: messages.length,
    shownCount: shown.filter(({ message }) => !cutOf(message)).length,
    tokens: { ...size, budget, available: Math.max(0, room - size.total) },
    cuts: [...cuts].map(({ by, from, to }) => ({ by, from, to })),
  }
}
