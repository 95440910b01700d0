/** child-request: what a request for a child agent has beyond its parent. Decisions do not rest on it: ceilings hold anyway. Pure. */
import { type Groups, leavesOf, toolCovered } from './groups.ts'
import { combineLimits } from './limits.ts'
import { containsDomain, type PermissionDelta, type ToolPermission } from '../kernel/index.ts'
import { LEVELS, type Permissions, toolPermission } from './permissions.ts'

/** Why a child may not have what was asked for it. */
export type Excess =
  | { readonly what: 'preset'; readonly preset: string }
  | {
      readonly what: 'delta'
      readonly part: 'paths' | 'network' | 'tool' | 'timeout' | 'confirmation'
      readonly entry: string
    }

/**
 * The first part of a request that its parent does not have: a higher preset, or an explicit delta. What a preset brings along is
 * only clipped. Source: contracts §1.7; decisions, "child asks for more".
 */
export function exceeds(
  parent: Permissions,
  child: { readonly base: Permissions; readonly delta?: PermissionDelta },
  groups: Groups,
): Excess | undefined {
  const { base, delta = {} } = child
  if (LEVELS.indexOf(base.level) > LEVELS.indexOf(parent.level)) return { what: 'preset', preset: base.preset }
  const path = pathBeyond([parent.allowedPaths], delta.allowedPaths)
  if (path !== undefined) return { what: 'delta', part: 'paths', entry: path }
  const host = hostBeyond(parent.network, delta.network)
  if (host !== undefined) return { what: 'delta', part: 'network', entry: host }
  const overrides = Object.entries(delta.toolOverrides ?? {})
  const enabled = overrides.flatMap(([entry, { enabled: isOn }]) => (isOn ? [entry] : []))
  const had = (entry: string): readonly ToolPermission[] =>
    namedBy(parent, entry, groups).map((name) => toolPermission(parent, name, groups))
  const off = [...(delta.enableTools ?? []), ...enabled].find((entry) =>
    had(entry).some((permission) => permission.enabled === false),
  )
  if (off !== undefined) return { what: 'delta', part: 'tool', entry: off }
  for (const [entry, asked] of overrides)
    for (const one of had(entry)) {
      const beyond = overrideBeyond(parent, asked, { entry, had: one })
      if (beyond) return beyond
    }
  return undefined
}

function overrideBeyond(
  parent: Permissions,
  asked: ToolPermission,
  { entry, had }: { readonly entry: string; readonly had: ToolPermission },
): Excess | undefined {
  // Paths of a tool that are null are those of its agent. Source: decisions, "paths of a tool and of its agent".
  const path = pathBeyond([parent.allowedPaths, had.allowedPaths ?? null], asked.allowedPaths ?? undefined)
  if (path !== undefined) return { what: 'delta', part: 'paths', entry: path }
  if (isLonger(had.timeoutMs ?? parent.defaultToolTimeoutMs ?? 0, asked.timeoutMs))
    return { what: 'delta', part: 'timeout', entry }
  const isSilenced = asked.requiresConfirmation === false && had.requiresConfirmation
  return isSilenced ? { what: 'delta', part: 'confirmation', entry } : undefined
}

/** The first asked host that the parent may not reach; `*`: any host. */
function hostBeyond(had: Permissions['network'], asked: PermissionDelta['network']): string | undefined {
  if (asked === undefined || asked === false || had === true) return undefined
  const hosts = asked === true ? ['*'] : asked
  return hosts.find((host) => had === false || !had.some((pattern) => containsDomain(pattern, host)))
}

/** 0: without a limit. */
function isLonger(most: number, asked: number | undefined): boolean {
  return asked !== undefined && most > 0 && (asked === 0 || asked > most)
}

/** The names and patterns in an entry, and those of the parent's lines that it covers: both may be groups or patterns. */
function namedBy({ tools }: Permissions, entry: string, groups: Groups): string[] {
  const leaves = (of: string): string[] => [...leavesOf(of, groups)].map((leaf) => leaf.entry)
  const named = tools.flatMap((line) => leaves(line.entry)).filter((name) => toolCovered(entry, name, groups))
  return [...leaves(entry), ...named]
}

/** The first asked path that is not in all of the lists; null: every path. */
function pathBeyond(
  has: readonly (readonly string[] | null)[],
  asked: readonly string[] | null | undefined,
): string | undefined {
  const lists = has.filter((list) => list !== null)
  if (asked === undefined || lists.length === 0) return undefined
  if (asked === null) return '/'
  return asked.find((path) => {
    const both = combineLimits([...lists, [path]].map((readPaths) => ({ readPaths })))
    return both.readPaths?.[0] !== path
  })
}
