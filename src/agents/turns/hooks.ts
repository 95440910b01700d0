/** hooks: the points where the owner of an agent, such as a pool, takes part in its turns. */
import type { TurnUsage } from './events.ts'

/** The use of one turn so far. */
export interface TurnSpent extends TurnUsage {
  readonly turnId: string
  readonly activeMs: number
}

/** Why a turn ends before the model is asked again. */
export interface TurnStop {
  /** For people: which limit was reached. */
  readonly message: string
  /** For people: what would raise it. */
  readonly fix?: string
  /** For the model: it closes the turn in the history, and is the text of its result. Default: `message`. */
  readonly forModel?: string
}

export interface TurnHooks {
  /**
   * Asked before each request to the model, so that one answer may pass a limit. A stop ends the turn: `end` is `stopped`, its
   * error LIMIT_EXCEEDED. One that throws fails the turn.
   */
  readonly beforeStep?: (spent: TurnSpent) => TurnStop | undefined | Promise<TurnStop | undefined>
  /**
   * Waits for a place among those that ask models at once. The place is given back after each answer: a turn has none while its
   * tools run, a person is asked or a repeat is waited for. Rejects when the signal aborts.
   */
  readonly enterModel?: (signal: AbortSignal) => Promise<() => void>
}
