import { cutPoints } from '../shown-text.ts'

/** One skill that can be shown in several lengths. */
export interface Entry {
  readonly name: string
  /** The visible description, not yet escaped; absent when the style shows names only. */
  readonly description?: string
  /** Position from 0; the last ones lose their description, then their line, first. */
  readonly rank: number
  /** The lines with that description, or with the name alone. */
  readonly line: (shown?: { readonly description: string; readonly hasLocation: boolean }) => string
  /** Code points of these lines: with whole description and location, and with a description of at most so many code points. */
  readonly whole: { readonly withLocation: () => number; readonly without: number }
  readonly atCap: (cap: number, hasLocation: boolean) => number
  readonly nameOnly: number
}

/** How each entry is shown, in the order of the entries; the line is empty for one that is left out. */
export type Fitted = readonly {
  readonly line: string
  readonly shown: 'full' | 'shortened' | 'name' | 'omitted'
}[]

export interface Room {
  /** Code points for all lines together. */
  readonly room: number
  /** Skills that are left out in any case. */
  readonly uncounted: number
  /** Code points of the line with the number of skills that were left out. */
  readonly moreChars: (count: number) => number
  /** Whether locations may be left out: a tool loads skills by name. */
  readonly canDropLocations: boolean
}

/** Shorter descriptions than this no longer lead a model to the right skill. Source: decisions, "budget ladder". */
const MIN_CAP = 40

/**
 * The first rung that fits: everything, no locations, descriptions cut evenly, the last in rank by name only, the last in rank left out.
 * Each rung is used up before the next. Source: decisions, "budget ladder".
 */
export function fit(entries: readonly Entry[], { room, uncounted, moreChars, canDropLocations }: Room): Fitted {
  const spare = room - (uncounted > 0 ? moreChars(uncounted) : 0)
  // Locations are made only when everything else fits.
  const hasSpace = sum(entries, ({ whole }) => whole.without) <= spare
  if (hasSpace && sum(entries, ({ whole }) => whole.withLocation()) <= spare)
    return lines(entries, () => ({ cap: Infinity, hasLocation: true }))
  const hasLocation = !canDropLocations
  const ranked = entries.toSorted((a, b) => a.rank - b.rank)
  const size = (described: number, cap: number): number =>
    sum(ranked, (entry, index) => (index < described ? entry.atCap(cap, hasLocation) : entry.nameOnly))

  const described = largest(0, entries.length, (count) => size(count, MIN_CAP) <= spare)
  if (described !== undefined) {
    const longest = entries.reduce((most, { description = '' }) => Math.max(most, description.length), MIN_CAP)
    const cap = largest(MIN_CAP, longest, (each) => size(described, each) <= spare) ?? MIN_CAP
    const isDescribed = new Set(ranked.slice(0, described))
    return lines(entries, (entry) => (isDescribed.has(entry) ? { cap, hasLocation } : 'name'))
  }
  const left = room - moreChars(entries.length + uncounted)
  const named =
    largest(0, entries.length, (count) => sum(ranked.slice(0, count), ({ nameOnly }) => nameOnly) <= left) ?? 0
  const isNamed = new Set(ranked.slice(0, named))
  return lines(entries, (entry) => (isNamed.has(entry) ? 'name' : 'omitted'))
}

function lines(
  entries: readonly Entry[],
  how: (entry: Entry) => { readonly cap: number; readonly hasLocation: boolean } | 'name' | 'omitted',
): Fitted {
  return entries.map((entry) => {
    const { description, line } = entry
    const shown = how(entry)
    if (shown === 'omitted') return { line: '', shown }
    if (shown === 'name' || description === undefined) return { line: line(), shown: 'name' }
    const cut = shown.cap === Infinity ? description : cutPoints(description, shown.cap)
    const { hasLocation } = shown
    return { line: line({ description: cut, hasLocation }), shown: cut === description ? 'full' : 'shortened' }
  })
}

function sum(entries: readonly Entry[], size: (entry: Entry, index: number) => number): number {
  return entries.reduce((total, entry, index) => total + size(entry, index), 0)
}

/** The largest number from `low` to `high` that fits; undefined when not even `low` does. More never fits where less does not. */
function largest(low: number, high: number, fits: (value: number) => boolean): number | undefined {
  if (!fits(low)) return undefined
  if (fits(high)) return high
  let [most, least] = [low, high]
  while (least - most > 1) {
    const middle = Math.floor((most + least) / 2)
    if (fits(middle)) most = middle
    else least = middle
  }
  return most
}
