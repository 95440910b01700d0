/** temp: private temporary directories of commands, and their removal whatever a command did to their modes. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A new temp with an empty home in it. */
export function createTemp(liveDirectory: string): string {
  const temp = mkdtempSync(join(liveDirectory, 'temp-'))
  mkdirSync(join(temp, 'home'), { mode: 0o700 })
  return temp
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
