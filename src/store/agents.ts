/** The interface of agents that are made while Nexus runs. Those of the configuration have no rows. */
import type { JsonObject } from '../kernel/index.ts'
import type { TurnUse } from './sessions.ts'

/**
 * An agent of the pool. Its session, questions, remembered answers and use refer to `key`, which no other agent ever has:
 * nothing of an ended agent applies to a later one with the same `id`.
 */
export interface AgentRecord {
  /** Begins with `@`, as no id does. */
  readonly key: string
  /** Unique among the living ones of the project. */
  readonly id: string
  /** The key of its parent, or the id of an agent of the configuration; absent for a root. */
  readonly parent?: string
  /** Ids of its ancestors and its own, with `/` between them. For people: ids are used again. */
  readonly path: string
  /** 0 for a root, one more than that of its parent for any other. */
  readonly depth: number
  /** Its only session. */
  readonly sessionId: string
  readonly isTemporary: boolean
  /** Its rules, whole, and the ceilings of it and its ancestors: JSON of `authorize`. */
  readonly permissions: JsonObject
  readonly ceiling: JsonObject
  /** Further facts that its pool keeps for a restart, such as its model and instructions. */
  readonly settings: JsonObject
  /** Tokens of an earlier epoch are revoked. */
  readonly epoch: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly endedAt?: number
}

export interface NewAgent extends Pick<AgentRecord, 'permissions' | 'ceiling' | 'parent'> {
  /** 1 to 63 letters, digits, dots, underscores and hyphens; with a leading dot it is temporary. Default: the first of `.1`, `.2` … that is free. */
  readonly id?: string
  readonly settings?: JsonObject
  /** Title of its session. */
  readonly title?: string
  readonly scope?: string
}

export interface Agents {
  /**
   * Makes an agent with its session, in one change. Throws INVALID_ARGUMENT for an id of another form, a parent that is
   * unknown, and below depth 5; CONFLICT for the id of a living agent and for a parent that ended.
   */
  create(agent: NewAgent): Promise<AgentRecord>
  get(key: string): Promise<AgentRecord | undefined>
  /** The living one with that id. */
  find(id: string): Promise<AgentRecord | undefined>
  /** Oldest first; with a limit the newest ones, still oldest first. `parent` gives children. */
  list(filter?: {
    readonly id?: string
    readonly parent?: string
    readonly isLiving?: boolean
    readonly limit?: number
    /** Only earlier ones than the agent of this key; none when it is gone. */
    readonly before?: string
  }): Promise<readonly AgentRecord[]>
  /** The agent behind its ancestors that have rows, the root first; empty for an unknown key. */
  chain(key: string): Promise<readonly AgentRecord[]>
  /**
   * Ends it with its descendants, and returns those that ended, by path. Their messages that wait are cancelled with their questions,
   * owners of running turns are asked to stop, and remembered answers go; histories stay.
   */
  end(key: string): Promise<readonly AgentRecord[]>
  /** Replaces what is given, whole. Throws CONFLICT for an agent that ended, INVALID_ARGUMENT for an unknown one. */
  update(key: string, change: Partial<Pick<AgentRecord, 'permissions' | 'ceiling' | 'settings'>>): Promise<AgentRecord>
  /** Begins a new epoch. */
  revoke(key: string): Promise<AgentRecord>
  /** Steps, tokens and time of it and all its descendants, ended ones too. */
  use(key: string): Promise<TurnUse>
}
