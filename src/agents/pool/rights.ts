/** rights: the rules of an agent that is to be made, from those of its parent. Decisions rest on the saved ceilings, never on a preset's name. */
import { isAbsolute, resolve } from 'node:path'
import {
  type AgentRules,
  applyDelta,
  type Ceiling,
  combineLimits,
  exceeds,
  type Permissions,
  presetPermissions,
  unnamedPermissions,
} from '../../authorize/index.ts'
import type { PermissionDelta, PresetInput } from '../../kernel/index.ts'
import type { AgentProfile } from '../../runtime/index.ts'
import { BEYOND_PRESET, POOL, poolError } from './messages.ts'
import type { CreateRequest } from './types.ts'

/** Where a new agent comes from. */
export interface Origin {
  /** The path of the parent, or the id of the configured agent. */
  readonly of: string
  readonly rules: AgentRules
  /** Names of the skills it sees; undefined: all. */
  readonly skills: readonly string[] | undefined
  /** Whether a request without a preset gets the permissions of the origin: it is the user who asks. */
  readonly isUsers: boolean
}

export interface RightsContext {
  readonly presets: Readonly<Record<string, PresetInput>>
  /** Absolute. */
  readonly workspace: string
}

export interface NewRights {
  readonly rules: AgentRules
  readonly skills: readonly string[] | undefined
  /** Sentences about what the preset has and the parent does not. */
  readonly clipped: readonly string[]
}

const SHIPPED = ['yolo', 'trusted', 'sandboxed', 'worker'] as const

/** The preset of a child that names none: never more than its parent. Source: decisions, "presets". */
const CHILD_PRESET = 'sandboxed'

/** The rules of a configured agent; undefined when it may call nothing. A runtime without configuration has agents in the workspace only. */
export function rulesOfProfile(
  { id, policy, rules, inherited }: AgentProfile,
  workspace: string,
): AgentRules | undefined {
  if (rules || inherited) return rules
  const permissions = unnamedPermissions(workspace, { isConfined: true })
  return { policy, permissions, destructiveTools: [], ceilings: [{ of: id, policy, permissions }] }
}

/** Throws INVALID_ARGUMENT for a preset or path that does not exist, CALL_DENIED for more than the ceilings of the origin. */
export function newRights(
  path: string,
  { origin, request }: { readonly origin: Origin; readonly request: CreateRequest },
  context: RightsContext,
): NewRights {
  const { rules, of } = origin
  const { ceilings } = rules
  const [above] = ceilings
  // Rules that were read have at least one.
  const policy = above?.policy ?? rules.policy
  const base = baseOf(origin, request, context)
  const delta = request.permissions && absolute(request.permissions, context)
  for (const ceiling of ceilings) {
    const excess = exceeds(ceiling.permissions, { base, delta }, ceiling.policy.groups)
    if (excess?.what === 'preset') throw poolError('CALL_DENIED', POOL.presetBeyond(excess.preset, of), BEYOND_PRESET)
    if (excess) throw poolError('CALL_DENIED', POOL.deltaBeyond(of, excess))
  }
  const wanted = delta ? applyDelta(base, delta) : base
  const { permissions, clipped } = clip(wanted, ceilings)
  const own: Ceiling = { of: path, policy, permissions }
  return {
    rules: { policy, permissions, destructiveTools: rules.destructiveTools ?? [], ceilings: [own, ...ceilings] },
    skills: skillsOf(origin, request),
    clipped,
  }
}

function baseOf({ rules, isUsers }: Origin, { preset }: CreateRequest, context: RightsContext): Permissions {
  if (preset === undefined && isUsers) return rules.permissions
  const base = presetPermissions(preset ?? CHILD_PRESET, context)
  if ('problem' in base)
    throw poolError('INVALID_ARGUMENT', POOL.unknownPreset(base.name, [...SHIPPED, ...Object.keys(context.presets)]))
  return base
}

/** Paths of a request may be relative to the workspace; symbolic links are looked at by the tools. */
function absolute(delta: PermissionDelta, { workspace }: RightsContext): PermissionDelta {
  const toPath = (path: string): string => {
    // A control character would make another path than is shown.
    const isOdd = path === '' || /^~|^[a-z][a-z0-9+.-]+:/i.test(path) || [...path].some((char) => char < ' ')
    if (isOdd) throw poolError('INVALID_ARGUMENT', POOL.badPath(path))
    return isAbsolute(path) ? resolve(path) : resolve(workspace, path)
  }
  const toPaths = <T extends readonly string[] | null | undefined>(paths: T) => paths?.map(toPath) ?? paths
  const overrides = Object.entries(delta.toolOverrides ?? {}).map(
    ([tool, { allowedPaths, ...more }]) =>
      [tool, { ...more, ...(allowedPaths !== undefined && { allowedPaths: toPaths(allowedPaths) }) }] as const,
  )
  return {
    ...delta,
    ...(delta.allowedPaths !== undefined && { allowedPaths: toPaths(delta.allowedPaths) }),
    ...(delta.addBlockedPaths && { addBlockedPaths: delta.addBlockedPaths.map(toPath) }),
    ...(delta.toolOverrides && { toolOverrides: Object.fromEntries(overrides) }),
  }
}

/** The permissions within all ceilings, as far as they are paths and flags; tools are left to the decision. */
function clip(
  wanted: Permissions,
  ceilings: readonly Ceiling[],
): { readonly permissions: Permissions; readonly clipped: readonly string[] } {
  const all = ceilings.map(({ permissions }) => permissions)
  const allowedPaths = all.reduce((paths, { allowedPaths: most }) => common(paths, most), wanted.allowedPaths)
  const network = wanted.network && all.every((each) => each.network)
  const isReadOnly = wanted.isReadOnly || all.some((each) => each.isReadOnly)
  const blockedPaths = [...new Set([wanted, ...all].flatMap((each) => each.blockedPaths))]
  const shown = (paths: readonly string[] | null): string =>
    paths === null ? 'every path' : paths.join(', ') || 'none'
  const isSame = JSON.stringify(allowedPaths) === JSON.stringify(wanted.allowedPaths)
  const clipped = [
    ...(isSame ? [] : [POOL.clippedPaths(shown(wanted.allowedPaths), shown(allowedPaths))]),
    ...(network === wanted.network ? [] : [POOL.clippedFlag('network')]),
    ...(isReadOnly === wanted.isReadOnly ? [] : [POOL.clippedFlag('right to write files')]),
  ]
  return { permissions: { ...wanted, allowedPaths, network, isReadOnly, blockedPaths }, clipped }
}

/** The paths that are in both lists; null: every path. */
function common(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  if (one === null || other === null) return one ?? other
  return combineLimits([{ readPaths: one }, { readPaths: other }]).readPaths ?? []
}

function skillsOf({ skills, of }: Origin, request: CreateRequest): readonly string[] | undefined {
  if (!request.skills) return skills
  const unseen = skills && request.skills.find((name) => !skills.includes(name))
  if (unseen !== undefined) throw poolError('CALL_DENIED', POOL.skillBeyond(unseen, of))
  return request.skills
}
