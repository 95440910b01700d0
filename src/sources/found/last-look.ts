import { lstatSync, statfsSync, type Stats, statSync } from 'node:fs'
import type { FileStamp, RejectedSkill, Skill } from '../../kernel/index.ts'
import { stampOf } from '../files/open.ts'

/** What the SKILL.md of a directory came to. */
export type Read =
  | { readonly type: 'skill'; readonly skill: Skill }
  | { readonly type: 'rejected'; readonly rejected: RejectedSkill }

const NO_THROW = { throwIfNoEntry: false } as const
const ABSENT = Object.freeze({ type: 'absent' })

/** One look at a root. */
export interface Recall {
  /**
   * What the last look read in a directory, when its SKILL.md is the very same file; `absent` when there is none now; undefined when
   * only opening can tell. Costs one look at the file. Never throws.
   */
  find(directory: string): Read | typeof ABSENT | undefined
  /** Remembers what was read. Without the state of the file, the next look reads it again. */
  note(directory: string, read: Read, stats?: Stats): void
  /** The look is complete: from now on it is the last one. */
  keep(): void
}

/** For a look that no other one follows. */
export const NOTHING_KNOWN: Recall = Object.freeze({
  find: () => undefined,
  note: () => undefined,
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
  readonly skills: readonly Skill[]
  /** When the status of each skill's file changed; NaN, which equals nothing, where that says too little. */
  readonly changedMs: readonly number[]
  readonly rejected: ReadonlyMap<string, Refused>
}

interface Refused {
  readonly read: Read
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
  const before = last && finding(last)
  const since = Date.now() - UNSURE_MS
  const skills: Skill[] = []
  const changedMs: number[] = []
  const rejected = new Map<string, Refused>()

  /** The time that tells of a change, if any does. */
  function tellingTime(stats: Stats | undefined): number {
    if (!stats) return NaN
    const { dev, ctimeMs, mtimeMs } = stats
    // What else is mounted below the root may be of another kind.
    return dev === folder.device && Math.max(ctimeMs, mtimeMs) < since ? ctimeMs : NaN
  }

  function note(directory: string, read: Read, stats?: Stats): void {
    if (read.type === 'skill') {
      skills.push(read.skill)
      changedMs.push(tellingTime(stats))
    } else if (stats) {
      rejected.set(directory, { read, stamp: stampOf(stats), changedMs: tellingTime(stats) })
    }
  }

  return {
    note,
    find(directory) {
      if (!before) return undefined
      const stats = lookAt(`${directory}/SKILL.md`)
      if (stats === 'absent') return ABSENT
      const read = stats && before(directory, stats)
      if (read) note(directory, read, stats)
      return read
    },
    keep: () => keep({ ...folder, skills, changedMs, rejected }),
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
function finding({ skills, changedMs, rejected, device }: Found): (directory: string, now: Stats) => Read | undefined {
  let next = 0
  let indexes: ReadonlyMap<string, number> | undefined
  const indexOf = (directory: string): number | undefined => {
    if (skills[next]?.directory === directory) return next
    indexes ??= byDirectory(skills)
    return indexes.get(directory)
  }
  return (directory, now) => {
    if (now.dev !== device) return undefined
    const refused = rejected.size > 0 ? rejected.get(directory) : undefined
    if (refused) return refused.changedMs === now.ctimeMs && isSame(refused.stamp, now) ? refused.read : undefined
    const index = indexOf(directory)
    if (index === undefined) return undefined
    next = index + 1
    const skill = skills[index] as Skill
    return changedMs[index] === now.ctimeMs && isSame(skill.stamp, now) ? { type: 'skill', skill } : undefined
  }
}

function byDirectory(skills: readonly Skill[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>()
  for (const [index, { directory }] of skills.entries()) indexes.set(directory, index)
  return indexes
}

function isSame({ mtimeMs, size, inode }: FileStamp, now: Stats): boolean {
  return mtimeMs === now.mtimeMs && size === now.size && inode === now.ino
}
