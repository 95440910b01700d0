import { isUtf8 } from 'node:buffer'
import { closeSync } from 'node:fs'
import { type Skill, SKILL_FILE } from '../../kernel/index.ts'
import { listFiles } from './manifest.ts'
import { openWithoutWaiting, readInto } from './open.ts'

/** A SKILL.md of that size was looked at from its first to its last byte when it was found. */
const SEEN_WHOLE_BYTES = 4_096

/**
 * True when loading a skill that was found will surely meet nothing wrong, and nothing that is left out: its text is text to the end, its files keep
 * the limits. All doubts are false, and loading tells. Reads no other file than the SKILL.md, and that only beyond what was read to find it. Throws
 * only CANCELLED.
 */
export async function isSoundToLoad(
  skill: Pick<Skill, 'directory' | 'file' | 'linkedTo' | 'stamp'>,
  signal?: AbortSignal,
): Promise<boolean> {
  if (skill.stamp.size > SEEN_WHOLE_BYTES && !isText(skill.linkedTo ?? skill.file, skill.stamp.size)) return false
  const { files, leftOut, problem } = await listFiles(skill, signal ? { signal } : {})
  return problem === undefined && leftOut.length === 0 && files.some(({ path }) => path === SKILL_FILE)
}

function isText(path: string, size: number): boolean {
  try {
    const { fd, stats } = openWithoutWaiting(path)
    try {
      if (!stats.isFile() || stats.size !== size) return false
      const bytes = Buffer.allocUnsafe(size + 1)
      const text = bytes.subarray(0, readInto(fd, bytes))
      return text.length === size && isUtf8(text) && !text.includes(0)
    } finally {
      closeSync(fd)
    }
  } catch {
    // Gone, closed to us, or a link by now.
    return false
  }
}
