/** config: nexus.yaml and environment to one frozen, checked Config with diagnostics; the only reader of process.env. */
export { type Environment, ENVIRONMENT_NAMES, type EnvironmentName, readEnvironment } from './environment.ts'
