/** grants: permissions as layers of a decision: those of the agent itself, and the ceilings of it and its ancestors. Pure. */
import type { Call, CallLimits, Ruling, Tool, ToolPermission } from '../kernel/index.ts'
import type { Layer } from './decide.ts'
import { type Groups, needsNetwork, oncePerTool, toolCovered } from './groups.ts'
import { combineLimits } from './limits.ts'
import { MESSAGES } from './messages.ts'
import { toPolicyName } from './names.ts'
import { type Permissions, toolPermission } from './permissions.ts'
import { type PolicyRules, rulesOfTool } from './policy.ts'

/** Tools that a trusted agent confirms. Source: contracts §1.7; decisions, "presets". */
const DESTRUCTIVE: readonly string[] = [
  ...['delete', 'remove', 'overwrite', 'write', 'execute', 'shutdown', 'write_file', 'edit_file', 'run_command'],
  ...['nexus_destroy', 'nexus_shutdown'],
  ...['skills.activate', 'skills.run_cmd', 'skills.run_cmd_async', 'skills.run_service', 'skills.start_job'],
]

/** Tools that can do nothing without a path to read: commands have no directory to start in. */
const NEEDS_READ: readonly string[] = [
  ...['run_command', 'skills.run_cmd', 'skills.run_cmd_async', 'skills.run_service'],
  ...['read_file', 'list_directory'],
]
const CHANGES_FILES: readonly string[] = ['write_file', 'edit_file']

export interface GrantOptions {
  /** Names, groups and patterns that a trusted agent confirms besides the usual ones. */
  readonly destructiveTools?: readonly string[]
  /** Over MCP the client asks its own user about destructive tools. A preset that was named asks there too. Default true. */
  readonly asksOverMcp?: boolean
}

/** A person at the command line, or the program itself, makes these calls: the caller is not asked about its own call. */
const OWN_CALLS: readonly Call['origin'][] = ['cli', 'library']

const EVERYWHERE: readonly string[] = ['/']

type Said = Omit<Ruling, 'layer'>

/** The layer of what an agent is granted. Its preset asks about destructive tools, and a trusted skill may answer that beforehand. */
export function grantsLayer(permissions: Permissions, options: GrantOptions = {}): Layer {
  const { destructiveTools = [], asksOverMcp = true } = options
  const destructive = [...DESTRUCTIVE, ...destructiveTools]
  const own: readonly Call['origin'][] = asksOverMcp ? OWN_CALLS : [...OWN_CALLS, 'mcp']
  const granted = oncePerTool((groups: Groups, tool) => {
    const said = decideByPermissions(permissions, { groups, tool })
    const asks =
      permissions.level === 'trusted' &&
      said.type !== 'deny' &&
      !said.limits?.confirmation &&
      toolPermission(permissions, tool.name, groups).requiresConfirmation !== false &&
      destructive.some((entry) => toolCovered(entry, tool.name, groups))
    const asking: Said = asks ? { ...said, type: 'ask', isPresetOwn: true } : said
    return { said, asking }
  })
  return {
    name: 'grants',
    decide: ({ tool, policy, call }) =>
      tool && granted(policy.groups, tool)[own.includes(call.origin) ? 'said' : 'asking'],
  }
}

/** The layer of an agent whose preset does not exist: it may call nothing. */
export function noGrants(agent: string, preset: string): Layer {
  return {
    name: 'grants',
    decide: () => ({ type: 'deny', rule: `preset ${preset}`, reason: MESSAGES.unknownPreset(agent, preset) }),
  }
}

/** The ceiling of an agent and its descendants: denials, paths, limits, `ask:` rules and confirmations, without the preset's own question. */
export interface Ceiling {
  /** Whose it is, for the chain: the agent's path. */
  readonly of: string
  readonly permissions: Permissions
  readonly policy: PolicyRules
}

/** The layers of ceilings, the own one first, then those of the ancestors. */
export function ceilingLayers(ceilings: readonly Ceiling[]): readonly Layer[] {
  return ceilings.flatMap(({ of, permissions, policy }) => {
    const permitted = oncePerTool((groups: Groups, tool) => decideByPermissions(permissions, { groups, tool }))
    return [
      { name: `ceiling of ${of}`, decide: ({ tool }) => tool && permitted(policy.groups, tool) },
      { name: `policy of ${of}`, decide: ({ tool }) => tool && rulesOfTool(policy, tool) },
    ]
  })
}

function decideByPermissions(
  permissions: Permissions,
  { tool, groups }: { readonly tool: Tool; readonly groups: Groups },
): Said {
  const { preset } = permissions
  const rule = `preset ${preset}`
  const own = toolPermission(permissions, tool.name, groups)
  if (own.enabled === false) return { type: 'deny', rule, reason: MESSAGES.disabled(tool.name, preset) }
  if (!permissions.network && needsNetwork(tool.name))
    return { type: 'deny', rule, reason: MESSAGES.noNetwork(tool.name, preset) }
  const name = toPolicyName(tool.name)
  const changesFiles = CHANGES_FILES.includes(name)
  // Enabling such a tool gives it back to a preset that only reads. Source: decisions, "an explicit enable".
  const isReadOnly = permissions.isReadOnly && !(changesFiles && own.enabled)
  const limits = limitsOf({ ...permissions, isReadOnly }, own, tool)
  const needed = changesFiles ? limits.writePaths : limits.readPaths
  if (needed?.length === 0 && (changesFiles || NEEDS_READ.includes(name)))
    return { type: 'deny', rule, reason: MESSAGES.noPaths(tool.name, preset) }
  if (own.requiresConfirmation)
    return { type: 'ask', rule: `confirm ${tool.name}`, limits: { ...limits, confirmation: true } }
  return { type: 'allow', rule, limits }
}

function networkLimits(network: Permissions['network']): CallLimits[] {
  if (network === true) return []
  if (network === false) return [{ networkDomains: [], deniedCapabilities: ['network'] }]
  return [{ networkDomains: network }]
}

/** The paths of the tool and of its agent apply together; the preset's default time is for tools that have no limit of their own. */
function limitsOf(permissions: Permissions, own: ToolPermission, { options }: Tool): CallLimits {
  const { allowedPaths, blockedPaths, isReadOnly, network, defaultToolTimeoutMs } = permissions
  // Source: decisions, "time limits".
  const timeoutMs = own.timeoutMs ?? (options?.timeoutMs === undefined ? defaultToolTimeoutMs : undefined)
  const paths = [allowedPaths, own.allowedPaths ?? null].filter((list) => list !== null)
  return combineLimits([
    { timeoutMs },
    // Said, as no limit on paths at all means the workspace to a tool that works on files.
    ...(paths.length > 0 ? paths : [EVERYWHERE]).map((list) => ({ readPaths: list, writePaths: list })),
    ...(isReadOnly ? [{ writePaths: [] }] : []),
    ...(blockedPaths.length > 0 ? [{ blockedPaths }] : []),
    ...networkLimits(network),
  ])
}
