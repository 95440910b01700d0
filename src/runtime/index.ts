/** runtime: the pipeline, discover -> gate -> catalog -> load -> authorize -> execute -> record, over parts that are given to it. */
export { buildCatalogs, type BuiltCatalogs, type CatalogAgent } from './build-catalogs.ts'
export { createRuntime } from './create-runtime.ts'
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
} from './types.ts'
