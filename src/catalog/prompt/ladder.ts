import { countPoints, cutPoints, firstPoints } from '../shown-text.ts'

/** One skill that can be shown in several lengths. */
export interface Entry {
  readonly name: string
  /** The visible description, not yet escaped; absent when the style shows names only. */
  readonly description?: string
  /** The lines with that description, or with the name alone. */
  readonly line: (description?: string) => string
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

/** The highest rung that fits: whole descriptions, descriptions cut evenly, all names, the first names. */
export function climb(entries: readonly Entry[], { room, uncounted, moreChars }: Room): Rung {
  const spare = room - (uncounted > 0 ? moreChars(uncounted) : 0)
  const cap = longestCap(entries, spare)
  if (cap !== undefined) return describe(entries, cap)
  const all = names(entries, spare)
  return named(all.length === entries.length ? all : names(entries, room - moreChars(entries.length + uncounted)))
}

/** The longest cap with which all descriptions fit; undefined when not even the shortest one does. */
function longestCap(entries: readonly Entry[], spare: number): number | undefined {
  const longest = entries.reduce((most, { description = '' }) => Math.max(most, description.length), MIN_CAP)
  if (fits(entries, longest, spare)) return longest
  if (!fits(entries, MIN_CAP, spare)) return undefined
  let low = MIN_CAP
  let high = longest
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (fits(entries, middle, spare)) low = middle
    else high = middle
  }
  return low
}

function fits(entries: readonly Entry[], cap: number, spare: number): boolean {
  let used = 0
  for (const { description, line } of entries) {
    const isCut = description !== undefined && countPoints(description) > cap
    used += countPoints(line(isCut ? `${firstPoints(description, cap - 1)}…` : description))
    if (used > spare) return false
  }
  return used <= spare
}

function describe(entries: readonly Entry[], cap: number): Rung {
  const lines: string[] = []
  const shown: Rung['shown'][number][] = []
  for (const { description, line } of entries) {
    const cut = description === undefined ? undefined : cutPoints(description, cap)
    lines.push(line(cut))
    shown.push(cut === undefined ? 'name' : cut === description ? 'full' : 'shortened')
  }
  return { lines, shown }
}

/** The lines of the first names that fit. */
function names(entries: readonly Entry[], spare: number): string[] {
  const lines: string[] = []
  let used = 0
  for (const { line } of entries) {
    const text = line()
    used += countPoints(text)
    if (used > spare) break
    lines.push(text)
  }
  return lines
}

function named(lines: readonly string[]): Rung {
  return { lines, shown: lines.map(() => 'name') }
}
