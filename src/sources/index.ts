/** sources: where skills come from; folders in tiers, what they hold, and safe reading of a skill's files. */
export { SOURCE_CODES, type SourceCode } from './codes.ts'
export { discover, fileDigest } from './discover.ts'
export { type ContainedFile, readContained, type ReadContainedOptions } from './files/contained.ts'
export { listFiles, type ReadManifest, readManifest, readOfSkill, type SkillPlace } from './files/manifest.ts'
export { isSoundToLoad } from './files/sound.ts'
export {
  type LeftOut,
  MANIFEST_LIMITS,
  type ManifestLimits,
  type ReadManifestOptions,
  type Walked,
} from './files/walk-files.ts'
export { createFolderSource, type FolderSourceOptions } from './folder.ts'
export { linkAsSkillFile } from './files/link-as-skill-file.ts'
export { createPace, type Pace, rest } from './pace.ts'
export { type SkillSource, SOURCE_LIMITS, type SourceFolder, type SourceLimits, type SourceResult } from './source.ts'
export { createStandardSources, type NamedDirectory, type StandardSourcesOptions } from './standard.ts'
export type { SourceChange } from './watch/changes.ts'
export { type Watcher, watchSources, type WatchOptions } from './watch/watch-sources.ts'
