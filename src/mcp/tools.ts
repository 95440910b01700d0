/** Tools over MCP: the tools that policy offers to the agent, and their calls through its handle. */
import type { CallToolResult, ListToolsResult, ServerContext, Tool } from '@modelcontextprotocol/server'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { JsonObject, JsonSchema } from '../kernel/index.ts'
import type { CallResult } from '../runtime/index.ts'
import { toEnvelope, toModelText } from '../tools/index.ts'
import { OUTPUT_SCHEMA } from './output-schema.ts'
import type { Opened } from './host.ts'
import { ERRORS, SKILL_LIST } from './messages.ts'
import { reportProgress } from './progress.ts'
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

/** Makes the call through the agent. Failures are results that the model reads; throws a protocol error for a tool that is not there. */
export async function callTool(
  opened: Opened,
  { name, arguments: args = {} }: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
  { mcpReq }: ServerContext,
): Promise<CallToolResult> {
  const { agent } = opened
  const tool = agent.registry.wireNames().toName(name) ?? name
  const progress = reportProgress(mcpReq, tool)
  try {
    const request = { tool, arguments: args as JsonObject, origin: 'mcp' } as const
    const result = await agent.call(request, { signal: mcpReq.signal, onOutput: progress.onOutput })
    const { outcome } = result
    // Names that nothing has are an error of the protocol, so that clients do not show them as a failed run.
    if (outcome.type === 'failed' && outcome.code === 'NOT_FOUND' && !agent.registry.has(tool))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, ERRORS.unknownTool(outcome.message).message)
    return toResult(result, opened)
  } finally {
    progress.end()
  }
}

/** The outcome as text for the model, and as the envelope of seed 003. */
function toResult({ outcome, entry }: CallResult, { local, takeNotice }: Opened): CallToolResult {
  const timeMs = (entry.closedAt ?? entry.openedAt) - entry.openedAt
  const envelope = toEnvelope(outcome, {
    ...{ timeMs, cwd: '.', input: entry.call.arguments },
    root: local.workspace.directory,
  })
  const notice = takeNotice()
  return {
    content: [
      { type: 'text', text: toModelText(outcome) },
      ...(notice === undefined ? [] : [{ type: 'text' as const, text: notice }]),
    ],
    structuredContent: { ...envelope },
    ...(outcome.type === 'failed' && { isError: true }),
  }
}
