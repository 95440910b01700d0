import type { Clock } from '../kernel/index.ts'
import type { Runtime } from '../runtime/index.ts'
import type { AgentListener } from './events.ts'
import type { AgentLimits } from './limits.ts'
import type { ModelChoice } from './model/open-model.ts'

/** The part of the runtime that an agent needs. */
export type AgentRuntime = Pick<
  Runtime,
  | 'projectId'
  | 'catalog'
  | 'instructions'
  | 'definitions'
  | 'refresh'
  | 'snapshot'
  | 'loadedSkills'
  | 'recallSkills'
  | 'outdatedSkills'
  | 'redact'
  | 'redactStream'
  | 'call'
>

/** What every step of a turn works with. */
export interface TurnContext {
  readonly agentId: string
  readonly sessionId: string
  readonly turnId: string
  readonly runtime: AgentRuntime
  readonly model: ModelChoice
  readonly limits: AgentLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly emit: AgentListener
}
