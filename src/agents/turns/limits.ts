import { type Clock, DEFAULTS, NexusError } from '../../kernel/index.ts'
import { SETUP } from './messages.ts'

/** How much one turn may take. Times in milliseconds; 0 = no limit. */
export interface AgentLimits {
  /** Answers with tool calls that are worked off in one turn. Default 50. */
  readonly maxIterations: number
  /** Calls of a `_parallel` batch that run at once. Default 10. Source: contracts §1.9. */
  readonly maxConcurrentTools: number
  /** One answer of the model, from request to last byte. Default 300,000. */
  readonly stepTimeoutMs: number
  /** The whole turn with all its calls. Default 0. */
  readonly turnTimeoutMs: number
  /** How often a request is repeated that failed for a passing reason. Default 2. */
  readonly maxRetries: number
  /** Pause before the first repeat when the server names none; doubles each time. Default 2,000. */
  readonly retryDelayMs: number
}

export const DEFAULT_LIMITS: AgentLimits = {
  maxIterations: DEFAULTS.maxIterations,
  maxConcurrentTools: DEFAULTS.maxConcurrentTools,
  stepTimeoutMs: 300_000,
  turnTimeoutMs: 0,
  maxRetries: 2,
  retryDelayMs: 2_000,
}

/** Fills in the defaults. Throws INVALID_ARGUMENT for a number that cannot be a limit. */
export function toLimits(given: Partial<AgentLimits> = {}): AgentLimits {
  const limits: { -readonly [name in keyof AgentLimits]: number } = { ...DEFAULT_LIMITS }
  for (const name of Object.keys(DEFAULT_LIMITS) as (keyof AgentLimits)[]) {
    const value = given[name]
    if (value === undefined) continue
    const least = name === 'maxIterations' || name === 'maxConcurrentTools' ? 1 : 0
    if (!Number.isSafeInteger(value) || value < least) {
      const { message, fix } = SETUP.badLimit(name, value, least)
      throw new NexusError('INVALID_ARGUMENT', message, { fix })
    }
    limits[name] = value
  }
  return limits
}

/** A time limit. Each `pause` needs its own `resume`: while one is open, no time is used up. */
export interface Timer {
  readonly signal: AbortSignal
  pause(): void
  resume(): void
  stop(): void
  /** Milliseconds so far without those in pauses; also where there is no limit. */
  spentMs(): number
}

/** A signal that aborts after `ms` by the given clock; `stop` lets go of it. With 0 it never aborts. */
export function startTimer(clock: Clock, ms: number): Timer {
  const fired = new AbortController()
  let spent = 0
  let pauses = 0
  let startedAt = clock.now()
  let stopped: AbortController | undefined
  const start = (): void => {
    stopped = new AbortController()
    clock.sleep(Math.max(1, ms - spent), stopped.signal).then(
      () => fired.abort(),
      () => {
        // Stopped or paused in time: nothing to do.
      },
    )
  }
  if (ms > 0) start()
  return {
    signal: fired.signal,
    pause: () => {
      pauses += 1
      if (pauses > 1) return
      spent += clock.now() - startedAt
      stopped?.abort()
    },
    resume: () => {
      pauses -= 1
      if (pauses > 0) return
      startedAt = clock.now()
      if (ms > 0 && !fired.signal.aborted) start()
    },
    stop: () => stopped?.abort(),
    spentMs: () => (pauses > 0 ? spent : spent + clock.now() - startedAt),
  }
}
