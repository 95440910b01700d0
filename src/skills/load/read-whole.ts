import { shownName } from '../catalog/index.ts'
import { parseSkill } from '../format/index.ts'
import {
  DEFAULTS,
  type FileStamp,
  isNexusError,
  NexusError,
  type Skill,
  SKILL_FILE,
  type SkillDocument,
  sha256,
} from '../../kernel/index.ts'
import { type ReadManifest, readManifest, readOfSkill } from '../../machine/skill-files/index.ts'
import { errorOf, MESSAGES } from './messages.ts'
import { invalidSkill } from './not-found.ts'

export type PlaceFiles = (
  skill: Skill,
  signal?: AbortSignal,
) => Promise<{ readonly baseDir: string; readonly treeDigest: string }>

/** The text of a skill, and the file that it was read from. */
interface OwnText {
  readonly document: SkillDocument
  readonly fileDigest: string
  readonly stamp: FileStamp
}

export interface Whole extends Pick<OwnText, 'document' | 'stamp'> {
  readonly manifest: ReadManifest
  readonly placed: { readonly baseDir: string; readonly treeDigest: string } | undefined
}

/** A skill that is being edited or swapped settles within this many readings, or the call says so. */
const MAX_READINGS = 3

/** Reads text, manifest and placement until they are of one revision. Throws as `Loader.load` does. */
export async function readWhole(skill: Skill, place?: PlaceFiles, signal?: AbortSignal): Promise<Whole> {
  for (let reading = 0; reading < MAX_READINGS; reading++) {
    const whole = await cancellable(signal, () => readOnce(skill, place, signal))
    if (whole) return whole
  }
  const words = MESSAGES.changing(shownName(skill), skill.directory)
  throw errorOf('CONFLICT', words, { path: skill.directory })
}

/** Undefined when something changed between the first byte and the last. */
async function readOnce(
  skill: Skill,
  place: PlaceFiles | undefined,
  signal: AbortSignal | undefined,
): Promise<Whole | undefined> {
  const { document, fileDigest, stamp } = await readOwnText(skill, signal)
  try {
    const manifest = await readManifest(skill, { signal })
    if (manifest.files.find(({ path }) => path === SKILL_FILE)?.sha256 !== fileDigest) return undefined
    const placed = await place?.(skill, signal)
    if (placed && placed.treeDigest !== manifest.treeDigest) return undefined
    return { document, manifest, placed, stamp }
  } catch (error) {
    // A file that was there a moment ago is a change; if the whole skill is gone, the next reading says so.
    if (isNexusError(error) && error.code === 'FILE_NOT_FOUND') return undefined
    throw error
  }
}

/** The SKILL.md from its first to its last byte. Throws SKILL_INVALID with file and line, SKILL_NOT_FOUND when it is gone, and as `readOfSkill`. */
async function readOwnText(skill: Skill, signal: AbortSignal | undefined): Promise<OwnText> {
  const { bytes, stamp } = await readOwnFile(skill, signal)
  const { document, diagnostics } = parseSkill(bytes, { path: skill.file })
  if (!document) throw invalidSkill(shownName(skill), { file: skill.file, diagnostics })
  return { document, fileDigest: sha256(bytes), stamp }
}

async function readOwnFile(
  skill: Skill,
  signal: AbortSignal | undefined,
): Promise<{ bytes: Uint8Array; stamp: FileStamp }> {
  try {
    return await readOfSkill(skill, SKILL_FILE, { maxBytes: DEFAULTS.maxSkillFileBytes, signal })
  } catch (error) {
    if (!isNexusError(error) || error.code !== 'FILE_NOT_FOUND') throw error
    throw errorOf('SKILL_NOT_FOUND', MESSAGES.gone(shownName(skill), skill.file), { cause: error })
  }
}

/** Runs `work`; what it throws after an abort becomes CANCELLED. */
export async function cancellable<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    signal?.throwIfAborted()
    return await work()
  } catch (error) {
    if (!signal?.aborted || (isNexusError(error) && error.code === 'CANCELLED')) throw error
    throw new NexusError('CANCELLED', MESSAGES.cancelled('Loading the skill'), { cause: error })
  }
}
