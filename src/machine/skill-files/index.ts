/** skill-files: a skill's files by descriptor: one file, all of them with sizes and hashes, the digest over them. */
export { type ContainedFile, readContained, stampOf } from './contained.ts'
export { reasonOf } from './failures.ts'
export { listFiles, type ReadManifest, readManifest, readOfSkill, type SkillLocation } from './manifest.ts'
export { createPace, type Pace, throwIfAborted, yieldToEventLoop } from './pace.ts'
export { treeDigest } from './tree-digest.ts'
export { type LeftOut, MANIFEST_LIMITS } from './walk-files.ts'
