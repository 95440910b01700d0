/** The light entry `nexus-skills`: a runtime over parts that you inject, and the types around it. It loads only the file system and YAML. */
export { decide, explain, explanationLines, type Layer, parsePolicy, type PolicyRules } from '../authorize/index.ts'
export type { Catalog, PromptIndex } from '../catalog/index.ts'
export { checkStrict, parseSkill } from '../format/index.ts'
export {
  type Call,
  type CallLimits,
  type Clock,
  CODES,
  type Decision,
  type Diagnostic,
  type ErrorCode,
  failed,
  type HeldSkill,
  isNexusError,
  type JsonObject,
  type JsonValue,
  type LedgerEntry,
  NexusError,
  type Outcome,
  serviceKey,
  type ServiceKey,
  type Services,
  type Skill,
  type SkillDocument,
  succeeded,
  type TargetFacts,
  type Tool,
  type ToolContext,
} from '../kernel/index.ts'
export {
  type AgentHandle,
  type AgentProfile,
  type AgentSpec,
  type ApprovalAnswer,
  type ApprovalsBroker,
  type CallOptions,
  type CallRequest,
  type CallResult,
  createRuntime,
  type Parts,
  type ReloadEvent,
  type Runtime,
} from '../runtime/index.ts'
export type { CommandRequest, CommandResult, Sandbox } from '../sandbox/index.ts'
export { createFolderSource, discover, type SkillSource, type Watcher, watchSources } from '../sources/index.ts'
export { createMemoryStore, type Ledger, type Sessions, type Store } from '../store/index.ts'
export {
  createRegistry,
  createServices,
  defineTool,
  executeTool,
  type Registry,
  SANDBOX,
  toEnvelope,
  toModelText,
  WORKSPACE,
} from '../tools/index.ts'
