/** temp: private temporary directories of commands, and their removal whatever a command did to their modes. */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  below,
  type Directory,
  FileError,
  isAbsence,
  type Named,
  openRoot,
  removeBelow,
  type Removed,
  type RemoveOptions,
  Tree,
} from '../../files/index.ts'

/** A new temp with an empty home in it. */
export function createTemp(liveDirectory: string): string {
  const temp = mkdtempSync(join(liveDirectory, 'temp-'))
  mkdirSync(join(temp, 'home'), { mode: 0o700 })
  return temp
}

const MAX_LISTED = 20
const MAX_LOOKED_AT = 500

/** Files that a command left in the home of its temp, relative to the home. Hidden ones are caches and settings of programs. */
export async function listHome(temp: string): Promise<string[]> {
  const tree = new Tree(temp)
  try {
    return await filesIn(tree)
  } finally {
    tree.close()
  }
}

async function filesIn(tree: Tree): Promise<string[]> {
  const files: string[] = []
  const waiting = ['home']
  let lookedAt = 0
  for (let directory = waiting.shift(); directory !== undefined; directory = waiting.shift()) {
    for (const { name, kind } of await entriesOf(tree, directory)) {
      if (files.length >= MAX_LISTED || ++lookedAt > MAX_LOOKED_AT) return files
      if (name.startsWith('.')) continue
      const path = below(directory, name)
      if (kind === 'directory') waiting.push(path)
      else files.push(path.slice('home/'.length))
    }
  }
  return files
}

async function entriesOf(tree: Tree, directory: string): Promise<readonly Named[]> {
  try {
    return (await tree.list(directory, { max: MAX_LOOKED_AT })).entries
  } catch (error) {
    // The command removed or closed it: there is nothing to report.
    if (error instanceof FileError) return []
    throw error
  }
}

/** Removes a tree that may contain directories without any permission, however deep. Throws the first of what could not be removed. */
export async function removeTree(path: string): Promise<void> {
  const { isGone, failures } = await tryRemoveTree(path)
  if (!isGone) throw failures[0] ?? new Error(`${path} is still there`)
}

/** The same, within limits; says what is left. */
export async function tryRemoveTree(path: string, options?: RemoveOptions): Promise<Removed> {
  let above: Directory
  try {
    above = openRoot(dirname(path))
  } catch (error) {
    if (isAbsence(error)) return { entries: 0, failures: [], stoppedBy: undefined, isGone: true }
    throw error
  }
  try {
    return await removeBelow(above, basename(path), options)
  } finally {
    above.close()
  }
}
