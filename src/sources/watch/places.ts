import { type Dirent, lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { isLarge, list, listInBackground } from '../listing.ts'
import { type Pace, STRIDE } from '../pace.ts'
import { isInside, SKILL_FILE } from '../skill-file.ts'

/** Levels below a root that are watched. The scan ends earlier; this counts the folders inside a skill too. */
export const MAX_DEPTH = 16

/** A directory below another, by the name of its entry there. */
export interface Below {
  readonly name: string
  /** Its real path. */
  readonly path: string
  readonly isLink: boolean
}

/** What one directory holds, as far as watching goes. */
export interface Listing {
  readonly isSkill: boolean
  readonly below: readonly Below[]
  readonly entries: readonly Dirent[]
}

export interface PlaceContext {
  /** Real path of the root. */
  readonly root: string
  /** Links in a skill are not followed, because none of its files may be one. */
  readonly isInSkill: boolean
}

/** Reads a directory; undefined when it is gone or closed to us. One of thousands is read by another thread and gone through with pauses. */
export function listPlace(
  path: string,
  { pace, ...context }: PlaceContext & { readonly pace: Pace },
): Listing | undefined | Promise<Listing | undefined> {
  try {
    if (isLarge(path)) return listLargePlace(path, context, pace)
    const entries = list(path)
    const { listing, add } = listingOf(path, entries, context)
    for (const entry of entries) add(entry)
    return listing
  } catch {
    // Gone again, or not ours to read: the scan says so, and its parent tells us when that changes.
    return undefined
  }
}

async function listLargePlace(path: string, context: PlaceContext, pace: Pace): Promise<Listing | undefined> {
  let entries: readonly Dirent[]
  try {
    entries = await listInBackground(path)
  } catch {
    // As above.
    return undefined
  }
  const { listing, add } = listingOf(path, entries, context)
  for (const [index, entry] of entries.entries()) {
    const pause = index % STRIDE === 0 ? pace() : undefined
    if (pause) await pause
    add(entry)
  }
  return listing
}

/** A listing without the directories below; they are added one by one. */
function listingOf(
  path: string,
  entries: readonly Dirent[],
  context: PlaceContext,
): { readonly listing: Listing; readonly add: (entry: Dirent) => void } {
  const isSkill = entries.some(({ name }) => name === SKILL_FILE)
  const inner = { root: context.root, isInSkill: context.isInSkill || isSkill }
  const below: Below[] = []
  return {
    listing: { isSkill, below, entries },
    add(entry) {
      if (entry.isFile()) return
      const { name } = entry
      const found = asBelow(path, { name, isLink: entry.isSymbolicLink(), isDirectory: entry.isDirectory() }, inner)
      if (found) below.push(found)
    },
  }
}

/** The directory that an entry is or leads to; undefined for anything else, and for places where no skills are searched. */
export function lookBelow(path: string, name: string, context: PlaceContext): Below | undefined {
  try {
    const stats = lstatSync(entryPath(path, name))
    return asBelow(path, { name, isLink: stats.isSymbolicLink(), isDirectory: stats.isDirectory() }, context)
  } catch {
    // Gone: then it is no directory either.
    return undefined
  }
}

/** True when there is a SKILL.md, of whatever kind. */
export function holdsSkill(path: string): boolean {
  return statsOf(entryPath(path, SKILL_FILE)) !== undefined
}

/** True when the directory or a file in it changed after a moment (epoch milliseconds), as far as clocks can tell. */
export function isYoung(path: string, { entries }: Listing, since: number): boolean {
  return (
    changedSince(path, since) ||
    entries.some((entry) => !entry.isDirectory() && changedSince(entryPath(path, entry.name), since))
  )
}

function changedSince(path: string, since: number): boolean {
  const stats = statsOf(path)
  if (!stats) return false
  const at = Math.max(stats.ctimeMs, stats.mtimeMs)
  // The kernel's clock goes in steps, and some file systems keep every other second only.
  return at + (at % 1_000 === 0 ? 2_000 : 50) >= since
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Closed to us, so to the scan too.
    return undefined
  }
}

/** The path of an entry. Cheaper than `join`, whose work is done already. */
export function entryPath(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

interface Kind {
  readonly name: string
  readonly isLink: boolean
  readonly isDirectory: boolean
}

function asBelow(parent: string, { name, isLink, isDirectory }: Kind, context: PlaceContext): Below | undefined {
  if (name.startsWith('.') || name === 'node_modules') return undefined
  const path = entryPath(parent, name)
  if (isDirectory) return { name, path, isLink: false }
  if (!isLink || context.isInSkill) return undefined
  try {
    const real = realpathSync.native(path)
    return isInside(real, context.root) && statSync(real).isDirectory() ? { name, path: real, isLink } : undefined
  } catch {
    // A link to nowhere; when its target comes, the scan that follows any other change finds it.
    return undefined
  }
}
