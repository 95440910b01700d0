/**
 * Long work cut into steps of some microseconds: it yields between them and returns what it found. One text for both ways
 * to run it, so that both have one outcome.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** Asked between two steps; what it returns is awaited, so that a server stays alive. It may throw or reject. */
export type Breathe = () => Promise<void> | undefined

/** Items that are looked at between two steps, when one takes less than a microsecond. */
export const STRIDE = 64
/** Sorted at once: the dearest comparing takes some microseconds. */
const RUN = 256

/** To the end without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same with pauses, for thousands of skills in a server. */
export async function inSlices<T>(steps: Steps<T>, breathe: Breathe): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    const pause = breathe()
    if (pause) await pause
  }
}

/** The items in order, equal ones as they came. Few are sorted in place; of many, runs are sorted and merged. */
export function* sorted<T>(items: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  if (items.length <= RUN) return items.sort(compare)
  let runs: T[][] = []
  for (let from = 0; from < items.length; from += RUN) {
    runs.push(items.slice(from, from + RUN).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* merge(runs[index] ?? [], runs[index + 1] ?? [], compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* merge<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const [last] = left.slice(-1)
  const [first] = right
  // Nearly always so: folders are listed in order.
  if (last === undefined || first === undefined || compare(last, first) <= 0) return [...left, ...right]
  const merged: T[] = []
  let [l, r] = [0, 0]
  while (l < left.length && r < right.length) {
    if ((l + r) % STRIDE === 0) yield
    const [a, b] = [left[l] as T, right[r] as T]
    if (compare(a, b) <= 0) {
      merged.push(a)
      l++
    } else {
      merged.push(b)
      r++
    }
  }
  return [...merged, ...left.slice(l), ...right.slice(r)]
}
