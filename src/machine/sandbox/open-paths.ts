/** open-paths: which places of a workspace a command may read and write, under the limits of its call. */
import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import type { CallLimits } from '../../kernel/index.ts'
import { REQUESTS, sandboxError } from './messages.ts'

/** Limits on paths, all absolute. */
export type PathLimits = Pick<CallLimits, 'readPaths' | 'writePaths' | 'blockedPaths'>

/** Places relative to the workspace, `''` is the workspace itself. No list has a place below another one of it. */
export interface OpenPaths {
  readonly read: readonly string[]
  /** Each is in one of `read`. */
  readonly write: readonly string[]
  /** Neither read nor written, although one of the others contains it. */
  readonly closed: readonly string[]
}

/** A workspace, or another directory, as it was asked for, and its real path. */
export interface Whole {
  readonly given: string
  readonly real: string
}

/**
 * The parts of a workspace that the limits leave; undefined when they leave all of it. Throws PATH_OUTSIDE when they leave nothing to read.
 * An allowed path is never followed through a link in the workspace, where a command could have made it. What a blocked one leads to is closed too.
 */
export function openPaths(whole: Whole, limits: PathLimits): OpenPaths | undefined {
  const { read, write, closed } = partsOf(whole, limits)
  if (read.length === 0) throw sandboxError(REQUESTS.nothingOpen(limits.readPaths ?? [], limits.blockedPaths ?? []))
  const isWhole = read[0] === '' && write[0] === '' && closed.length === 0
  return isWhole
    ? undefined
    : { read, write, closed: closed.filter((place) => read.some((other) => holds(other, place))) }
}

/** The parts of a directory that the limits leave; nothing when it is none of theirs. `closed` is also what no other list contains. */
export function partsOf(whole: Whole, { readPaths, writePaths, blockedPaths = [] }: PathLimits): OpenPaths {
  const closed = outermost(blockedPaths.flatMap((path) => [...placeOf(whole, path), ...placeOf(whole, realPath(path))]))
  const isOpen = (place: string): boolean => !closed.some((other) => holds(other, place))
  const allowed = (paths: readonly string[] | undefined): string[] =>
    paths === undefined ? [''] : paths.flatMap((path) => allowedPlace(whole, path))
  const read = outermost(allowed(readPaths).filter(isOpen))
  return { read, write: outermost(both(read, allowed(writePaths)).filter(isOpen)), closed }
}

/** Whether a directory is seen: it is in a place that may be read, or on the way to one. */
export function isSeen(directory: string, { read, closed }: OpenPaths): boolean {
  if (closed.some((place) => holds(place, directory))) return false
  return read.some((place) => holds(place, directory) || holds(directory, place))
}

/** True when a place is another one or contains it. */
export function holds(place: string, other: string): boolean {
  return place === '' || place === other || other.startsWith(`${place}/`)
}

function allowedPlace(whole: Whole, path: string): string[] {
  const [place] = placeOf(whole, path)
  if (place !== undefined) return [place]
  // Outside the workspace no command makes links: another name of a directory that contains the workspace is followed.
  return holdsPath(realPath(path), whole.real) ? [''] : []
}

/** Where a path is in the workspace, without looking at links; nothing when it is elsewhere. */
function placeOf({ given, real }: Whole, path: string): string[] {
  if (!isAbsolute(path)) return []
  if (holdsPath(path, real)) return ['']
  const root = [real, given].find((directory) => holdsPath(directory, path))
  return root === undefined ? [] : [relative(root, path)]
}

function holdsPath(directory: string, path: string): boolean {
  return holds(relative('/', directory), relative('/', path))
}

/** With all links followed, as far as the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // It does not exist, or may not be looked at: then its directory decides.
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), relative(parent, path))
  }
}

function both(some: readonly string[], others: readonly string[]): string[] {
  const narrower = (one: string, other: string): string[] => {
    if (holds(one, other)) return [other]
    return holds(other, one) ? [one] : []
  }
  return some.flatMap((one) => others.flatMap((other) => narrower(one, other)))
}

function outermost(places: readonly string[]): string[] {
  const all = [...new Set(places)].toSorted()
  return all.filter((place) => !all.some((other) => other !== place && holds(other, place)))
}
