/** runtime: the pipeline, discover -> gate -> catalog -> load -> authorize -> execute -> record, over parts that are given to it. */
export { createApprovals } from './approvals.ts'
export { whyHeld } from './asking.ts'
export { type CatalogRules, findSkills } from './build-catalogs.ts'
export { countUses, createPromptIndex } from './prompt-index.ts'
export { CONNECT } from './connecting.ts'
export { createRuntime } from './create-runtime.ts'
export type { KeptLease } from './ownership.ts'
export { type RemovedSets, removeSets } from './removed-sets.ts'
export { createWaker, type Waker } from './waiting.ts'
export type {
  AgentHandle,
  AgentProfile,
  AgentSpec,
  ApprovalAnswer,
  ApprovalsBroker,
  AskedCall,
  CallOptions,
  CallRequest,
  CallResult,
  OfferedTool,
  Parts,
  ReloadEvent,
  Runtime,
} from './types.ts'
