/** format: SKILL.md text to data, with diagnostics; the digest over a skill's files; pure. */
export type { DocumentHead } from './document.ts'
export { nameBreaches } from './fields/name.ts'
export { FORMAT_LIMITS } from './limits.ts'
export { type ParsedSkill, type ParseOptions, parseSkill } from './parse.ts'
export {
  createHeadReader,
  describe,
  type HeadRange,
  type HeadReader,
  type HeadSource,
  type QuickHead,
} from './quick/head.ts'
export { type DiagnosticRow, FORMAT_CODES, type FormatCode } from './report.ts'
export { splitToolList, type ToolList } from './fields/tool-list.ts'
export { compareUtf8, treeDigest } from './tree-digest.ts'
export { checkLenient, type CheckOptions, checkStrict, type StrictOptions } from './strict/check.ts'
export { type Profile, PROFILES, STRICT_CODES, type StrictCode, type StrictRow } from './strict/codes.ts'
export { WRITE_CODES, type WriteCode } from './write/codes.ts'
export { type FixOptions, fixSkill } from './write/fix.ts'
export type { Change } from './write/layout.ts'
export { exportFlat, migrateSkill } from './write/migrate.ts'
export type { Rewritten, RewriteOptions } from './write/rewritten.ts'
