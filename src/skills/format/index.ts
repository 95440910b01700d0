/** format: SKILL.md text to data, with diagnostics; pure. */

export { nameBreaches } from './fields/name.ts'
export { hostsIn } from './hosts.ts'
export { type InstallGround, type InstallProposal, proposeInstalls } from './install.ts'
export { FORMAT_LIMITS } from './limits.ts'
export { type ParsedSkill, parseSkill } from './parse.ts'
export { FORMAT_CODES, STRICT_CODES, WRITE_CODES } from './messages/messages.ts'
export { splitToolList } from './fields/tool-list.ts'
export { checkLenient, checkStrict } from './strict/check.ts'
export { type Profile, PROFILES } from './messages/words.ts'
export { fixSkill } from './write/fix.ts'
export type { Change, Rewritten } from './write/edits.ts'
export { exportFlat, migrateSkill } from './write/migrate.ts'
