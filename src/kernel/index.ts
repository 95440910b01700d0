/** kernel: the words every room shares; no I/O, no dependency. */
export type { Call, CallLimits, CallState, Decision, LedgerEntry, Ruling, ShadowDecision } from './call.ts'
export { commandFix, commandLine, type Fix, type ProposedCommand, shellFix, type Words, words } from './commands.ts'
export { type Clock, DEFAULT_PROJECT, inTime, newId, systemClock } from './clock.ts'
export { compareUtf8, createSha256, randomHex, sha256, utf8Text } from './digest.ts'
export {
  byPlace,
  CODES,
  type Diagnostic,
  type Edit,
  errorCode,
  errorMessage,
  type ErrorCode,
  hasErrors,
  isNexusError,
  NexusError,
  type Severity,
} from './failures.ts'
export {
  freezeDeep,
  isJsonObject,
  membersOf,
  ownValue,
  withoutPrototype,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
} from './json.ts'
export {
  allowsHost,
  containsDomain,
  containsHost,
  deniesHost,
  hostOf,
  type HostPort,
  type HostRule,
  listsHost,
  networkLine,
  readHostName,
  readHostRule,
  readHostRules,
  shownHost,
  shownRule,
  WEB_PORTS,
} from './hosts.ts'
export { makeDirectory } from './make-directory.ts'
export { nearest } from './nearest.ts'
export { type Failed, failed, type FailureCode, type Outcome, succeeded } from './outcome.ts'
export {
  createByteRedactor,
  createRedactor,
  createStreamRedactor,
  type OnOutput,
  redactOutput,
  redactText,
  type StreamRedactor,
} from './redact.ts'
export {
  escapeXml,
  firstHidden,
  firstUnseen,
  hasHidden,
  hiddenIn,
  nameKey,
  quotedWord,
  shellWord,
  toSafeJson,
  toSafeLine,
  toSafeText,
  toVisibleLines,
  unseenIn,
  unseenInCommand,
  withoutUnseen,
} from './safe-text.ts'
export {
  configKey,
  type FileStamp,
  type Gated,
  type HeldCode,
  type HeldReason,
  type HeldSkill,
  type InstallSpec,
  type Manifest,
  type ManifestEntry,
  type OsName,
  type InvalidSkill,
  type Requirements,
  type Skill,
  skillAddress,
  type SkillDocument,
  type SkillMetadata,
  type SkillOrigin,
  stampText,
  type TargetFacts,
  TIERS,
  type Tier,
  trustedNames,
  type UnreadableRequirement,
} from './skill.ts'
export {
  type Connecting,
  type SkillRevision,
  type ServiceKey,
  serviceKey,
  type Services,
  type Tool,
  type ToolContext,
  type ToolOptions,
} from './tool.ts'
export { aboutArchive, aboutSingleFile, ARCHIVE } from './single-file.ts'
export { CLIENT_BLOCKS, DEFAULTS, MIN_SECRET_CHARS, SKILL_FILE, toOsName, VARIABLE_NAME } from './vocabulary.ts'
export type { PermissionDelta, PresetInput, ToolPermission } from './permissions.ts'
