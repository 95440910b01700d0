/** tool-entries: whether an entry of a list, with its groups opened, covers a tool, and what rules say of a tool. Pure. */
import type { Tool } from '../kernel/index.ts'
import { GROUPS, type Groups, isGroup, leavesOf, NEEDS_NETWORK } from './groups.ts'
import { entryCovers, toPolicyName } from './names.ts'

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
