/** The tools that policy offers to the agent, as MCP clients get them. */
import type { ListToolsResult, Tool } from '@modelcontextprotocol/server'
import type { JsonObject, JsonSchema } from '../kernel/index.ts'
import type { Opened } from './opened.ts'
import { SKILL_LIST } from './messages.ts'
import { OUTPUT_SCHEMA } from './result.ts'
import { traitsOf } from './tool-traits.ts'

/** The tools that the agent may call, in the order of its registry. */
export function listTools({ agent }: Opened): ListToolsResult {
  const offered = agent.definitions().map(({ name }) => name)
  const loads = offered.find((name) => name === 'load_skill' || name === 'Skill')
  const tools = offered.flatMap((name): readonly Tool[] => {
    const [definition] = agent.registry.definitions('mcp', { filter: (tool) => tool.name === name })
    if (!definition) return []
    const { title, annotations } = traitsOf(name)
    const description =
      name === loads ? `${definition.description}\n\n${SKILL_LIST}\n${agent.index().text}` : definition.description
    return [
      {
        ...{ name: definition.name, title, description },
        inputSchema: toInputSchema(definition.inputSchema),
        outputSchema: OUTPUT_SCHEMA,
        annotations: { title, ...annotations },
      },
    ]
  })
  return { tools }
}

/** Clients refuse a choice at the root of a schema. Nexus checks the arguments against the whole one all the same. */
function toInputSchema(schema: JsonSchema): Tool['inputSchema'] {
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = schema as JsonObject
  return { ...rest, type: 'object' } as Tool['inputSchema']
}
