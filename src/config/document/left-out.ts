import type { PathKey, YamlFile } from './read-yaml.ts'

/**
 * The file as seen from a document of which the parts were left out, all at once: what followed them in a list has moved up there, and
 * not in the file.
 */
export function withoutParts(file: YamlFile, parts: Iterable<readonly PathKey[]>): YamlFile {
  const byList = new Map<string, Set<number>>()
  for (const keys of parts) {
    const last = keys.at(-1)
    if (typeof last !== 'number') continue
    const list = JSON.stringify(keys.slice(0, -1))
    byList.set(list, (byList.get(list) ?? new Set()).add(last))
  }
  if (byList.size === 0) return file
  const gaps = new Map([...byList].map(([list, indexes]) => [list, [...indexes].toSorted((a, b) => a - b)]))
  const before = (keys: readonly PathKey[]): readonly PathKey[] => {
    const found: PathKey[] = []
    for (const key of keys)
      found.push(typeof key === 'number' ? indexBefore(key, gaps.get(JSON.stringify(found))) : key)
    return found
  }
  return { ...file, locate: (keys) => file.locate(before(keys)), inFile: (keys) => file.inFile(before(keys)) }
}

/** Where an item stood when the gaps were still filled; they are in order. */
function indexBefore(index: number, gaps: readonly number[] = []): number {
  let at = index
  for (const gap of gaps) if (gap <= at) at++
  return at
}
