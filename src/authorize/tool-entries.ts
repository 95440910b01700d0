/** tool-entries: whether an entry of a list, with its groups opened, covers a tool. Pure. */
import { type Groups, isGroup, leavesOf } from './groups.ts'
import { entryCovers, toPolicyName } from './names.ts'

/** True when a name, group, server or pattern covers the tool. */
export function toolCovered(entry: string, tool: string, groups: Groups): boolean {
  const name = toPolicyName(tool)
  const written = toPolicyName(entry)
  if (!isGroup(written)) return entryCovers(written, name)
  for (const leaf of leavesOf(entry, groups)) if (entryCovers(leaf.entry, name)) return true
  return false
}
