/** Skills as prompts, which a person starts by name in clients without the skills extension. */
import {
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { shownText } from '../../../skills/catalog/index.ts'
import { toModelText } from '../../../tools/index.ts'
import type { Opened } from '../calls.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import { offered } from './skill-source.ts'

const ARGUMENTS = 'What the skill is given; it replaces $ARGUMENTS in its text'

/** Every skill that a person may start. */
export function listPrompts(ready: Opened): ListPromptsResult {
  const catalog = ready.agent.catalog()
  const prompts = offered(ready)
    .filter(({ skill }) => skill.invocation.user)
    .map(({ skill }) => ({
      name: catalog.callName(skill),
      description: shownText(skill.description),
      arguments: [{ name: 'arguments', description: ARGUMENTS, required: false }],
    }))
  return { prompts }
}

/** Loads the skill through the agent. Throws a protocol error when it is not offered or refused. */
export async function getPrompt(
  ready: Opened,
  { name, arguments: given = {} }: { readonly name: string; readonly arguments?: Record<string, string> | undefined },
  { mcpReq: { signal } }: ServerContext,
): Promise<GetPromptResult> {
  const known = listPrompts(ready).prompts.find((prompt) => prompt.name === name)
  if (!known) {
    const message = `There is no prompt '${toSafeLine(name)}': no skill of that name can be started by a person.`
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
  }
  const request = { tool: 'Skill', arguments: { name, args: given['arguments'] ?? '' }, origin: 'mcp' } as const
  const { outcome } = await ready.agent.call(request, { signal })
  const text = toModelText(outcome)
  if (outcome.type === 'failed') throw new ProtocolError(ProtocolErrorCode.InvalidParams, text)
  return { description: known.description ?? name, messages: [{ role: 'user', content: { type: 'text', text } }] }
}
