/** text-file: reads and writes small text files of the user, whole. */
import { existsSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { readSmall, Tree } from '../../machine/files/index.ts'
import { errorMessage, NexusError, utf8Text } from '../../kernel/index.ts'

/** Longer files are refused. Claude Code keeps its whole state in one, which has some megabytes. */
const MAX_BYTES = 64 * 1024 * 1024

/** Undefined when there is no such file. */
export function textOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  let text: string | undefined
  try {
    text = utf8Text(readSmall(path, { maxBytes: MAX_BYTES }).bytes)
  } catch (error) {
    throw notRead(path, errorMessage(error), error)
  }
  if (text === undefined) throw unreadable(path, 'it is not UTF-8')
  return text
}

/** A new file is readable to its user alone, since such files may contain keys. Throws STORE_FAILED. */
export async function writeText(path: string, text: string, isNew: boolean): Promise<void> {
  try {
    const directory = nearestDirectory(dirname(path))
    const tree = new Tree(directory)
    try {
      await tree.write(relative(directory, path), {
        bytes: Buffer.from(text),
        isDurable: true,
        makesParents: true,
        mode: isNew ? 0o600 : undefined,
        mustBeNew: isNew,
      })
    } finally {
      tree.close()
    }
  } catch (error) {
    throw new NexusError('STORE_FAILED', `Nexus did not change ${path}. Writing it failed: ${errorMessage(error)}.`, {
      fix: 'Check the rights of its directory and the free space.',
      cause: error,
    })
  }
}

export function notRead(path: string, why: string, cause?: unknown): NexusError {
  const fix = 'Make it a regular file that you may read.'
  return new NexusError('CONFIG_INVALID', `Nexus did not change ${path}. Reading it failed: ${why}.`, { fix, cause })
}

/** `place` is the path, with the line where it is known. */
export function unreadable(place: string, why: string, cause?: unknown): NexusError {
  const fix = 'Correct the file, then run the command again.'
  return new NexusError('CONFIG_INVALID', `Nexus did not change ${place}: ${why}.`, { fix, cause })
}

function nearestDirectory(directory: string): string {
  return existsSync(directory) ? directory : nearestDirectory(dirname(directory))
}
