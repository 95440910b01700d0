/** outdated: which skills of a session changed since its model loaded them. */
import type { Catalog } from '../skills/catalog/index.ts'
import { isOutdated, latestLoaded, type LoadedInSession } from '../skills/load/index.ts'

/** Names of loaded skills with other files now. One that is gone is in the difference of the catalogs. */
export async function outdatedSkills(
  catalog: Catalog,
  loaded: readonly LoadedInSession[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const names: string[] = []
  for (const { address, treeDigest } of latestLoaded(loaded)) {
    const skill = catalog.skills.find((candidate) => catalog.addressOf(candidate) === address)
    if (skill && (await isOutdated(skill, treeDigest, signal))) names.push(catalog.callName(skill))
  }
  return names
}
