/** The light entry: `createRuntime` with its parts injected, and the nouns. Reaches only the file system and YAML. */
export { decide, parsePolicy, type PolicyRules } from '../authorize/index.ts'
export { type Catalog, estimateTokens, type PromptIndex } from '../catalog/index.ts'
export { parseSkill } from '../format/index.ts'
export type { GateRules } from '../gate/index.ts'
export {
  type Call,
  type Clock,
  CODES,
  type Decision,
  type Diagnostic,
  type ErrorCode,
  type Gated,
  type HeldReason,
  type HeldSkill,
  isNexusError,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type LedgerEntry,
  type Manifest,
  NexusError,
  type Outcome,
  type RejectedSkill,
  type Skill,
  type SkillDocument,
  type TargetFacts,
  type Tool,
  type ToolContext,
} from '../kernel/index.ts'
export type {
  AgentProfile,
  AgentReload,
  CallOptions,
  CallRequest,
  CallResult,
  OfferedTool,
  Parts,
  ReloadEvent,
  ReloadOptions,
  Runtime,
} from '../runtime/index.ts'
export { createRuntime } from '../runtime/index.ts'
export type { CommandRequest, CommandResult, Sandbox } from '../sandbox/index.ts'
export {
  createFolderSource,
  discover,
  type SkillSource,
  type SourceChange,
  type Watcher,
  watchSources,
  type WatchOptions,
} from '../sources/index.ts'
export type { Ledger, Sessions, Store } from '../store/index.ts'
export { defineTool } from '../tools/index.ts'
