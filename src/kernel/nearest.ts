/** Longer names are compared by their beginning: a typo is rarely further back, and the work stays bounded. */
const MAX_COMPARED = 64

/**
 * The candidate that `name` is most likely a typo of, or undefined when none is near: at most a third of its letters
 * changed, added, lost or swapped with their neighbour, whatever the case, and at most `most`. The first of equals wins.
 */
export function nearest(name: string, candidates: Iterable<string>, most = Infinity): string | undefined {
  const wanted = comparable(name)
  let best: string | undefined
  let limit = Math.min(most, Math.max(1, Math.floor(wanted.length / 3))) + 1
  for (const candidate of candidates) {
    const distance = editDistance(wanted, comparable(candidate), limit)
    if (distance >= limit) continue
    best = candidate
    limit = distance
    if (distance === 0) break
  }
  return best
}

function comparable(name: string): string {
  return name.slice(0, MAX_COMPARED).normalize('NFKC').toLowerCase()
}

/** Optimal string alignment distance; any number of at least `limit` once it is known not to be smaller. */
function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = nextRow([a.slice(Math.max(0, row - 2), row), b], last, beforeLast)
    if (Math.min(...current) >= limit) return limit
    beforeLast = last
    last = current
  }
  return last[b.length] ?? limit
}

/** The row of the distance table for the last letter of `ending`, which is at most the two letters read last. */
function nextRow([ending, b]: [string, string], last: readonly number[], beforeLast: readonly number[]): number[] {
  const letter = ending.at(-1)
  const letterBefore = ending.length > 1 ? ending[0] : undefined
  const current = [at(last, 0) + 1]
  for (let column = 1; column <= b.length; column++) {
    const changed = at(last, column - 1) + (letter === b[column - 1] ? 0 : 1)
    let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, changed)
    const swapped = column > 1 && letter === b[column - 2] && letterBefore === b[column - 1]
    if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1)
    current.push(cost)
  }
  return current
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
