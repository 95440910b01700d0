import type { Local } from '../../local/index.ts'
import type { AgentHandle } from '../../runtime/index.ts'

/** The runtime of the workspace and the agent that calls. */
export interface Opened {
  readonly local: Local
  readonly agent: AgentHandle
  /** What is said once about the workspace: the first caller gets it. */
  takeNotice(): string | undefined
}
