/** child-request: what a request for a child agent has beyond its parent. Decisions do not rest on it: ceilings hold anyway. Pure. */
import { type Groups, leavesOf } from './groups.ts'
import { combineLimits } from './limits.ts'
import type { PermissionDelta, ToolPermission } from '../kernel/index.ts'
import { LEVELS, type Permissions, toolPermission } from './permissions.ts'
import { toolCovered } from './tool-entries.ts'

/** Why a child may not have what was asked for it. */
export type Excess =
  | { readonly what: 'preset'; readonly preset: string }
  | { readonly what: 'delta'; readonly part: 'paths' | 'tool' | 'timeout' | 'confirmation'; readonly entry: string }

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
  const path = pathBeyond(parent.allowedPaths, delta.allowedPaths)
  if (path !== undefined) return { what: 'delta', part: 'paths', entry: path }
  const overrides = Object.entries(delta.toolOverrides ?? {})
  const enabled = overrides.flatMap(([entry, { enabled: isOn }]) => (isOn ? [entry] : []))
  const off = [...(delta.enableTools ?? []), ...enabled].find((entry) => isAnyDisabled(parent, entry, groups))
  if (off !== undefined) return { what: 'delta', part: 'tool', entry: off }
  for (const [entry, asked] of overrides) {
    const beyond = overrideBeyond(parent, asked, { entry, had: toolPermission(parent, entry, groups) })
    if (beyond) return beyond
  }
  return undefined
}

function overrideBeyond(
  parent: Permissions,
  asked: ToolPermission,
  { entry, had }: { readonly entry: string; readonly had: ToolPermission },
): Excess | undefined {
  const path = pathBeyond(had.allowedPaths ?? parent.allowedPaths, asked.allowedPaths)
  if (path !== undefined) return { what: 'delta', part: 'paths', entry: path }
  if (isLonger(had.timeoutMs ?? parent.defaultToolTimeoutMs ?? 0, asked.timeoutMs))
    return { what: 'delta', part: 'timeout', entry }
  const isSilenced = asked.requiresConfirmation === false && had.requiresConfirmation
  return isSilenced ? { what: 'delta', part: 'confirmation', entry } : undefined
}

/** 0: without a limit. */
function isLonger(most: number, asked: number | undefined): boolean {
  return asked !== undefined && most > 0 && (asked === 0 || asked > most)
}

/** Whether something that the entry covers is disabled: the entry may be a group or a pattern, and so may what disables. */
function isAnyDisabled(parent: Permissions, entry: string, groups: Groups): boolean {
  const leaves = (of: string): string[] => [...leavesOf(of, groups)].map((leaf) => leaf.entry)
  const disabled = parent.tools.filter(({ permission }) => permission.enabled === false)
  const named = disabled.flatMap((line) => leaves(line.entry)).filter((name) => toolCovered(entry, name, groups))
  return [...leaves(entry), ...named].some((name) => toolPermission(parent, name, groups).enabled === false)
}

/** The first path that a list adds to what the parent has; null: every path. */
function pathBeyond(has: readonly string[] | null, asked: readonly string[] | null | undefined): string | undefined {
  if (asked === undefined || has === null) return undefined
  if (asked === null) return '/'
  return asked.find((path) => combineLimits([{ readPaths: has }, { readPaths: [path] }]).readPaths?.[0] !== path)
}
