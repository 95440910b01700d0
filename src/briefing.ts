/** What the model of one agent is told before it does anything: instructions, the index of skills, tools. */
import { type Catalog, type PromptIndex, renderIndex, skillRules, skillToolPrompt } from './catalog/index.ts'
import { type Skill, skillAddress } from './kernel/index.ts'
import type { OfferedTool, Parts } from './parts.ts'
import { createWireNames, type Registry } from './tools/index.ts'

export interface Briefing {
  /** The prompt index within its budget. */
  index(): PromptIndex
  /** The skills section of a system prompt; empty when the agent sees no skill. */
  instructions(): string
  /** The chosen skill tools and all others, without those that policy denies. */
  definitions(): readonly OfferedTool[]
}

export interface BriefingParts {
  readonly catalog: Catalog
  readonly registry: Registry
  /** False for a tool that policy denies whatever its arguments are. */
  readonly mayCall: (tool: string) => boolean
}

/** Tools that the model sees only when the surface names them, or, for `find_skills`, when the index is cut. */
const SKILL_TOOLS = ['load_skill', 'read_skill_file', 'Skill', 'find_skills']
const DEFAULT_SURFACE = ['load_skill', 'read_skill_file']

/** The briefing of an agent. It is made when asked for, the index once. */
export function createBriefing({ catalog, registry, mayCall }: BriefingParts, parts: Parts): Briefing {
  const { surface = DEFAULT_SURFACE } = parts
  let made: PromptIndex | undefined

  const isUsable = (tool: string): boolean => registry.has(tool) && mayCall(tool)

  /** The tool that the index names for loading; false when the agent has none. */
  function loadTool(): 'Skill' | 'load_skill' | false {
    const tools = ['Skill', 'load_skill'] as const
    return tools.find((tool) => surface.includes(tool) && isUsable(tool)) ?? false
  }

  function index(): PromptIndex {
    const tool = loadTool()
    made ??= renderIndex(catalog, {
      ...parts.prompt,
      ...(tool === 'Skill' && { style: 'list' }),
      loadTool: tool,
      findTool: isUsable('find_skills') && 'find_skills',
      location: locator(parts),
    })
    return made
  }

  function isChosen(tool: string): boolean {
    return !SKILL_TOOLS.includes(tool) || surface.includes(tool) || (tool === 'find_skills' && isCut(index()))
  }

  return {
    index,
    instructions: () => {
      const { text } = index()
      const tool = loadTool()
      if (text === '') return ''
      return `${skillRules({ loadTool: tool })}\n\n${tool === 'Skill' ? skillToolPrompt({ text }) : text}`
    },
    definitions: () => {
      const wireNames = createWireNames(registry.names)
      return registry
        .definitions('json')
        .filter(({ name }) => isChosen(name) && mayCall(name))
        .map((definition) => ({ ...definition, wireName: wireNames.toWire(definition.name) }))
    },
  }
}

/** True when the model cannot choose by the index alone: a skill is left out, or shown by its name only. */
function isCut({ items }: PromptIndex): boolean {
  return items.some(({ shown }) => shown === 'name' || shown === 'omitted')
}

/** A confined command cannot see the host's path of a skill, so the model is given its address instead. */
function locator({ sandbox }: Parts): true | ((skill: Skill) => string) {
  return sandbox && sandbox.kind !== 'none' ? (skill) => `skill://${skillAddress(skill)}/SKILL.md` : true
}
