/** settings: how much of a history is sent to the model. */
import { NexusError } from '../../../kernel/index.ts'
import { SETUP } from '../messages.ts'
import type { CutBy } from './cuts.ts'

export interface ContextSettings {
  /** Most tokens of a request. Default: `contextTokens` of the model, else 128,000. */
  readonly maxTokens?: number | undefined
  /** Kept free for the answer, at most a quarter of `maxTokens`. Default 2,000. */
  readonly reserveTokens: number
  /** Which messages are left out where there is no summary. Default `oldest_first`. */
  readonly truncation: Exclude<CutBy, 'compaction'>
  /** `auto`: the model writes a summary when the context is full. Default `auto`. */
  readonly compaction: 'auto' | 'off'
}

/** Where neither the model nor the agent says how much fits. */
const DEFAULT_WINDOW = 128_000
const DEFAULTS: ContextSettings = { reserveTokens: 2_000, truncation: 'oldest_first', compaction: 'auto' }

/** Fills in the defaults. Throws INVALID_ARGUMENT for a number that cannot be a limit. */
export function toContextSettings(given: Partial<ContextSettings> = {}): ContextSettings {
  const settings = {
    ...DEFAULTS,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  }
  for (const [name, value] of [
    ['maxTokens', settings.maxTokens ?? 1],
    ['reserveTokens', settings.reserveTokens],
  ] as const) {
    if (Number.isSafeInteger(value) && value >= 1) continue
    const { message, fix } = SETUP.badLimit(`context.${name}`, value, 1)
    throw new NexusError('INVALID_ARGUMENT', message, { fix })
  }
  return settings
}

/** Facts that the provider taught about the context of an agent: it lasts as long as the process. */
export interface LearnedContext {
  /** Most tokens that the provider takes, after it refused more. */
  limit?: number
  /** Its counts over the estimate. */
  factor: number
}

/** Tokens of a request: the window, and how much of it the history may take with instructions and tools. */
export function windowOf(
  { maxTokens, reserveTokens }: ContextSettings,
  { contextTokens }: { readonly contextTokens?: number },
  learned: Pick<LearnedContext, 'limit'>,
): { readonly budget: number; readonly room: number } {
  const budget = Math.min(maxTokens ?? contextTokens ?? DEFAULT_WINDOW, learned.limit ?? Infinity)
  return { budget, room: budget - Math.min(reserveTokens, Math.floor(budget / 4)) }
}
