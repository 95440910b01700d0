/** pool-state: the parts of a pool that everything it does has at hand. */
import type { AgentRecord } from '../../store/index.ts'
import type { Budgets } from './budgets.ts'
import type { OpenedAgents } from './opened.ts'
import type { Actor, Reach } from './reach.ts'
import type { PoolOptions } from './types.ts'
import type { Work } from './work.ts'

/** The parts of a pool that every access uses. */
export interface PoolState {
  readonly options: PoolOptions
  readonly opened: OpenedAgents
  readonly work: Work
  readonly budgets: Budgets
  /** One agent is made at a time, so that two do not get the last of a budget. */
  inOrder<T>(make: () => Promise<T>): Promise<T>
  announce(row: AgentRecord, type: 'agent-created' | 'agent-ended'): void
  /** Keeps a temporary agent alive as long as this process. */
  own(row: AgentRecord): Promise<void>
}

/** The one who acts, and whom that reaches. */
export interface Acting {
  readonly reach: Reach
  readonly actor: Actor
}
