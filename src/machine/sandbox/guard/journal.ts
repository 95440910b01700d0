/** journal: records on the disk, before a command starts, what has to be undone after it, for the next start when all processes died. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, readSmall } from '../../files/index.ts'
import { type CleanOptions, type Guarded, removeAppeared } from './clean.ts'

const MAX_JOURNAL_BYTES = 64 * 1024 * 1024
const NAME = /^journal-[0-9a-f]{16}\.json$/

/** Writes an entry, which is on the disk when this returns; returns its path. */
export function writeJournal(directory: string, guarded: Guarded): string {
  const path = join(directory, `journal-${randomBytes(8).toString('hex')}.json`)
  const handle = openSync(`${path}.part`, 'wx', 0o600)
  try {
    writeSync(handle, JSON.stringify(guarded))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(`${path}.part`, path)
  syncDirectory(directory)
  return path
}

/** True when a directory contains entries, that is, open work. */
export function hasJournals(directory: string): boolean {
  return listJournals(directory).length > 0
}

/** State before the commands that work in a workspace now, by the entries of these directories. */
export function guardedIn(directories: readonly string[], workspace: string): Guarded[] {
  const all = directories.flatMap(listJournals).map(readJournal)
  return all.filter((guarded) => guarded?.workspace === workspace) as Guarded[]
}

/** Does what the entries of a directory ask for. The commands they speak of must have ended. */
export async function replayJournals(directory: string, options: CleanOptions = {}): Promise<Recovered[]> {
  const recovered: Recovered[] = []
  for (const path of listJournals(directory)) {
    const guarded = readJournal(path)
    if (guarded === undefined) continue
    const { notes, isDone } = await replay(guarded, options)
    if (notes.length > 0) recovered.push({ workspace: guarded.workspace, notes })
    if (isDone) rmSync(path, { force: true })
  }
  return recovered
}

/** Repairs in one workspace. */
export interface Recovered {
  readonly workspace: string
  readonly notes: readonly string[]
}

async function replay(guarded: Guarded, options: CleanOptions): Promise<{ notes: string[]; isDone: boolean }> {
  try {
    return { notes: await removeAppeared(guarded, options), isDone: true }
  } catch (error) {
    // A workspace that is gone has nothing to put right.
    if (codeOf(error) === 'ENOENT') return { notes: [], isDone: true }
    const why = (error as Error).message
    return {
      notes: [
        `Nexus did not search for protected files that a command may have made (${why}). It tries again at the next start.`,
      ],
      isDone: false,
    }
  }
}

function listJournals(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => NAME.test(name))
      .map((name) => join(directory, name))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Undefined for what we did not write: another user's file must not decide what we remove. */
function readJournal(path: string): Guarded | undefined {
  try {
    const { bytes, stats } = readSmall(path, { maxBytes: MAX_JOURNAL_BYTES })
    const { uid, mode } = stats
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return undefined
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isGuarded(value) ? value : undefined
  } catch {
    // Another process does the same work and was faster, or the disk was full when it was written: nothing was started then.
    return undefined
  }
}

function isGuarded(value: unknown): value is Guarded {
  const { workspace, mode, found, closed, repositories, links, places, lock } = value as Partial<Guarded>
  return (
    isTexts([workspace, lock ?? '']) &&
    typeof mode === 'number' &&
    [found, closed, repositories, places?.paths, places?.writable].every(isTexts) &&
    Array.isArray(links) &&
    links.every((link) => isTexts(link) && link.length === 2)
  )
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
