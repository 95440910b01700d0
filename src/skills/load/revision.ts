/** revision: whether the files of a skill are still those that a session loaded. */
import type { Skill } from '../../kernel/index.ts'
import { readManifest } from '../../machine/skill-files/index.ts'
import type { LoadedInSession } from './skill-stacks.ts'

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
  try {
    return (await readManifest(skill, { signal })).treeDigest !== treeDigest
  } catch {
    return false
  }
}

/** Per skill the revision that was loaded last. */
export function latestLoaded(loaded: readonly LoadedInSession[]): readonly LoadedInSession[] {
  return [...new Map(loaded.map((each) => [each.address, each])).values()]
}
