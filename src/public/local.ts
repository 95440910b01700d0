/** The entry `nexus-skills/local`: a runtime for one machine, and the parts it is made of. */
export { assertValid, type Config, loadConfig, type LoadedConfig, readEnvironment } from '../config/index.ts'
export { type Local, type LocalOptions, openLocal } from '../local/index.ts'
export { createSandbox } from '../machine/sandbox/index.ts'
export { type Database, openDatabase, openPostgresStore, openSqliteStore } from '../store/index.ts'
