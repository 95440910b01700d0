/** config: nexus.yaml and environment to one frozen, checked Config with diagnostics; the only reader of process.env. */
export type { AgentConfig, Config, LoadedConfig, Origin, SkillEntry } from './config.ts'
export { type Consent, type ConsentItem, type ConsentKind, consentOf, pathsUsedByHost } from './consent.ts'
export { type Environment, readEnvironment } from './environment.ts'
export { expandHome, realPath } from './home.ts'
export { assertValid, loadConfig, type LoadConfigOptions } from './load-config.ts'
export type { ConfigDocument } from './schema/schema.ts'
export {
  openSecrets,
  type SecretCommandRequest,
  type SecretCommandResult,
  type Secrets,
} from './secrets/open-secrets.ts'
export { parseSettings, settingsPlaces } from './document/parse.ts'
export { nameOf } from './document/shown-key.ts'
export { configTruthy, explainConfig, type ExplainedConfig } from './show.ts'
export { listTrusted, trustWorkspace, untrustWorkspace } from './trust.ts'
export { findWorkspace } from './workspace.ts'
