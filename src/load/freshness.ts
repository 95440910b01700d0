import { promises } from 'node:fs'

import { type FileStamp, type Skill } from '../kernel/index.ts'

export interface FreshnessParts {
  /** Finds skills again and swaps the catalog. Shared by all who wait, so it takes no signal. */
  readonly refresh: () => Promise<void>
  /** Compare the file with the catalog at every call; else only a miss leads to a refresh. Source: SKILLS_REFRESH_ON_CALL. */
  readonly everyCall: boolean
}

/** Sees to it that a call about one skill meets the skill as it is now. */
export interface Freshness {
  /**
   * Refreshes the catalog when it has no such skill, or another text of it. `find` is what the catalog has.
   * Costs one look at one file when nothing changed. Never throws: after an abort or a failure the old catalog stays.
   */
  ensure(find: () => Skill | undefined, signal: AbortSignal): Promise<void>
}

/** Freshness over a catalog that `refresh` swaps. */
export function createFreshness({ refresh, everyCall }: FreshnessParts): Freshness {
  const refreshSoon = createShared(refresh)
  return {
    async ensure(find, signal) {
      const skill = find()
      if (skill && (!everyCall || (await isUnchanged(skill)))) return
      if (!signal.aborted) await orAborted(refreshSoon(), signal)
    },
  }
}

/** True when the SKILL.md is the file that the catalog speaks of, by time, size and inode. */
async function isUnchanged({ file, linkedTo, stamp }: Skill): Promise<boolean> {
  try {
    if (linkedTo !== undefined && (await promises.realpath(file)) !== linkedTo) return false
    const stats = await promises.lstat(linkedTo ?? file)
    const now: FileStamp = { mtimeMs: stats.mtimeMs, size: stats.size, inode: stats.ino }
    return now.mtimeMs === stamp.mtimeMs && now.size === stamp.size && now.inode === stamp.inode
  } catch {
    // Gone or closed to us: the refresh will say which.
    return false
  }
}

/**
 * One run at a time, and at most one waiting: everybody gets a run that began after they asked, and a crowd costs two.
 */
function createShared(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  const run = (): Promise<void> => {
    waiting = undefined
    const mine = work().finally(() => {
      if (running === mine) running = undefined
    })
    running = mine
    return mine
  }
  return () => {
    if (!running) return run()
    waiting ??= running.then(run, run)
    return waiting
  }
}

function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    // A refresh that fails leaves the catalog as it was, and the call is answered from that.
    work.then(done, done)
  })
}
