import type { Tool } from '../../kernel/index.ts'
import type { Loader } from '../../load/index.ts'
import type { Registry, ToolFactory } from '../registry.ts'
import { createFindSkillsTool } from './find-skills.ts'
import { createLoadSkillTool } from './load-skill.ts'
import { createReadSkillFileTool } from './read-skill-file.ts'
import { createRunCommandTool } from './run-command.ts'
import { createSkillTool } from './skill.ts'

/**
 * Adds the tools that Nexus ships, as far as their services are there: the skill tools when the `loader` knows a skill,
 * `find_skills` beside them when there is a `skillSearch`, `run_command` when there is a `sandbox`.
 * A name that is registered already keeps its tool. Source: seed 002, seed 003.
 */
export function registerBuiltins(registry: Registry): void {
  const { services } = registry
  const hasSkills = services.get<Loader>('loader')?.hasSkills() ?? false
  if (hasSkills) add(registry, SKILL_TOOLS)
  if (hasSkills && services.has('skillSearch')) add(registry, { find_skills: createFindSkillsTool })
  if (services.has('sandbox')) add(registry, COMMAND_TOOLS)
}

/** What a policy may name although no tool has been made yet. */
export const BUILTIN_TOOLS: readonly Pick<Tool, 'name' | 'options'>[] = [
  ...['load_skill', 'read_skill_file', 'Skill', 'find_skills'].map((name) => ({ name })),
  { name: 'run_command', options: { capabilities: ['network', 'secrets'] } },
]

const SKILL_TOOLS: Readonly<Record<string, ToolFactory>> = {
  load_skill: createLoadSkillTool,
  read_skill_file: createReadSkillFileTool,
  Skill: createSkillTool,
}
const COMMAND_TOOLS: Readonly<Record<string, ToolFactory>> = { run_command: createRunCommandTool }

function add(registry: Registry, factories: Readonly<Record<string, ToolFactory>>): void {
  for (const [name, factory] of Object.entries(factories)) {
    if (!registry.has(name)) registry.register(name, factory)
  }
}
