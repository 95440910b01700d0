import type { Clock } from '../../kernel/index.ts'
import type { AgentHandle } from '../../runtime/index.ts'
import type { Lease } from '../../store/index.ts'
import type { AgentListener } from './events.ts'
import type { AgentLimits } from './limits.ts'
import type { TurnHooks } from './hooks.ts'
import type { ModelChoice } from './model/open-model.ts'

/** The part of an opened agent that its turns need. */
export type TurnAgent = Pick<
  AgentHandle,
  | 'id'
  | 'key'
  | 'sessionId'
  | 'projectId'
  | 'scope'
  | 'catalog'
  | 'instructions'
  | 'definitions'
  | 'beginTurn'
  | 'endTurn'
  | 'writeAsProcess'
  | 'keepLease'
  | 'snapshot'
  | 'loadedSkills'
  | 'recallSkills'
  | 'outdatedSkills'
  | 'redact'
  | 'redactStream'
  | 'call'
>

/** The context of every step of a turn. */
export interface TurnContext {
  readonly agent: TurnAgent
  readonly sessionId: string
  readonly turnId: string
  /** The right to write about the session. */
  readonly lease: Lease
  readonly model: ModelChoice
  readonly limits: AgentLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly emit: AgentListener
  readonly hooks: TurnHooks
}
