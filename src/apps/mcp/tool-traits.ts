/** MCP clients show a title to people, and ask by hints about a tool. */
import type { ToolAnnotations } from '@modelcontextprotocol/server'

export interface ToolTraits {
  readonly title: string
  readonly annotations: ToolAnnotations
  /** Clients put it before their model at once; others wait for a search of tools. */
  readonly isLoadedAlways?: true
  /** Clients have such a tool of their own, so it is offered where settings name it. */
  readonly isOfClients?: true
}

const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
const READS_THE_WEB: ToolAnnotations = { readOnlyHint: true, openWorldHint: true }
const CHANGES: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: false }

/** By policy name. */
const TRAITS: ReadonlyMap<string, ToolTraits> = new Map([
  ['load_skill', { title: 'Load a skill', annotations: READS, isLoadedAlways: true }],
  ['Skill', { title: 'Load a skill', annotations: READS, isLoadedAlways: true }],
  ['read_skill_file', { title: 'Read a file of a skill', annotations: READS }],
  ['find_skills', { title: 'Search skills', annotations: READS }],
  ['status', { title: 'Show the agent', annotations: READS }],
  ['read_file', { title: 'Read a file', annotations: READS, isOfClients: true }],
  ['list_directory', { title: 'List a directory', annotations: READS, isOfClients: true }],
  ['write_file', { title: 'Write a file', annotations: CHANGES, isOfClients: true }],
  ['edit_file', { title: 'Edit a file', annotations: CHANGES, isOfClients: true }],
  ['sleep', { title: 'Wait', annotations: READS, isOfClients: true }],
  ['web_search', { title: 'Search the web', annotations: READS_THE_WEB, isOfClients: true }],
  ['web_fetch', { title: 'Fetch a web page', annotations: READS_THE_WEB, isOfClients: true }],
  // Which addresses a command may contact is configured: a client had better expect any.
  [
    'run_command',
    { title: 'Run a command in the sandbox', annotations: { ...CHANGES, openWorldHint: true }, isLoadedAlways: true },
  ],
])

/** Without hints clients expect the worst, as they should of a tool that Nexus does not ship. */
export function traitsOf(tool: string): ToolTraits {
  return TRAITS.get(tool) ?? { title: tool, annotations: {} }
}
