import { lstatSync } from 'node:fs'
import { createPace } from '../pace.ts'
import { type Below, entryPath, type Listing, listPlace, MAX_DEPTH } from './places.ts'

/** A file that changed so lately may change again without its times showing it: such a mark counts as open. */
const CLOCK_STEP_MS = 50

/** What a directory looked like. */
interface Mark {
  readonly text: string
  /** The skill that it belongs to; itself when it belongs to none. */
  readonly owner: string
}

export interface SweepResult {
  /** Owners of the directories that differ from the last sweep. */
  readonly changed: ReadonlySet<string>
  /** False when there were more directories than may be looked at. */
  readonly isComplete: boolean
}

/** Looks at everything below a root again and again, and says what differs from the last time. */
export interface Sweeper {
  sweep(signal: AbortSignal): Promise<SweepResult>
}

/** A sweeper for a root (a real path), in slices; `maxDirectories` bounds one sweep. Never opens a file. */
export function createSweeper(root: string, { maxDirectories }: { readonly maxDirectories: number }): Sweeper {
  let before: ReadonlyMap<string, Mark> | undefined
  return {
    async sweep(signal) {
      const now = await look(root, { maxDirectories, signal })
      const changed = before ? differences(before, now) : new Set<string>()
      before = now
      return { changed, isComplete: now.size < maxDirectories }
    },
  }
}

interface Step extends Pick<Below, 'path' | 'isLink'> {
  readonly depth: number
  /** The skill around it. */
  readonly skill: string | undefined
}

interface LookOptions {
  readonly maxDirectories: number
  readonly signal: AbortSignal
}

async function look(root: string, { maxDirectories, signal }: LookOptions): Promise<ReadonlyMap<string, Mark>> {
  const marks = new Map<string, Mark>()
  const pace = createPace(signal)
  const ahead: Step[] = [{ path: root, isLink: false, depth: 0, skill: undefined }]
  for (let next = 0; next < ahead.length && marks.size < maxDirectories; next++) {
    const { path, depth, skill: around } = ahead[next] as Step
    if (marks.has(path)) continue
    const listing = await listPlace(path, { root, isInSkill: around !== undefined, pace })
    if (!listing) continue
    const skill = listing.isSkill ? path : around
    marks.set(path, { text: markOf(path, listing), owner: skill ?? path })
    if (depth < MAX_DEPTH) for (const below of listing.below) ahead.push({ ...below, depth: depth + 1, skill })
    const pause = pace()
    if (pause) await pause
  }
  return marks
}

function markOf(path: string, { entries }: Listing): string {
  const now = Date.now()
  let text = ''
  for (const entry of entries) {
    // Those below have marks of their own.
    if (entry.isDirectory()) continue
    text += `${entry.name}\u0000`
    try {
      const { ino, size, mode, mtimeMs, ctimeMs } = lstatSync(entryPath(path, entry.name))
      // The next sweep reads the mark without `?`, takes it for a change, and so nothing hides behind a coarse clock.
      text += `${ino}:${size}:${mode}:${mtimeMs}:${ctimeMs}${Math.abs(now - ctimeMs) < CLOCK_STEP_MS ? '?' : ''}\u0000`
    } catch {
      // Gone since the directory was read: it will be missing in the next sweep.
      text += '-\u0000'
    }
  }
  return text
}

function differences(before: ReadonlyMap<string, Mark>, now: ReadonlyMap<string, Mark>): Set<string> {
  const changed = new Set<string>()
  for (const [path, mark] of now) {
    const old = before.get(path)
    if (old?.text === mark.text) continue
    changed.add(mark.owner)
    if (old) changed.add(old.owner)
  }
  for (const [path, mark] of before) if (!now.has(path)) changed.add(mark.owner)
  return changed
}
