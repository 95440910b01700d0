/** load: the full text of a skill on demand, with its arguments in place, and its files, contained in its directory. */
export { examineSkill } from './examine.ts'
export { expand, splitArguments } from './expand.ts'
export { createFreshness, currentRevision, type Freshness, isOutdated, latestLoaded } from './freshness.ts'
export { createLoader, type LoadedFile, type LoadedSkill, type Loader, type LoadOptions } from './loader.ts'
export { findSkill } from './not-found.ts'
export { binaryType, decodeText, textType } from './media-type.ts'
export type { SkillFile } from './skill-file.ts'
export { findStrays } from './strays.ts'
export {
  createSkillStacks,
  type LoadedInSession,
  type SkillEntry,
  type SkillStacks,
  type StackedSkill,
} from './skill-stacks.ts'
