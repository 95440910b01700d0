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

/** Some of a list: from one index to before another. Loops are in functions over these, because V8 is slow to compile loops that yield. */
export interface Stretch {
  readonly from: number
  readonly end: number
}

/** Calls `look` for one stretch after the other, until it says false. True when it never does. */
export function* everyStretch(length: number, look: (stretch: Stretch) => boolean): Steps<boolean> {
  for (let from = 0; from < length; from += STRIDE) {
    yield
    if (!look({ from, end: Math.min(from + STRIDE, length) })) return false
  }
  return true
}

type Compare<T> = (a: T, b: T) => number

/** The items in order, equal ones as they came. What is in order already is taken as it is, and merged with the rest. */
export function* sorted<T>(items: readonly T[], compare: Compare<T>): Steps<T[]> {
  let runs = yield* runsOf(items, compare)
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* merge(runs[index] ?? [], runs[index + 1] ?? [], compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

/** The items cut into parts that are in order. Folders are listed in order, so there are few; where there are none, few items are sorted at once. */
function* runsOf<T>(items: readonly T[], compare: Compare<T>): Steps<T[][]> {
  const runs: T[][] = []
  let from = 0
  while (from < items.length) {
    let last = from
    yield* everyStretch(items.length - 1 - from, (stretch) => {
      const limit = from + stretch.end
      while (last < limit && compare(items[last] as T, items[last + 1] as T) <= 0) last++
      return last === limit
    })
    const isLong = last + 1 - from >= RUN
    const end = isLong ? last + 1 : from + RUN
    const run = items.slice(from, end)
    runs.push(isLong ? run : run.sort(compare))
    from = end
    yield
  }
  return runs
}

function* merge<T>(left: T[], right: T[], compare: Compare<T>): Steps<T[]> {
  const [last] = left.slice(-1)
  const [first] = right
  if (last === undefined || first === undefined || compare(last, first) <= 0) return left.concat(right)
  const merged: T[] = []
  let l = 0
  let r = 0
  yield* everyStretch(left.length + right.length, ({ end }) => {
    while (merged.length < end && l < left.length && r < right.length) {
      const isLeft = compare(left[l] as T, right[r] as T) <= 0
      merged.push((isLeft ? left[l++] : right[r++]) as T)
    }
    return merged.length === end
  })
  return merged.concat(l < left.length ? left.slice(l) : right.slice(r))
}
