/** skill-files: a skill's files by descriptor: one file, all of them with sizes and hashes, the digest over them. */
export { readContained, stampOf } from './contained.ts'
export { createPace, reasonOf, throwIfAborted, yieldToEventLoop } from './failures.ts'
export { listFiles, type ReadManifest, readManifest, readOfSkill, type SkillLocation } from './manifest.ts'
export type { Pace } from '../files/index.ts'
export { treeDigest } from './tree-digest.ts'
export { type LeftOut, MANIFEST_LIMITS } from './walk-files.ts'
