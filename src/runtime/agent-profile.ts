/** The rules and skills of an agent, and how one is opened. */
import type { AgentRules, Layer, PolicyRules, Shadow } from '../authorize/index.ts'
import type { AgentRecord } from '../store/index.ts'

/** Skills and rules of one agent. */
export interface AgentProfile {
  readonly id: string
  /** Names of the skills it may see; absent = all. */
  readonly skills?: readonly string[]
  readonly policy: PolicyRules
  /** More layers with a part in every decision: grants, ceilings of its own and of its ancestors. They only narrow. */
  readonly layers?: readonly Layer[]
  /** Rules of another agent, evaluated for each call. They never decide; the row of a call records where they differ. */
  readonly shadow?: Shadow
  /** The same rules as data, from which those of its children are made. */
  readonly rules?: AgentRules
  /** Layers that are also of all its descendants, as they are now and not as they were saved. */
  readonly inherited?: readonly Layer[]
}

/** Which agent is opened, in which session. */
export interface AgentSpec {
  /** Id of an agent of the runtime; with `policy` the id of a new one. Default: the first agent of the runtime. */
  readonly id?: string | undefined
  /** Absent: the agent's calls belong to no session, and what it loads is forgotten after the call. */
  readonly sessionId?: string | undefined
  /** An agent of the pool: id, session, policy and permissions are those of its row. `skills` and `layers` narrow them. */
  readonly row?: AgentRecord | undefined
  /** Makes another agent than those that the runtime was given. */
  readonly policy?: PolicyRules
  readonly skills?: readonly string[]
  readonly layers?: readonly Layer[]
}
