import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type OpenedFile, openRoot } from '../files/index.ts'
import {
  compareUtf8,
  type Manifest,
  type ManifestEntry,
  NexusError,
  type Skill,
  SKILL_FILE,
} from '../../kernel/index.ts'
import { type ContainedFile, partsOfFile, readContained, type ReadContainedOptions } from './contained.ts'
import { withSkillFailures } from './failures.ts'
import { treeDigest } from './tree-digest.ts'
import { type LeftOut, type ReadManifestOptions, type Walked, walkFiles } from './walk-files.ts'

export type SkillLocation = Pick<Skill, 'directory' | 'linkedTo'>

/** A manifest, and what lies in the directory besides. */
export interface ReadManifest extends Manifest {
  /** Links and special files: neither hashed nor placed. */
  readonly leftOut: readonly LeftOut[]
}

/**
 * Every file of a skill with its size, executable bit and sha256, and the digest over them. Hidden files and node_modules count; `.git`,
 * `.DS_Store`, links and special files do not. `skill` is a skill, or the real path of a directory. Throws SKILL_INVALID for unusable names and
 * for files that may not be read, each by its path, LIMIT_EXCEEDED, FILE_NOT_FOUND, PATH_OUTSIDE, CONFLICT (see `readOfSkill`), CANCELLED.
 */
export async function readManifest(
  skill: string | SkillLocation,
  options: ReadManifestOptions = {},
): Promise<ReadManifest> {
  const { files: walked, leftOut, problem } = await walk(skill, { ...options, contents: true })
  if (problem) throw problem
  const files = (walked as ManifestEntry[]).toSorted((a, b) => compareUtf8(a.path, b.path))
  return { files, treeDigest: treeDigest(files), leftOut }
}

/** The files of a skill by the same rules, none of them read. Throws only CANCELLED: what `readManifest` would throw is the `problem`. */
export async function listFiles(skill: string | SkillLocation, options: ReadManifestOptions = {}): Promise<Walked> {
  return walk(skill, { ...options, contents: false })
}

function walk(
  skill: string | SkillLocation,
  options: ReadManifestOptions & { readonly contents: boolean },
): Promise<Walked> {
  if (typeof skill === 'string') return walkFiles(skill, options)
  const { directory, linkedTo } = skill
  if (linkedTo === undefined) return walkFiles(directory, options)
  return walkFiles(directory, { ...options, openSkillFile: () => openLinked(directory, linkedTo) })
}

/**
 * `readContained` in a skill's directory. A SKILL.md that is a link is not followed: the file that it led to when the skill was found, inside
 * the source's root, is opened by its real path. Throws as `readContained`, and CONFLICT when the link leads elsewhere by now.
 */
export async function readOfSkill(
  { directory, linkedTo }: SkillLocation,
  relativePath: string,
  options: ReadContainedOptions,
): Promise<ContainedFile> {
  const asked = await withSkillFailures(() => partsOfFile(relativePath).join('/'))
  if (linkedTo === undefined || asked !== SKILL_FILE) {
    return readContained(directory, relativePath, options)
  }
  stillLeadsThere(directory, linkedTo)
  const file = await readContained(dirname(linkedTo), basename(linkedTo), options)
  return { ...file, path: `${directory}/${SKILL_FILE}` }
}

function openLinked(directory: string, linkedTo: string): OpenedFile {
  stillLeadsThere(directory, linkedTo)
  const beside = openRoot(dirname(linkedTo), { isReal: true })
  try {
    return beside.file(basename(linkedTo))
  } finally {
    beside.close()
  }
}

/** Only for a right answer: a link that is changed a moment later does not change what is opened. */
function stillLeadsThere(directory: string, linkedTo: string): void {
  const path = `${directory}/${SKILL_FILE}`
  let now: string | undefined
  try {
    now = realpathSync.native(path)
  } catch {
    // It leads nowhere, or is gone: either way no longer to that file.
  }
  if (now === linkedTo) return
  throw new NexusError('CONFLICT', `${JSON.stringify(path)} no longer leads to ${JSON.stringify(linkedTo)}`, {
    path,
    fix: 'try again: the skills are looked for anew',
  })
}
