// pool: agents that are made while Nexus runs: their rights, budgets and messages, in a tree that outlives the process.
export { createPool } from './pool.ts'
export type {
  AgentInfo,
  AgentState,
  AgentStatus,
  AgentTree,
  Budget,
  CreateRequest,
  Created,
  OtherServers,
  Pool,
  PoolAccess,
  PoolEvent,
  PoolOptions,
  Restored,
  SendRequest,
  Sent,
  Serving,
  Transcript,
} from './types.ts'
