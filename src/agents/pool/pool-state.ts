/** pool-state: the parts of a pool that everything it does has at hand. */
import type { AgentRecord } from '../../store/index.ts'
import type { OpenedAgents } from './opened.ts'
import type { Actor, Reach } from './reach.ts'
import type { PoolOptions } from './types.ts'

/** The parts of a pool that every access uses. */
export interface PoolState {
  readonly options: PoolOptions
  readonly opened: OpenedAgents
  /** Aborts when the pool closes; a message that begins then is refused. */
  readonly closing: AbortSignal
  /** Work that the end of the pool waits for. */
  track<T>(work: Promise<T>): Promise<T>
  announce(row: AgentRecord, type: 'agent-created' | 'agent-ended'): void
  /** Keeps a temporary agent alive as long as this process. */
  own(row: AgentRecord): Promise<void>
}

/** The one who acts, and whom that reaches. */
export interface Acting {
  readonly reach: Reach
  readonly actor: Actor
}
