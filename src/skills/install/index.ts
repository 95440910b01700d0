/** install: from the name of a source to a checked, locked copy of a skill: fetch, plan, place, update, roll back. */
export { CLIENT_NAMES } from './clients.ts'
export type { Candidate, Package } from './found.ts'
export {
  fetchLocked,
  fetchNews,
  findNews,
  findToRestore,
  hostsToAsk,
  type News,
  restore,
  type ToRestore,
} from './follow.ts'
export type { OpenedSource } from './git-source.ts'
export {
  type Alone,
  type Applied,
  applyPlan,
  inScope,
  lockedOf,
  previousOf,
  removeSkills,
  rollBack,
  setPinned,
  type Verified,
  verifyCopies,
} from './installer.ts'
export { type Lock, LOCK_FILE, type LockedSkill, type LockedSource, nameOfPlace } from './lock-file.ts'
export {
  endWaiting,
  fetchKept,
  isDue,
  type KeptSource,
  keptScope,
  readStatus,
  refreshKept,
  type SourceStatus,
  type Waiting,
} from './kept-source.ts'
export { hostOfLocator, type Locator, type LocatorRules, readLocator } from './locator.ts'
export { installError, MESSAGES as INSTALL_MESSAGES } from './messages.ts'
export { fetchNpm, npmHosts, readNpmLock } from './npm-lock.ts'
export { openSource, type SourceAccess } from './open-source.ts'
export { needsRecovery, recover } from './place.ts'
export { asksAnything, type AskKind, type Asks, planOf, type PlannedSkill, type Wanted } from './plan.ts'
export { runInstall, safeInstallers, whyNotRun } from './dependencies.ts'
export { enforce, judge, type Judged } from './policy.ts'
export { lockOf, readMemory, type Scope, scopeOf } from './scope.ts'
export { resultsOf, sideBySide } from './side-by-side.ts'
