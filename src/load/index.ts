/** load: the full text of a skill on demand, with its arguments in place, and its files, contained in its directory. */
export { expand, type ExpandOptions, splitArguments } from './expand.ts'
export { createLoader, type LoadedFile, type LoadedSkill, type Loader, type LoaderParts } from './loader.ts'
export type { SkillFile } from './skill-file.ts'
