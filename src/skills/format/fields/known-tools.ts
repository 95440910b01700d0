import { nearest } from '../../../kernel/index.ts'

/** Names of tools in skills of Claude Code, OpenClaw and Nexus, with those that policy reads as others. */
const KNOWN: readonly string[] = [
  ...['Bash', 'BashOutput', 'KillShell', 'Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'Grep', 'LS'],
  ...['WebFetch', 'WebSearch', 'Task', 'TodoWrite', 'Skill', 'AskUserQuestion', 'SlashCommand', 'ExitPlanMode'],
  ...['exec', 'shell', 'sandbox', 'execute_code', 'apply_patch', 'run_command', 'read_file', 'write_file', 'edit_file'],
  ...['list_directory', 'load_skill', 'read_skill_file', 'find_skills', 'web_search', 'web_fetch', 'http_request'],
]
const PLAIN: ReadonlySet<string> = new Set(KNOWN.map((name) => name.toLowerCase()))
/** Shorter names are near to too many words. */
const FEW_LETTERS = 4

/** The known tool that an entry such as `Bahs(git:*)` probably means, with the rest of the entry; undefined for any other. */
export function similarTool(entry: string): string | undefined {
  const [name = ''] = entry.split('(', 1)
  if (name.trim().length < FEW_LETTERS || /[:*.]/.test(name) || PLAIN.has(name.trim().toLowerCase())) return undefined
  const right = nearest(name.trim(), KNOWN, 1)
  return right === undefined ? undefined : right + entry.slice(name.length)
}
