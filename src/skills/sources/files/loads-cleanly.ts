import { type Skill, SKILL_FILE } from '../../../kernel/index.ts'
import { listFiles } from '../../../machine/skill-files/index.ts'

/**
 * True when the files of a skill keep the limits and none is left out, so that loading it cannot fail for its files. False in doubt:
 * loading then gives the reason. Reads no file. Throws only CANCELLED.
 */
export async function loadsCleanly(
  skill: Pick<Skill, 'directory' | 'file' | 'linkedTo' | 'stamp'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const { files, leftOut, problem } = await listFiles(skill, signal ? { signal } : {})
  return problem === undefined && leftOut.length === 0 && files.some(({ path }) => path === SKILL_FILE)
}
