/** view: how a mirror is mounted for a command that may see only parts of its workspace. */
import { posix } from 'node:path'
import { Tree } from '../../files/index.ts'
import { holds, type OpenPaths } from '../open-paths.ts'
import type { Seen } from '../runner/protocol.ts'

/**
 * The mounts, in this order. `directory` is the mirror, in which no command runs now: what is found there is mounted.
 * A place that does not exist, or to which a link leads, is not opened; `missing` names those that could have been written.
 */
export function viewOf(directory: string, open: OpenPaths): { readonly view: Seen[]; readonly missing: string[] } {
  const tree = new Tree(directory)
  try {
    const kindOf = (place: string): string | undefined => (place === '' ? 'directory' : tree.entry(place)?.kind)
    const exists = (place: string): boolean => ['directory', 'file'].includes(kindOf(place) ?? '')
    const opened = (places: readonly string[], as: Seen['as']): Seen[] =>
      places.filter(exists).map((path) => ({ path, as }))
    const view: Seen[] = [
      ...(open.read[0] === '' ? [] : [{ path: '', as: 'empty' } as const]),
      ...opened(open.read, 'read'),
      ...opened(open.write, 'write'),
      ...opened(waysTo(open), 'write'),
      ...open.closed.filter(exists).map((path): Seen => ({ path, as: kindOf(path) === 'file' ? 'closed' : 'empty' })),
    ]
    return { view, missing: open.write.filter((place) => !exists(place)) }
  } finally {
    tree.close()
  }
}

/** Directories between a place that may be written and what is closed in it. As mounts of their own they cannot be renamed with it. */
function waysTo({ write, closed }: OpenPaths): string[] {
  const ways = closed.flatMap((place) => {
    const parents: string[] = []
    for (let at = posix.dirname(place); at !== '.'; at = posix.dirname(at)) parents.push(at)
    return parents.filter((parent) => write.some((other) => other !== parent && holds(other, parent)))
  })
  return [...new Set(ways)].toSorted()
}
