/** What the model of one agent is told before it does anything: instructions, the index of skills, tools. */
import {
  type Catalog,
  type IndexOptions,
  type PromptIndex,
  renderIndex,
  skillRules,
  skillToolPrompt,
  toSkillUri,
} from '../catalog/index.ts'
import type { OfferedTool, Parts } from './types.ts'
import { createWireNames, type Registry } from '../tools/index.ts'

export interface ModelContext {
  /** The prompt index within its budget. */
  index(): PromptIndex
  /** The skills section of a system prompt; empty when the agent sees no skill. */
  instructions(): string
  /** The chosen skill tools and all others, without those that policy denies. */
  definitions(): readonly OfferedTool[]
}

export interface ModelContextParts {
  readonly catalog: Catalog
  readonly registry: Registry
  /** False for a tool that policy denies whatever its arguments are. */
  readonly mayCall: (tool: string) => boolean
  /** True for a tool that a line of the policy names by itself, not by a pattern. */
  readonly isNamed: (tool: string) => boolean
}

/** Tools that the model sees only when the surface names them, or, for `find_skills`, when the index is cut. */
const SKILL_TOOLS = ['load_skill', 'read_skill_file', 'Skill', 'find_skills']
const DEFAULT_SURFACE = ['load_skill', 'read_skill_file']

/** Everything is made when it is asked for, the index once. */
export function createModelContext(
  { catalog, registry, mayCall, isNamed }: ModelContextParts,
  parts: Parts,
): ModelContext {
  const { surface = DEFAULT_SURFACE } = parts
  let made: PromptIndex | undefined

  const isUsable = (tool: string): boolean => registry.has(tool) && mayCall(tool)

  /** The tool that the index names for loading; false when the agent has none. */
  function loadTool(): 'Skill' | 'load_skill' | false {
    const tools = ['Skill', 'load_skill'] as const
    return tools.find((tool) => surface.includes(tool) && isUsable(tool)) ?? false
  }

  /** How it reads SKILL.md when no tool loads it: a name, false for not at all, undefined where only the agent's own tools can tell. */
  function readTool(): 'read_skill_file' | false | undefined {
    if (surface.includes('read_skill_file') && isUsable('read_skill_file')) return 'read_skill_file'
    const others = registry.names.filter((tool) => !SKILL_TOOLS.includes(tool) && tool !== 'status' && mayCall(tool))
    return isConfined(parts) || others.length === 0 ? false : undefined
  }

  function tools(): Pick<IndexOptions, 'loadTool' | 'readTool'> {
    const load = loadTool()
    const read = load === false ? readTool() : undefined
    return { loadTool: load, ...(read !== undefined && { readTool: read }) }
  }

  function index(): PromptIndex {
    made ??= renderIndex(catalog, {
      ...parts.prompt,
      ...(loadTool() === 'Skill' && { style: 'list' }),
      ...tools(),
      findTool: isUsable('find_skills') && 'find_skills',
      location: isConfined(parts) ? (skill) => toSkillUri(catalog.addressOf(skill)) : true,
    })
    return made
  }

  function isChosen(tool: string): boolean {
    if (tool === 'status') return surface.includes(tool) || isNamed(tool)
    if (SKILL_TOOLS.includes(tool) && catalog.skills.length === 0) return false
    return !SKILL_TOOLS.includes(tool) || surface.includes(tool) || (tool === 'find_skills' && isCut(index()))
  }

  return {
    index,
    instructions: () => {
      const { text } = index()
      if (text === '') return ''
      return `${skillRules(tools())}\n\n${loadTool() === 'Skill' ? skillToolPrompt({ text }) : text}`
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
function isConfined({ sandbox }: Parts): boolean {
  return sandbox !== undefined && sandbox.kind !== 'none'
}
