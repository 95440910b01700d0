/** config: nexus.yaml and environment to one frozen, checked Config with diagnostics; the only reader of process.env. */
export type {
  AgentConfig,
  Config,
  ExecutionConfig,
  LoadedConfig,
  ModelConfig,
  SkillEntry,
  SkillsConfig,
  SourceConfig,
} from './config.ts'
export { type Environment, readEnvironment } from './environment.ts'
export { assertValid, loadConfig, type LoadConfigOptions } from './load-config.ts'
export { CONFIG_SCHEMA, type ConfigDocument } from './schema.ts'
export { configTruthy, maskConfig } from './show.ts'
export { isTrusted, listTrusted, type TrustChange, type TrustList, trustWorkspace, untrustWorkspace } from './trust.ts'
