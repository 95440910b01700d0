/** The tools that policy offers to the agent, as MCP clients get them. */
import type { ListToolsResult, Tool } from '@modelcontextprotocol/server'
import { namesTool, toolCovered } from '../../authorize/index.ts'
import { renderIndex } from '../../skills/catalog/index.ts'
import type { JsonObject, JsonSchema } from '../../kernel/index.ts'
import type { Opened } from './calls.ts'
import { instructions, SKILL_LIST } from './messages.ts'
import { traitsOf } from './tool-traits.ts'

/** Most characters of the list of skills in the instructions: the whole list is beside the tool that loads them. */
const INSTRUCTIONS_CHARS = 800

/** The tools that the agent may call, in the order of its registry, without those that clients have of their own. */
export function listTools(opened: Opened): ListToolsResult {
  const { agent } = opened
  const offered = offeredTools(opened)
  const loads = loadTool(offered)
  const tools = offered.flatMap((name): readonly Tool[] => {
    const [definition] = agent.registry.definitions('mcp', { filter: (tool) => tool.name === name })
    if (!definition) return []
    const { title, annotations, isLoadedAlways } = traitsOf(name)
    const description =
      name === loads ? `${definition.description}\n\n${SKILL_LIST}\n${agent.index().text}` : definition.description
    return [
      {
        name: definition.name,
        title,
        description,
        inputSchema: toInputSchema(definition.inputSchema),
        annotations: { title, ...annotations },
        // Claude Code shows its model other tools by their names only.
        _meta: isLoadedAlways && { 'anthropic/alwaysLoad': true },
      },
    ]
  })
  return { tools }
}

/** The instructions for the model of a client, with the skills as they are now. */
export function instructionsFor(opened: Opened): string {
  const offered = offeredTools(opened)
  const has = (name: string): string | undefined => (offered.includes(name) ? name : undefined)
  const load = loadTool(offered)
  const run = has('run_command')
  if (load === undefined) return instructions({ run })
  const budget = { style: 'list', budgetChars: INSTRUCTIONS_CHARS } as const
  const { text } = renderIndex(opened.agent.catalog(), {
    ...budget,
    loadTool: load,
    findTool: has('find_skills') ?? false,
  })
  return instructions({ load, run, index: text })
}

function offeredTools({ agent, local: { config } }: Opened): readonly string[] {
  const { groups } = config.tools
  const own = config.agents.find(({ id }) => id === agent.id)?.tools
  const isNamed = (tool: string): boolean =>
    config.mcp.tools.some((entry) => toolCovered(entry, tool, groups)) ||
    (own !== undefined && namesTool({ ...own, groups, ask: [], deny: [] }, tool))
  const names = agent.definitions().map(({ name }) => name)
  return names.filter((name) => !traitsOf(name).isOfClients || isNamed(name))
}

function loadTool(offered: readonly string[]): string | undefined {
  return offered.find((name) => name === 'load_skill' || name === 'Skill')
}

/** Clients refuse a choice at the root of a schema. Nexus checks the arguments against the whole one all the same. */
function toInputSchema(schema: JsonSchema): Tool['inputSchema'] {
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = schema as JsonObject
  return { ...rest, type: 'object' } as Tool['inputSchema']
}
