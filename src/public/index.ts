/** The light entry `nexus-skills`: a runtime over parts that you inject, and the types around it. It loads only the file system and YAML. */
export { decide, explain, explanationLines, parsePolicy } from '../authorize/index.ts'
export { checkStrict, parseSkill } from '../skills/format/index.ts'
export {
  type Call,
  type Clock,
  CODES,
  type Decision,
  type Diagnostic,
  type ErrorCode,
  failed,
  isNexusError,
  type JsonObject,
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
  type AgentSpec,
  type ApprovalsBroker,
  type CallOptions,
  type CallRequest,
  type CallResult,
  createRuntime,
  type Parts,
  type ReloadEvent,
  type Runtime,
} from '../runtime/index.ts'
export type { CommandRequest, CommandResult, Sandbox } from '../machine/sandbox/index.ts'
export { createFolderSource, discover, type SkillSource, watchSources } from '../skills/sources/index.ts'
export { createMemoryStore, type Store } from '../store/index.ts'
export {
  createEchoTool,
  createRegistry,
  createServices,
  defineTool,
  executeTool,
  registerBuiltins,
  type Registry,
  SANDBOX,
  toEnvelope,
  toModelText,
  WORKSPACE,
} from '../tools/index.ts'
