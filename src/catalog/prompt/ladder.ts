import { countPoints, cutPoints } from '../shown-text.ts'

/** One skill that can be shown in several lengths. Texts are made only when a rung of the ladder needs them. */
export interface Entry {
  readonly name: string
  readonly nameLine: () => string
  /** Absent when the style shows names only. */
  readonly described?: {
    /** The visible description, not yet escaped. */
    readonly description: () => string
    /** The lines with that description; `escape` is applied inside. */
    readonly line: (description: string) => string
    readonly escape: (text: string) => string
  }
}

/** What fits: a line for each of the first entries, and how each is shown. The other entries are left out. */
export interface Rung {
  readonly lines: readonly string[]
  readonly shown: readonly ('full' | 'shortened' | 'name')[]
}

interface Room {
  /** Code points for all lines together. */
  readonly room: number
  /** Skills that are left out in any case. */
  readonly uncounted: number
  /** Code points of the line that says how many were left out. */
  readonly moreChars: (count: number) => number
}

/** Shorter descriptions than this no longer lead a model to the right skill. Source: decisions, "prompt index". */
const MIN_CAP = 80

/** The highest rung that fits: whole descriptions, descriptions cut evenly, all names, the first names. Linear in what is shown. */
export function climb(entries: readonly Entry[], { room, uncounted, moreChars }: Room): Rung {
  const spare = room - (uncounted > 0 ? moreChars(uncounted) : 0)
  const measures = createMeasures(entries)
  const cap = fits(measures, { cap: Number.POSITIVE_INFINITY, spare })
    ? Number.POSITIVE_INFINITY
    : longestCap(measures, spare)
  if (cap !== undefined) return describe(entries, cap)
  const all = names(entries, spare)
  return all.length === entries.length
    ? named(all)
    : named(names(entries, room - moreChars(entries.length + uncounted)))
}

/** What one entry costs: its line without a description, the description's code points, and where escaping adds more. */
interface Measure {
  readonly frame: number
  readonly points: number
  /** Code point positions of escaped characters, with what all up to there add. */
  readonly escapes: readonly { readonly at: number; readonly added: number }[]
}

interface Measures {
  readonly count: number
  /** The measure of entry `index`, made once. */
  at(index: number): Measure
}

function createMeasures(entries: readonly Entry[]): Measures {
  const made: Measure[] = []
  return {
    count: entries.length,
    at: (index) => (made[index] ??= measure(entries[index] as Entry)),
  }
}

function measure({ nameLine, described }: Entry): Measure {
  if (!described) return { frame: countPoints(nameLine()), points: 0, escapes: [] }
  const description = described.description()
  if (description === '') return { frame: countPoints(described.line('')), points: 0, escapes: [] }
  return {
    frame: countPoints(described.line('x')) - 1,
    points: countPoints(description),
    escapes: escapesIn(description, described.escape),
  }
}

function escapesIn(description: string, escape: (text: string) => string): Measure['escapes'] {
  if (escape(description).length === description.length) return []
  const escapes: { at: number; added: number }[] = []
  let at = 0
  let added = 0
  for (const character of description) {
    const more = escape(character).length - character.length
    if (more > 0) escapes.push({ at, added: (added += more) })
    at++
  }
  return escapes
}

function cost({ frame, points, escapes }: Measure, cap: number): number {
  if (points <= cap) return frame + points + (escapes.at(-1)?.added ?? 0)
  // The last of the capped code points is the ellipsis, so escapes count up to the one before.
  let added = 0
  for (const escape of escapes) {
    if (escape.at >= cap - 1) break
    added = escape.added
  }
  return frame + cap + added
}

function fits(measures: Measures, { cap, spare }: { cap: number; spare: number }): boolean {
  let used = 0
  for (let index = 0; index < measures.count; index++) {
    used += cost(measures.at(index), cap)
    if (used > spare) return false
  }
  return used <= spare
}

/** The longest cap of at least 80 with which all descriptions fit; undefined when not even that one does. */
function longestCap(measures: Measures, spare: number): number | undefined {
  if (!fits(measures, { cap: MIN_CAP, spare })) return undefined
  let low = MIN_CAP
  let high = MIN_CAP
  for (let index = 0; index < measures.count; index++) high = Math.max(high, measures.at(index).points)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (fits(measures, { cap: middle, spare })) low = middle
    else high = middle
  }
  return low
}

function describe(entries: readonly Entry[], cap: number): Rung {
  const lines: string[] = []
  const shown: Rung['shown'][number][] = []
  for (const { nameLine, described } of entries) {
    const description = described?.description() ?? ''
    const cut = cap === Number.POSITIVE_INFINITY ? description : cutPoints(description, cap)
    lines.push(described ? described.line(cut) : nameLine())
    shown.push(!described ? 'name' : cut === description ? 'full' : 'shortened')
  }
  return { lines, shown }
}

/** The lines of the first names that fit. */
function names(entries: readonly Entry[], spare: number): string[] {
  const lines: string[] = []
  let used = 0
  for (const { nameLine } of entries) {
    const line = nameLine()
    used += countPoints(line)
    if (used > spare) break
    lines.push(line)
  }
  return lines
}

function named(lines: readonly string[]): Rung {
  return { lines, shown: lines.map(() => 'name') }
}
