import { promises } from 'node:fs'
import type { Skill } from '../../kernel/index.ts'
import { readManifest } from '../../machine/skill-files/index.ts'
import type { LoadedInSession } from './skill-stacks.ts'

export interface FreshnessParts {
  /** Finds skills again and replaces the catalog. Calls at the same time share the work; the signal ends only the waiting. */
  readonly refresh: (signal?: AbortSignal) => Promise<void>
  /** Compare the file with the catalog at every call; else only a miss leads to a refresh. Source: SKILLS_REFRESH_ON_CALL. */
  readonly everyCall: boolean
}

/** Sees to it that a call about one skill meets the skill as it is now. */
export interface Freshness {
  /**
   * Refreshes the catalog when it has no such skill, or another text of it. `find` is what the catalog has.
   * Costs one look at one file when nothing changed. True when it refreshed. Never throws: after an abort or a failure the old catalog stays.
   */
  ensure(find: () => Skill | undefined, signal: AbortSignal): Promise<boolean>
}

export function createFreshness({ refresh, everyCall }: FreshnessParts): Freshness {
  return {
    async ensure(find, signal) {
      const skill = find()
      if (skill && (!everyCall || (await isUnchanged(skill)))) return false
      try {
        await refresh(signal)
        return true
      } catch {
        // The catalog is as it was, and the call is answered from that.
        return false
      }
    },
  }
}

/** True when the SKILL.md is the file that the catalog speaks of, by time, size and inode. */
async function isUnchanged({ file, linkedTo, stamp }: Skill): Promise<boolean> {
  try {
    if (linkedTo !== undefined && (await promises.realpath(file)) !== linkedTo) return false
    const { mtimeMs, size, ino } = await promises.lstat(linkedTo ?? file)
    return mtimeMs === stamp.mtimeMs && size === stamp.size && ino === stamp.inode
  } catch {
    // Gone or closed to us: the refresh will say which.
    return false
  }
}

/** The tree digest of the skill's files as they are now; undefined when they cannot be read, which loading it reports. */
export async function currentRevision(
  skill: Pick<Skill, 'directory' | 'linkedTo'>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await readManifest(skill, { signal })).treeDigest
  } catch {
    return undefined
  }
}

/** True when the skill's files are not of that revision. Files that cannot be read are for the next loading to report. */
export async function isOutdated(
  skill: Pick<Skill, 'directory' | 'linkedTo'>,
  treeDigest: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const current = await currentRevision(skill, signal)
  return current !== undefined && current !== treeDigest
}

/** Per skill the revision that was loaded last. */
export function latestLoaded(loaded: readonly LoadedInSession[]): readonly LoadedInSession[] {
  return [...new Map(loaded.map((each) => [each.address, each])).values()]
}
