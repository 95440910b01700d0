import { toPolicyName, entryCovers } from './names.ts'
import type { Tool } from '../kernel/index.ts'

/** The tools that start commands, and those that control what was started. */
const RUNTIME = [
  'run_command',
  'skills.activate',
  'skills.run_cmd',
  'skills.run_cmd_async',
  'skills.run_service',
  'skills.start_job',
  'skills.job_cancel',
  'skills.task_cancel',
  // Both run the caller's own query command with provider `cmd`, so they are no mere reads.
  'skills.task_status',
  'skills.task_watch',
]

/** The groups every policy knows; `tools.groups` may replace one or add more. Source: decisions, "groups shipped". */
export const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  // 001 §4.1 lists exec in group:fs: a command can write files as well as a file tool.
  ['group:fs', ['read_file', 'write_file', 'edit_file', 'list_directory', 'exec']],
  ['group:web', ['web_search', 'web_fetch']],
  ['group:runtime', RUNTIME],
  [
    'group:skills',
    ['load_skill', 'read_skill_file', 'Skill', 'find_skills', 'skills.load', 'skills.job_status', 'skills.job_watch'],
  ],
  ['group:nexus', ['nexus_create', 'nexus_destroy', 'nexus_send', 'nexus_status', 'nexus_cancel', 'nexus_shutdown']],
  ['group:messaging', ['nexus_send']],
  ['group:mcp', ['mcp:*']],
])

/** Tools that are nothing without a network: where it is denied, they are. */
const NEEDS_NETWORK: readonly string[] = ['group:web', 'http_request', 'connect']

export const PROFILE_NAMES = ['minimal', 'messaging', 'coding', 'full'] as const
export type Profile = (typeof PROFILE_NAMES)[number]

/** Tools that each profile allows; `full` allows everything that is not denied. Source: decisions, "groups shipped". */
export const PROFILES: Readonly<Record<Profile, readonly string[]>> = {
  minimal: ['status'],
  messaging: ['group:messaging', 'status', 'group:skills'],
  coding: ['group:fs', 'group:runtime', 'group:web', 'group:skills'],
  full: ['*'],
}

/** Groups by name; their names as `toPolicyName` gives them. */
export type Groups = ReadonlyMap<string, readonly string[]>

/** The members of a group as written: from the policy, else from the shipped ones. Undefined when there is none. */
export function membersOf(group: string, groups: Groups): readonly string[] | undefined {
  return groups.get(group) ?? GROUPS.get(group)
}

export const PREFIX = 'group:'

export function isGroup(entry: string): boolean {
  return entry.startsWith(PREFIX)
}

/** The name of a group as policy compares it, also when it was written without the prefix. */
export function toGroupName(group: string): string {
  const name = toPolicyName(group)
  return isGroup(name) ? name : PREFIX + name
}

/** The entries of a list once groups are opened: names and patterns, each with the groups that led to it. */
export interface Leaf {
  /** In the form of `toPolicyName`. */
  readonly entry: string
  /** From the entry of the list to the leaf. */
  readonly path: readonly string[]
}

/** Opens groups, each at most once, so that it ends on any graph of groups. */
export function leavesOf(entry: string, groups: Groups): Iterable<Leaf> {
  const name = toPolicyName(entry)
  return isGroup(name) ? leavesOfGroup(name, groups) : [{ entry: name, path: [name] }]
}

function* leavesOfGroup(group: string, groups: Groups): Generator<Leaf> {
  const seen = new Set<string>()
  const open: Leaf[] = [{ entry: group, path: [group] }]
  for (let leaf = open.pop(); leaf; leaf = open.pop()) {
    if (!isGroup(leaf.entry)) {
      yield leaf
      continue
    }
    if (seen.has(leaf.entry)) continue
    seen.add(leaf.entry)
    for (const member of (membersOf(leaf.entry, groups) ?? []).toReversed()) {
      const name = toPolicyName(member)
      open.push({ entry: name, path: [...leaf.path, name] })
    }
  }
}

/** True when a name, group, server or pattern covers the tool. */
export function toolCovered(entry: string, tool: string, groups: Groups): boolean {
  const name = toPolicyName(tool)
  const written = toPolicyName(entry)
  if (!isGroup(written)) return entryCovers(written, name)
  for (const leaf of leavesOf(entry, groups)) if (entryCovers(leaf.entry, name)) return true
  return false
}

/** True for a tool that is nothing without a network. A group that was replaced does not change this. */
export function needsNetwork(tool: string): boolean {
  return NEEDS_NETWORK.some((entry) => toolCovered(entry, tool, GROUPS))
}

/**
 * The same function, computed once for each pair of rules and tool. Rules and tools are never changed, so what the
 * first decision about a tool found holds for all later ones; both can still be collected.
 */
export function oncePerTool<Rules extends object, Value>(
  compute: (rules: Rules, tool: Tool) => Value,
): (rules: Rules, tool: Tool) => Value {
  const found = new WeakMap<Rules, WeakMap<Tool, { readonly value: Value }>>()
  return (rules, tool) => {
    let ofRules = found.get(rules)
    if (!ofRules) found.set(rules, (ofRules = new WeakMap()))
    let entry = ofRules.get(tool)
    if (!entry) ofRules.set(tool, (entry = { value: compute(rules, tool) }))
    return entry.value
  }
}
