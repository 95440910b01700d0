/** limits: how the limits of several rules combine. Absent = no limit, and every combination is at most as wide as each part. */
import { type CallLimits, containsDomain } from '../kernel/index.ts'

/** The strictest of all limits: shortest time, intersection of what is allowed, union of what is denied. Order and repetition do not matter. */
export function combineLimits(given: readonly CallLimits[]): CallLimits {
  const parts = given.filter((part) => Object.keys(part).length > 0)
  if (parts.length === 0) return {}
  const timeoutMs = shortest(each(parts, 'timeoutMs'))
  const readPaths = narrowest(each(parts, 'readPaths'), holdsPath)
  const writePaths = narrowest(each(parts, 'writePaths'), holdsPath)
  const blockedPaths = union(each(parts, 'blockedPaths'))
  const networkDomains = narrowest(each(parts, 'networkDomains'), containsDomain)
  const secrets = narrowest(each(parts, 'secrets'), (wide, name) => wide === name)
  const deniedCapabilities = union(each(parts, 'deniedCapabilities'))
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(readPaths && { readPaths }),
    ...(writePaths && { writePaths }),
    ...(blockedPaths && { blockedPaths: outermost(blockedPaths, holdsPath) }),
    ...(networkDomains && { networkDomains }),
    ...(secrets && { secrets }),
    ...(deniedCapabilities && { deniedCapabilities }),
    ...(parts.some(({ confirmation }) => confirmation) && { confirmation: true }),
  }
}

type Holds = (wide: string, narrow: string) => boolean

/** True when the path is `directory` or below it; both absolute and normal. */
function holdsPath(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

function each<Name extends keyof CallLimits>(
  parts: readonly CallLimits[],
  name: Name,
): readonly NonNullable<CallLimits[Name]>[] {
  return parts.map((part) => part[name]).filter((value) => value !== undefined)
}

/** 0 means no limit, as in the options of a tool. */
function shortest(times: readonly number[]): number | undefined {
  const set = times.filter((time) => time > 0)
  return set.length === 0 ? undefined : Math.min(...set)
}

/** Entries that all lists allow. Two entries are disjoint, or one holds the other: then the narrower one is allowed. */
function narrowest(lists: readonly (readonly string[])[], holds: Holds): readonly string[] | undefined {
  const [first, ...rest] = lists
  if (!first) return undefined
  const narrower = (one: string, other: string): string[] => {
    if (holds(one, other)) return [other]
    return holds(other, one) ? [one] : []
  }
  const both = (a: readonly string[], b: readonly string[]): readonly string[] =>
    a.flatMap((one) => b.flatMap((other) => narrower(one, other)))
  return outermost(rest.reduce(both, first), holds)
}

function union(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  return lists.length === 0 ? undefined : [...new Set(lists.flat())].toSorted()
}

/** Normalised so that equal lists compare equal: sorted, without entries that another one contains. */
function outermost(entries: readonly string[], holds: Holds): readonly string[] {
  const all = [...new Set(entries)].toSorted()
  return all.filter((entry) => !all.some((other) => other !== entry && holds(other, entry)))
}
