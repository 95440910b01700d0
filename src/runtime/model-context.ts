/** Instructions, the index of skills, and tools: all that the model of one agent reads first. */
import { type Catalog, type PromptIndex, skillRules, skillToolPrompt } from '../skills/catalog/index.ts'
import { type AgentIndex, createPromptIndex, DEFAULT_SURFACE, SKILL_TOOLS } from './prompt-index.ts'
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
  /** In how many recent sessions each skill was loaded, by address. */
  readonly uses: ReadonlyMap<string, number>
}

/** Everything is made when it is asked for, the index once. */
export function createModelContext(
  { catalog, registry, mayCall, isNamed, uses }: ModelContextParts,
  parts: Parts,
): ModelContext {
  const { surface = DEFAULT_SURFACE, prompt, sandbox } = parts
  let made: AgentIndex | undefined

  function ofAgent(): AgentIndex {
    made ??= createPromptIndex({
      catalog,
      surface,
      uses,
      prompt,
      tools: registry.names.filter(mayCall),
      isConfined: sandbox !== undefined && sandbox.kind !== 'none',
    })
    return made
  }

  function isChosen(tool: string): boolean {
    if (tool === 'status') return surface.includes(tool) || isNamed(tool)
    if (SKILL_TOOLS.includes(tool) && catalog.skills.length === 0) return false
    return !SKILL_TOOLS.includes(tool) || surface.includes(tool) || (tool === 'find_skills' && isCut(ofAgent().index))
  }

  return {
    index: () => ofAgent().index,
    instructions: () => {
      const { index, tools, loadTool } = ofAgent()
      const { text } = index
      if (text === '') return ''
      return `${skillRules(tools)}\n\n${loadTool === 'Skill' ? skillToolPrompt({ text }) : text}`
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
