import type { Tool } from '../../kernel/index.ts'
import type { Registry, ToolFactory } from '../registry.ts'
import { LOADER, SANDBOX, SKILL_SEARCH, WEB, WORKSPACE } from '../services.ts'
import { createWebFetchTool } from '../web/web-fetch.ts'
import { createWebSearchTool } from '../web/web-search.ts'
import { createEditFileTool } from './edit-file.ts'
import { createFindSkillsTool } from './find-skills.ts'
import { createListDirectoryTool } from './list-directory.ts'
import { createLoadSkillTool } from './load-skill.ts'
import { createReadFileTool } from './read-file.ts'
import { createReadSkillFileTool } from './read-skill-file.ts'
import { createRunCommandTool } from './run-command.ts'
import { createSleepTool } from './sleep.ts'
import { createSkillTool } from './skill.ts'
import { AGENT_STATUS, createStatusTool } from './status.ts'
import { createWriteFileTool } from './write-file.ts'

/**
 * Adds the tools that Nexus ships: `sleep`, and the others as far as their services are there: the skill tools when there is a `LOADER`,
 * `find_skills` beside them when there is a `SKILL_SEARCH`, `run_command` when there is a `SANDBOX`, the file tools when there is a `WORKSPACE`,
 * `status` when there is an `AGENT_STATUS`, `web_fetch` when there is a `WEB`, `web_search` when that names a search service.
 * A name that is registered already keeps its tool. Source: seed 002, seed 003.
 */
export function registerBuiltins(registry: Registry): void {
  const { services } = registry
  if (services.has(LOADER)) add(registry, SKILL_TOOLS)
  if (services.has(LOADER) && services.has(SKILL_SEARCH)) add(registry, { find_skills: createFindSkillsTool })
  if (services.has(SANDBOX)) add(registry, COMMAND_TOOLS)
  if (services.has(WORKSPACE)) add(registry, FILE_TOOLS)
  if (services.has(AGENT_STATUS)) add(registry, { status: createStatusTool })
  add(registry, { sleep: createSleepTool })
  if (services.has(WEB)) add(registry, { web_fetch: createWebFetchTool })
  if (services.get(WEB)?.search) add(registry, { web_search: createWebSearchTool })
}

/** Tools that a policy may name before they are made. */
export const BUILTIN_TOOLS: readonly Pick<Tool, 'name' | 'options'>[] = [
  { name: 'load_skill' },
  { name: 'read_skill_file' },
  { name: 'Skill' },
  { name: 'find_skills' },
  { name: 'run_command', options: { capabilities: ['network', 'secrets'] } },
  { name: 'read_file' },
  { name: 'write_file' },
  { name: 'edit_file' },
  { name: 'list_directory' },
  { name: 'status' },
  { name: 'sleep' },
  { name: 'web_fetch', options: { capabilities: ['network'] } },
  { name: 'web_search', options: { capabilities: ['network'] } },
]

const SKILL_TOOLS: Readonly<Record<string, ToolFactory>> = {
  load_skill: createLoadSkillTool,
  read_skill_file: createReadSkillFileTool,
  Skill: createSkillTool,
}
const COMMAND_TOOLS: Readonly<Record<string, ToolFactory>> = { run_command: createRunCommandTool }
const FILE_TOOLS: Readonly<Record<string, ToolFactory>> = {
  read_file: createReadFileTool,
  write_file: createWriteFileTool,
  edit_file: createEditFileTool,
  list_directory: createListDirectoryTool,
}

function add(registry: Registry, factories: Readonly<Record<string, ToolFactory>>): void {
  for (const [name, factory] of Object.entries(factories)) {
    if (!registry.has(name)) registry.register(name, factory, { owner: 'nexus' })
  }
}
