import { lstatSync, statfsSync, type Stats, statSync } from 'node:fs'
import { type FileStamp, type InvalidSkill, type Skill, SKILL_FILE, type SkillOrigin } from '../../../kernel/index.ts'
import { stampOf } from '../../../machine/skill-files/index.ts'
import { type KeptSearches, loadSearch, saveSearch } from './kept-search.ts'

export type Read = Skill | InvalidSkill

export function isSkill(read: Read | string): read is Skill {
  return typeof read === 'object' && 'stamp' in read
}

const NO_THROW = { throwIfNoEntry: false } as const

/** One search of a root. */
export interface Recall {
  /** The result of the last search in a directory, when its SKILL.md is the very same file; undefined when it must be opened. Never throws. */
  find(directory: string): Read | undefined
  /** Remembers what was read of a file, for the next search. */
  remember(directory: string, read: Read, stats: Stats): void
  /** The search is complete: from now on it is the last one. */
  keep(): void
}

/**
 * A file that did not change since then is not opened again: same device, inode, size, times of
 * content and status to 0.3 µs, on a file system that keeps those. What was not met again is forgotten.
 */
export interface PreviousSearch {
  /** Begins a search of a root, which is a real path. */
  begin(root: string): Recall
  forget(): void
}

/**
 * A file that changed within so many milliseconds before it was read may have changed after it without its times showing that, as
 * clocks of file systems go in steps of up to two seconds. Git calls such files racy.
 */
const UNSURE_MS = 3_000

/**
 * Types of file systems that note the time of every change, by this machine's clock: ext, XFS, Btrfs, F2FS, tmpfs, overlay, ZFS, bcachefs.
 * Not those that others change (NFS, FUSE), and not images, where times may be made up.
 */
const NOTES_CHANGES = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xca451a4e,
])

/** Two searches must have it in common: the root, its device, and the rights of the process. */
interface Folder {
  readonly key: string
  readonly device: number
}

interface Known {
  readonly read: Read
  readonly stamp: FileStamp
  readonly changedMs: number
}

/** Another way to know the last search: what another process kept. */
export interface OtherProcesses {
  readonly origin: SkillOrigin
  readonly searches: KeptSearches
}

export function createPreviousSearch(others?: OtherProcesses): PreviousSearch {
  let last: { readonly key: string; readonly known: ReadonlyMap<string, Known> } | undefined
  return {
    begin(root) {
      const folder = folderOf(root)
      if (folder && others && !last) last = { key: folder.key, known: knownToOthers(folder, others) }
      const before = folder !== undefined && last?.key === folder.key ? last.known : undefined
      return createRecall(before, folder, (known) => {
        last = folder && { key: folder.key, known }
        if (!folder || !others) return
        const plain = [...known.values()].filter(isPlain)
        if (isWorthKeeping(plain, before)) saveSearch(others.searches, folder.key, plain)
      })
    },
    forget: () => (last = undefined),
  }
}

function knownToOthers({ key }: Folder, { origin, searches }: OtherProcesses): ReadonlyMap<string, Known> {
  const kept = loadSearch(searches, key, origin)
  return new Map(kept.map((each) => [each.read.directory, { ...each, stamp: each.read.stamp }]))
}

/** A skill with findings is read again, so that their words are those of this version. */
function isPlain(known: Known): known is Known & { readonly read: Skill } {
  return isSkill(known.read) && known.read.diagnostics.length === 0
}

/** A few changes are read faster than thousands of skills are written. */
function isWorthKeeping(
  plain: readonly (Known & { readonly read: Skill })[],
  before: ReadonlyMap<string, Known> = new Map(),
): boolean {
  const same = plain.filter((each) => before.get(each.read.directory) === each).length
  const most = Math.max(plain.length, [...before.values()].filter(isPlain).length)
  return (most - same) * 20 >= Math.max(1, most)
}

/** Undefined when the times of files there do not show every change. Only Linux is known well enough. */
function folderOf(root: string): Folder | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const device = statSync(root).dev
    if (!NOTES_CHANGES.has(statfsSync(root).type >>> 0)) return undefined
    // A process that gives up rights must not be shown what it could read before.
    const rights = [process.geteuid?.(), process.getegid?.(), ...(process.getgroups?.() ?? [])]
    return { key: [root, device, ...rights].join('\0'), device }
  } catch {
    // Gone again: the walk will say so.
    return undefined
  }
}

function createRecall(
  before: ReadonlyMap<string, Known> | undefined,
  folder: Folder | undefined,
  keep: (known: ReadonlyMap<string, Known>) => void,
): Recall {
  const since = Date.now() - UNSURE_MS
  const known = new Map<string, Known>()

  /** False for a file whose times do not show every change: too new, or on another device mounted below the root. */
  function isSure({ dev, mtimeMs, ctimeMs }: Stats): boolean {
    return dev === folder?.device && Math.max(ctimeMs, mtimeMs) < since
  }

  return {
    find(directory) {
      const earlier = before?.get(directory)
      const stats = earlier && regularFile(`${directory}/${SKILL_FILE}`)
      if (!stats || !isSure(stats) || !isSame(stats, earlier)) return undefined
      known.set(directory, earlier)
      return earlier.read
    },
    remember(directory, read, stats) {
      if (isSure(stats))
        known.set(directory, { read, stamp: isSkill(read) ? read.stamp : stampOf(stats), changedMs: stats.ctimeMs })
    },
    keep: () => keep(known),
  }
}

function isSame(now: Stats, { stamp, changedMs }: Known): boolean {
  return (
    changedMs === now.ctimeMs && stamp.mtimeMs === now.mtimeMs && stamp.size === now.size && stamp.inode === now.ino
  )
}

/** Without following a link; undefined for anything else. */
function regularFile(path: string): Stats | undefined {
  try {
    const stats = lstatSync(path, NO_THROW)
    return stats?.isFile() === true ? stats : undefined
  } catch {
    // Closed to us: opening it says why.
    return undefined
  }
}
