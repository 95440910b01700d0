/** temp: private temporary directories of commands, and their removal whatever a command did to their modes. */
import { type Dirent, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Directory, isAbsence, openRoot, removeBelow } from '../../files/index.ts'

/** A new temp with an empty home in it. */
export function createTemp(liveDirectory: string): string {
  const temp = mkdtempSync(join(liveDirectory, 'temp-'))
  mkdirSync(join(temp, 'home'), { mode: 0o700 })
  return temp
}

const MAX_LISTED = 20
const MAX_LOOKED_AT = 500

/** Files that a command left in the home of its temp, relative to the home. Hidden ones are caches and settings of programs. */
export function listHome(temp: string): string[] {
  const home = join(temp, 'home')
  const files: string[] = []
  const waiting = ['']
  let lookedAt = 0
  for (let directory = waiting.shift(); directory !== undefined; directory = waiting.shift()) {
    for (const entry of entriesOf(join(home, directory))) {
      if (files.length >= MAX_LISTED || ++lookedAt > MAX_LOOKED_AT) return files
      if (entry.name.startsWith('.')) continue
      const path = join(directory, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else files.push(path)
    }
  }
  return files
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // The command removed or closed it: there is nothing to report.
    return []
  }
}

/** Removes a tree that may contain directories without any permission, however deep. Throws the first of what could not be removed. */
export async function removeTree(path: string): Promise<void> {
  let above: Directory
  try {
    above = openRoot(dirname(path))
  } catch (error) {
    if (isAbsence(error)) return
    throw error
  }
  try {
    const { isGone, failures } = await removeBelow(above, basename(path))
    if (!isGone) throw failures[0] ?? new Error(`${path} is still there`)
  } finally {
    above.close()
  }
}
