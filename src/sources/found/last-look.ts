import { lstatSync, statfsSync, type Stats, statSync } from 'node:fs'
import type { FileStamp, RejectedSkill } from '../../kernel/index.ts'
import { stampOf } from '../files/open.ts'
import { FoundSkill } from './found-skill.ts'

/** What the SKILL.md of a directory came to. */
export type Read = FoundSkill | RejectedSkill

const NO_THROW = { throwIfNoEntry: false } as const

/**
 * What the last look read in a directory, when its SKILL.md is the very same file; `absent` when there is none now; undefined when
 * only opening can tell. Costs one look at the file. Never throws.
 */
export type Find = (directory: string) => Read | 'absent' | undefined

/** One look at a root. */
export interface Recall {
  /** Undefined when there is no last look. */
  readonly find: Find | undefined
  /** When the status of a file changed, if that tells of every change; else NaN. */
  tellingTime(stats: Stats): number
  /** Remembers what was rejected for what is in the file. */
  refuse(directory: string, rejected: RejectedSkill, stats: Stats): void
  /** The look is complete, with all skills in the order of the walk: from now on it is the last one. */
  keep(skills: readonly FoundSkill[]): void
}

/** For a look that no other one follows. */
export const NOTHING_KNOWN: Recall = Object.freeze({
  find: undefined,
  tellingTime: () => NaN,
  refuse: () => undefined,
  keep: () => undefined,
})

/**
 * The last complete look at a folder. A file that did not change since then needs not be opened again: same device, inode, size, times
 * of content and status to 0.3 µs, on a file system that keeps those. What was not met again is forgotten.
 */
export interface LastLook {
  /** Begins a look at a root, which is a real path. */
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

/** What two looks must have in common. */
interface Folder {
  readonly root: string
  /** Whose rights it had. */
  readonly asker: string
  /** Of the root; undefined when it is gone again. */
  readonly device: number | undefined
}

/** What one look found, in the order of the walk. */
interface Found extends Folder {
  readonly skills: readonly FoundSkill[]
  readonly refused: ReadonlyMap<string, Refused>
}

interface Refused {
  readonly rejected: RejectedSkill
  readonly stamp: FileStamp
  readonly changedMs: number
}

export function createLastLook(): LastLook {
  let last: Found | undefined
  return {
    begin(root) {
      const folder: Folder = { root, asker: askerNow(), device: deviceOf(root) }
      const before = last && isSameFolder(last, folder) && tellsChanges(root) ? last : undefined
      return createRecall(before, { folder, keep: (found) => (last = found) })
    },
    forget: () => (last = undefined),
  }
}

/** Whoever gives up rights must not be shown what it could read before. */
function askerNow(): string {
  return [process.geteuid?.(), process.getegid?.(), ...(process.getgroups?.() ?? [])].join(' ')
}

function deviceOf(root: string): number | undefined {
  try {
    return statSync(root, NO_THROW)?.dev
  } catch {
    // Closed to us by now: the walk will say so.
    return undefined
  }
}

function isSameFolder(last: Folder, now: Folder): boolean {
  return last.root === now.root && last.asker === now.asker && last.device === now.device && now.device !== undefined
}

/** True when the times of files there tell of every change. Only Linux is known well enough. */
function tellsChanges(root: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    return NOTES_CHANGES.has(statfsSync(root).type >>> 0)
  } catch {
    // Gone again: the walk will say so.
    return false
  }
}

interface Beginning {
  readonly folder: Folder
  readonly keep: (found: Found) => void
}

function createRecall(last: Found | undefined, { folder, keep }: Beginning): Recall {
  const since = Date.now() - UNSURE_MS
  const refused = new Map<string, Refused>()

  function tellingTime({ dev, ctimeMs, mtimeMs }: Stats): number {
    // What else is mounted below the root may be of another kind.
    return dev === folder.device && Math.max(ctimeMs, mtimeMs) < since ? ctimeMs : NaN
  }

  function refuse(directory: string, rejected: RejectedSkill, stats: Stats): void {
    refused.set(directory, { rejected, stamp: stampOf(stats), changedMs: tellingTime(stats) })
  }

  function finder(before: Found): Find {
    const match = finding(before)
    return (directory) => {
      const stats = lookAt(`${directory}/SKILL.md`)
      if (stats === 'absent') return 'absent'
      // A time that told of changes tells nothing any more when the clock was set back before it.
      if (!stats || Number.isNaN(tellingTime(stats))) return undefined
      const read = match(directory, stats)
      if (read && !(read instanceof FoundSkill)) refuse(directory, read, stats)
      return read
    }
  }

  return {
    find: last && finder(last),
    tellingTime,
    refuse,
    // A copy, because the list goes on to whoever asked.
    keep: (skills) => keep({ ...folder, skills: skills.slice(), refused }),
  }
}

/** A regular file, without following a link; undefined for anything else. */
function lookAt(path: string): Stats | 'absent' | undefined {
  try {
    const stats = lstatSync(path, NO_THROW)
    if (stats === undefined) return 'absent'
    return stats.isFile() ? stats : undefined
  } catch {
    // Closed to us: opening it says why.
    return undefined
  }
}

/** What the last look found where a file is the same. Directories come in the same order again, so a table is only made when they do not. */
function finding({ skills, refused }: Found): (directory: string, now: Stats) => Read | undefined {
  let next = 0
  let indexes: ReadonlyMap<string, number> | undefined
  const indexOf = (directory: string): number | undefined => {
    if (skills[next]?.directory === directory) return next
    indexes ??= byDirectory(skills)
    return indexes.get(directory)
  }
  return (directory, now) => {
    const earlier = refused.size > 0 ? refused.get(directory) : undefined
    if (earlier) return isSame(earlier, now) ? earlier.rejected : undefined
    const index = indexOf(directory)
    if (index === undefined) return undefined
    next = index + 1
    const skill = skills[index] as FoundSkill
    return skill.isOf(now) ? skill : undefined
  }
}

function byDirectory(skills: readonly FoundSkill[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>()
  for (const [index, { directory }] of skills.entries()) indexes.set(directory, index)
  return indexes
}

function isSame({ stamp, changedMs }: Refused, now: Stats): boolean {
  const { mtimeMs, size, inode } = stamp
  return changedMs === now.ctimeMs && mtimeMs === now.mtimeMs && size === now.size && inode === now.ino
}
