import type { CallLimits, Ruling, Tool } from '../kernel/index.ts'
import {
  GROUPS,
  type Groups,
  isGroup,
  leavesOf,
  type Profile,
  PROFILES,
  toGroupName,
  needsNetwork,
  oncePerTool,
} from './groups.ts'
import { MESSAGES } from './messages.ts'
import { ALIASES, entryCovers, entryCoversCapability, hasWildcard, toPolicyName } from './names.ts'

/** The tools part of an agent's configuration. Names and groups; deny wins over ask, ask over allow. Source: seed 001 §4. */
export interface PolicyRules {
  readonly profile: Profile
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
  /** `group:name` to members; groups may nest. A group that is missing here is looked up among the shipped ones. */
  readonly groups: ReadonlyMap<string, readonly string[]>
}

/** The line of a policy that covers a tool: as it was written, and how it leads to the tool. */
export interface PolicyMatch {
  readonly list: 'deny' | 'ask' | 'allow' | 'profile'
  /** The entry as written, trimmed; the profile's name for `profile`. */
  readonly entry: string
  /** The entry, the groups within it, and the name or pattern that matched. */
  readonly path: readonly string[]
}

/** Every list of the policy that covers the tool, in the order in which they speak: deny, ask, allow, profile. */
export function matchPolicy(policy: PolicyRules, toolName: string): readonly PolicyMatch[] {
  const name = toPolicyName(toolName)
  const matches: PolicyMatch[] = []
  for (const list of ['deny', 'ask', 'allow'] as const) {
    const found = firstMatch(policy[list], name, policy.groups)
    if (found) matches.push({ list, ...found })
  }
  const found = firstMatch(PROFILES[policy.profile], name, policy.groups)
  if (found) matches.push({ list: 'profile', entry: policy.profile, path: [policy.profile, ...found.path] })
  return matches
}

/** True when a line of the policy names the tool by itself, also through groups, and not only by a pattern. */
export function namesTool(policy: PolicyRules, toolName: string): boolean {
  return matchPolicy(policy, toolName).some(({ path }) => !hasWildcard(path.at(-1) ?? '*'))
}

/** Deny wins over ask, ask over allow, and what no line names is denied. Source: seed 001 §4.2; decisions, "policy". */
export function decideByPolicy(policy: PolicyRules, toolName: string): Omit<Ruling, 'layer'> {
  const [match] = matchPolicy(policy, toolName)
  if (!match) {
    return { type: 'deny', rule: `profile ${policy.profile}`, reason: MESSAGES.notAllowed(toolName, policy.profile) }
  }
  const rule = `${match.list} ${match.entry}`
  if (match.list === 'deny') return { type: 'deny', rule, reason: MESSAGES.denied(toolName, match.entry) }
  return { type: match.list === 'ask' ? 'ask' : 'allow', rule }
}

/** The same with the limits that follow from denied capabilities; a tool that needs a denied network is denied. */
export const rulesOfTool = oncePerTool((policy: PolicyRules, tool): Omit<Ruling, 'layer'> => {
  const limits = capabilityLimits(policy, tool)
  if (limits?.networkDomains && needsNetwork(tool.name))
    return { type: 'deny', rule: 'network', reason: MESSAGES.networkDenied(tool.name), limits }
  return { ...decideByPolicy(policy, tool.name), ...(limits && { limits }) }
})

/**
 * The capabilities of a tool that policy takes away, such as `network`: denied, or under `ask`, since nobody can be
 * asked about a part of a call. The tool still runs, in a narrower sandbox. Source: decisions, "dots".
 */
export function deniedCapabilities(policy: PolicyRules, tool: Pick<Tool, 'name' | 'options'>): readonly string[] {
  const capabilities = tool.options?.capabilities ?? []
  if (capabilities.length === 0) return []
  const name = toPolicyName(tool.name)
  const entries = [...policy.deny, ...policy.ask].flatMap((entry) => [...leavesOf(entry, policy.groups)])
  return capabilities.filter((capability) =>
    entries.some(({ entry }) => entryCoversCapability(entry, name, toPolicyName(capability))),
  )
}

/** The limits that follow from denied capabilities: without `secrets` no variable is given, without `network` no host is reached. */
function capabilityLimits(policy: PolicyRules, tool: Pick<Tool, 'name' | 'options'>): CallLimits | undefined {
  const denied = deniedCapabilities(policy, tool).map(toPolicyName)
  if (denied.length === 0) return undefined
  return {
    deniedCapabilities: denied,
    ...(denied.includes('secrets') && { secrets: [] }),
    ...(denied.includes('network') && { networkDomains: [] }),
  }
}

/**
 * True unless the policy keeps the agent from every tool of that group (`group:web` or `web`); false for a group that
 * does not exist. Gating asks this for skills that name the groups they need.
 */
export function allowsGroup(policy: PolicyRules, group: string): boolean {
  const leaves = [...leavesOf(toGroupName(group), policy.groups)]
  return leaves.some(({ entry }) => decideByPolicy(policy, ALIASES.get(entry) ?? entry).type !== 'deny')
}

/**
 * Which groups of tools (`group:web` or `web`) a skill may need: false for one of which the policy lets the agent call nothing. A group
 * that does not exist is kept from an agent when `deny:` names it, or its profile is not `full`. Undefined when the policy keeps no
 * group from it, so that nobody needs to ask.
 */
export function toolGroupRule(policy: PolicyRules): ((group: string) => boolean) | undefined {
  const known = [...new Set([...GROUPS.keys(), ...policy.groups.keys()])].filter((group) => hasTools(group, policy))
  const denied = policy.deny.map(toPolicyName)
  const isFull = policy.profile === 'full'
  const mayKeepUnknown =
    !isFull || denied.some((entry) => entry === '*' || (isGroup(entry) && !hasTools(entry, policy)))
  if (!mayKeepUnknown && known.every((group) => allowsGroup(policy, group))) return undefined
  return (name) => {
    const group = toGroupName(name)
    if (hasTools(group, policy)) return allowsGroup(policy, group)
    return isFull && !denied.includes(group) && !denied.includes('*')
  }
}

function hasTools(group: string, { groups }: PolicyRules): boolean {
  return [...leavesOf(group, groups)].length > 0
}

function firstMatch(
  entries: readonly string[],
  name: string,
  groups: Groups,
): { entry: string; path: readonly string[] } | undefined {
  for (const entry of entries) {
    const written = toPolicyName(entry)
    // Most lines are no groups, and every line is compared at each decision.
    if (!isGroup(written) && !entryCovers(written, name)) continue
    for (const leaf of leavesOf(written, groups)) {
      if (entryCovers(leaf.entry, name)) return { entry: entry.trim(), path: leaf.path }
    }
  }
  return undefined
}
