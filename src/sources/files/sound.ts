import { type Skill, SKILL_FILE } from '../../kernel/index.ts'
import { listFiles } from './manifest.ts'

/**
 * True when loading a skill that was found will surely meet nothing wrong, and nothing that is left out: its files keep the limits. All
 * doubts are false, and loading says why. Reads no file. Throws only CANCELLED.
 */
export async function isSoundToLoad(
  skill: Pick<Skill, 'directory' | 'file' | 'linkedTo' | 'stamp'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const { files, leftOut, problem } = await listFiles(skill, signal ? { signal } : {})
  return problem === undefined && leftOut.length === 0 && files.some(({ path }) => path === SKILL_FILE)
}
