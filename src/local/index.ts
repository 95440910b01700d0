/** local: the composition for one machine: configuration, folders, SQLite and the local sandbox become a runtime, or an inspection. */
export { entryValues, readEntries } from './entries.ts'
export { budgetDiagnostics, inspectIndex } from './inspect-index.ts'
export { type Inspection, inspectSkills, type InspectOptions } from './inspect.ts'
export { type Local, type LocalOptions, openLocal } from './open-local.ts'
export { openConfiguredStore, scopeOf, storeChoice } from './open-store.ts'
export { findMissingDirectories, findUnknownSkills } from './names-nothing.ts'
export { readPolicies } from './policies.ts'
export { packageRoot } from './package-root.ts'
export { sandboxOptions, stateFile } from './settings.ts'
export {
  gitSources,
  type GitSource,
  type Installed,
  installedCopies,
  refreshAccess,
  refreshAll,
} from './git-sources.ts'
export { aloneOf, installScope, sourceAccess } from './scope.ts'
