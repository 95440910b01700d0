/** sources: where skills come from; folders in tiers, what they hold, and safe reading of a skill's files. */
export { SOURCE_CODES } from './codes.ts'
export { discover, fileDigest } from './discover.ts'
export { createFolderSource, type FolderSourceOptions } from './folder.ts'
export { linkAsSkillFile } from './skill-file.ts'
export { type SkillSource, SOURCE_LIMITS, type SourceFolder, type SourceResult } from './source.ts'
export { createStandardSources, type NamedDirectory } from './standard.ts'
export type { SourceChange } from './watch/changes.ts'
export { type Watcher, type WatchOptions, watchSources } from './watch/watch-sources.ts'
