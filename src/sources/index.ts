/** sources: where skills come from; folders in tiers, what they hold, and safe reading of a skill's files. */
export { SOURCE_CODES, type SourceCode } from './codes.ts'
export { discover } from './discover.ts'
export { type ContainedFile, readContained, type ReadContainedOptions } from './files/contained.ts'
export { MANIFEST_LIMITS, type ManifestLimits, readManifest, type ReadManifestOptions } from './files/manifest.ts'
export { createFolderSource, type FolderSourceOptions } from './folder.ts'
export { type SkillSource, SOURCE_LIMITS, type SourceLimits, type SourceResult } from './source.ts'
export { createStandardSources, type NamedDirectory, type StandardSourcesOptions } from './standard.ts'
