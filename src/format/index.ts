/** format: SKILL.md text to data, with diagnostics; the digest over a skill's files; pure. */
export { nameBreaches } from './fields/name.ts'
export { FORMAT_LIMITS } from './limits.ts'
export { type ParsedSkill, type ParseOptions, parseSkill } from './parse.ts'
export { type DiagnosticRow, FORMAT_CODES, type FormatCode } from './report.ts'
export { splitToolList, type ToolList } from './fields/tool-list.ts'
export { compareUtf8, treeDigest } from './tree-digest.ts'
export { checkLenient, type CheckOptions, checkStrict, type StrictOptions } from './strict/check.ts'
export { type Profile, PROFILES, STRICT_CODES, type StrictCode, type StrictRow } from './strict/codes.ts'
