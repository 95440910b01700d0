/** Longer names are compared by their beginning: nobody mistypes beyond this, and the work stays bounded. */
const MAX_COMPARED = 64

/**
 * The candidate that `name` is most likely a slip of, or undefined when none is near: at most a third of its letters
 * changed, added, lost or swapped with their neighbour, whatever the case. The first of equals wins.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = comparable(name)
  let best: string | undefined
  let limit = Math.max(1, Math.floor(wanted.length / 3)) + 1
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
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      current.push(cost)
    }
    if (Math.min(...current) >= limit) return limit
    beforeLast = last
    last = current
  }
  return last[b.length] ?? limit
}
