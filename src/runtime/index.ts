/** runtime: the pipeline, discover -> gate -> catalog -> load -> authorize -> execute -> record, over parts that are given to it. */
export { buildCatalogs, type CatalogAgent } from './build-catalogs.ts'
export { createPromptIndex } from './prompt-index.ts'
export { createRuntime } from './create-runtime.ts'
export type {
  AgentProfile,
  CallOptions,
  CallRequest,
  CallResult,
  OfferedTool,
  Parts,
  ReloadEvent,
  Runtime,
} from './types.ts'
