/** The state that all agents of a project share, made once. */
import type { Clock, JsonValue, StreamRedactor, TargetFacts } from '../kernel/index.ts'
import type { Freshness, SkillStacks } from '../skills/load/index.ts'
import type { Store } from '../store/index.ts'
import type { CircuitBreaker } from '../tools/index.ts'
import type { AskingBroker } from './approvals.ts'
import type { FoundSkills } from './build-catalogs.ts'
import type { KeptOutput } from './kept-output.ts'
import type { Ownership } from './ownership.ts'
import type { Parts } from './types.ts'

export interface ProjectState {
  readonly parts: Parts
  readonly clock: Clock
  readonly store: Store
  readonly broker: AskingBroker
  readonly ownership: Ownership
  readonly stacks: SkillStacks
  readonly facts: TargetFacts
  /** Values to redact: those of the configuration, and those that commands of skills were given. */
  readonly secrets: readonly [readonly string[], string[]]
  readonly redact: <T extends JsonValue>(value: T) => T
  /** Absent where nothing is kept. */
  readonly kept: KeptOutput | undefined
  readonly redactStream: () => StreamRedactor
  /** The latest discovery; a refresh replaces it whole. */
  readonly found: () => FoundSkills
  /** In how many recent sessions each skill was loaded, by address. */
  readonly uses: ReadonlyMap<string, number>
  readonly refresh: (signal?: AbortSignal) => Promise<void>
  readonly freshness: Freshness
  /** Calls that have not ended, with the signals that cancel them. */
  readonly running: Map<Promise<unknown>, AbortSignal | undefined>
  /** Pauses tools that fail again and again. */
  readonly breaker: CircuitBreaker
}
