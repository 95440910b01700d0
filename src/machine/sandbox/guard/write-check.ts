/** write-check: whether a tool that writes files may change a place: what commands may not change, it may not either. */
import type { Tree } from '../../files/index.ts'
import { dependencyOf } from '../mirror/dependencies.ts'
import { holds } from '../open-paths.ts'
import { followPlaces, mayLead } from './followed.ts'
import { isRepository, type ProtectedPlaces, Protection, type Surroundings } from './protected.ts'

/** Entries that are searched for links and configurations that lead elsewhere: as many as a workspace may have files. */
const MAX_LOOKED_AT = 20_000

/** A write and its place. */
export interface Written {
  /** Opened at its real path. */
  readonly tree: Tree
  /** That path. */
  readonly root: string
  /** Relative to the tree; it need not exist. */
  readonly path: string
  readonly places: ProtectedPlaces
}

/** The protected place that a file to be written is or is in, relative to the tree; undefined when it may be written. Throws FileError. */
export async function protectedPlace({ tree, root, path, places }: Written): Promise<string | undefined> {
  const protection = new Protection(places)
  const exists = (at: string): boolean => tree.entry(at) !== undefined
  const around: Surroundings = {
    // With the directories that are made for it.
    exists: (at) => holds(at, path) || exists(at),
    wasRepository: (directory) => isRepository(directory === '' ? [] : directory.split('/'), exists),
  }
  const place = protection.placeOf(path, tree.entry(path)?.kind ?? 'file', around)
  if (place !== undefined) return place
  // Above every workspace there is no project to search.
  const followed = root === '/' ? [] : followPlaces(root, await leadingPlaces(tree, protection))
  return followed.find((at) => holds(at, path)) ?? dependencyOf(tree, path, places.writable)
}

/** Protected places that lead to others. Commands cannot make one, so what a search that ends early misses is the user's own. */
async function leadingPlaces(tree: Tree, protection: Protection): Promise<string[]> {
  const around: Surroundings = { exists: (at) => tree.entry(at) !== undefined, wasRepository: () => true }
  const leading: string[] = []
  await tree.walk({
    maxEntries: MAX_LOOKED_AT,
    visit: ({ path, name, kind }) => {
      if (mayLead(path, kind) && protection.placeOf(path, kind, around) !== undefined) leading.push(path)
      return name !== 'node_modules'
    },
    // A link that we cannot read leads nowhere for us.
    onClosed: () => undefined,
  })
  return leading
}
