/** temp: private temporary directories of commands, and their removal whatever a command did to their modes. */
import { chmodSync, type Dirent, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

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

/** Removes a tree that may hold directories without any permission. Links are removed, never followed. */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // A directory that its owner made unreadable: give the modes back, then try once more.
    openUp(path)
    rmSync(path, { recursive: true, force: true })
  }
}

function openUp(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  chmodSync(path, 0o700)
  for (const name of readdirSync(path)) openUp(join(path, name))
}
