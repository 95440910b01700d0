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
  if (Math.abs(a.length - b.length) >= limit) return limit
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Infinity
      row.push(Math.min(changed, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1))
    }
    if (Math.min(...row) >= limit) return limit
  }
  return at(a.length, b.length)
}
