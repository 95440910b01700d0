import { errorOf } from '../failure.ts'
import type { Explanation } from '../../../authorize/index.ts'
import {
  type Decision,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nearest,
  type NexusError,
  type Outcome,
  toSafeLine,
} from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import type { AgentHandle } from '../../../runtime/index.ts'
import { decidePath, isFileTool, serverTool, unknownArguments } from '../../../tools/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../command.ts'
import { openFor } from '../open.ts'
import { linesOf, type RuleLine } from '../show/policy-lines.ts'
import type { Terminal } from '../terminal.ts'
import { pathsFor } from '../show/facts.ts'

const COLORS = { allow: 'green', ask: 'yellow', deny: 'red' } as const

/** `nexus policy explain <agent> <tool>`: every layer that has a part in the decision, and the lines that it comes from. Nothing runs. */
export async function explainPolicy(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const agent = argument(invocation, 'an agent and a tool', ['main', 'run_command'])
  const tool = argument(invocation, 'an agent and a tool', ['main', 'run_command'], 1)
  const args = argumentsOf(stringFlag(invocation, 'args'))
  await using local = await openFor(invocation, { record: 'memory' })
  const opened = openAgent(local, agent)
  const explanation = await explainCall(opened, { tool, args }, terminal)
  const lines = await linesOf(local.loaded, { agent, tool: serverTool(tool)?.name ?? tool }, explanation)
  const { decision, steps, deniedCapabilities: withoutCapabilities, overMcp } = explanation
  const { limits, type, rule } = decision
  return {
    data: { agent, tool, decision: type, rule, limits, steps, lines, withoutCapabilities, overMcp },
    show: () => {
      printExplanation({ ...explanation, lines }, terminal)
      if (type !== 'deny' && isFileTool(tool) && typeof args['path'] !== 'string')
        terminal.line(
          `The tool compares its path with these limits. To see a path decided, give it: --args '{"path":"notes.txt"}'`,
        )
      if (overMcp !== type)
        terminal.line(
          'Over MCP Nexus does not ask about this call: the agent has neither preset nor permissions, and the client asks its own user.',
        )
      terminal.line(`${terminal.paint(COLORS[type], type)} by ${toSafeLine(rule)}`)
    },
  }
}

function printExplanation(
  { steps, lines, decision: { limits } }: Explained & { readonly lines: readonly RuleLine[] },
  terminal: Terminal,
): void {
  for (const { layer, says, text } of steps) if (says !== 'silent') terminal.line(`${layer}: ${toSafeLine(text)}`)
  for (const { rule, place } of lines)
    terminal.line(`  ${toSafeLine(rule)}${place === '' ? '' : `  ${toSafeLine(place)}`}`)
  for (const [name, value] of Object.entries(limits)) terminal.line(`limit: ${name} ${limitText(value)}`)
}

export function didYouMean(guess: string | undefined, known: readonly string[] = []): string {
  return guess === undefined
    ? `Name one of: ${known.map(toSafeLine).join(', ')}.`
    : `Did you mean ${toSafeLine(guess)}?`
}

export function unknownAgent(id: string, known: readonly string[]): NexusError {
  return errorOf('INVALID_ARGUMENT', `No agent is called '${toSafeLine(id)}'.`, didYouMean(nearest(id, known), known))
}

/** Throws INVALID_ARGUMENT for an agent that does not exist. */
export function openAgent({ runtime, config }: Pick<Local, 'runtime' | 'config'>, id: string): AgentHandle {
  const ids = config.agents.map((agent) => agent.id)
  if (ids.includes(id)) return runtime.openAgent({ id })
  throw unknownAgent(id, ids)
}

/** The name of the step about the path in the arguments, and of its rule. */
const PATH = 'path'

interface Explained extends Explanation {
  /** The decision about the same call of an MCP client. */
  readonly overMcp: Decision['type']
}

/** The explanation of a call of the model, with what the tool itself would say of a path. Throws INVALID_ARGUMENT for unknown arguments. */
export async function explainCall(
  agent: AgentHandle,
  { tool, args }: { readonly tool: string; readonly args: JsonObject },
  terminal: Terminal,
): Promise<Explained> {
  const known = agent.registry.get(tool)
  const [problem] = known ? unknownArguments(known, args) : []
  // The tool would not see it, and the decision would be about another call.
  if (problem !== undefined)
    throw errorOf('INVALID_ARGUMENT', `args has an ${toSafeLine(problem)}.`, 'Correct the name of the argument.')
  if (!known && serverTool(tool) !== undefined)
    terminal.note(
      `No MCP server with ${toSafeLine(tool)} is connected, so a call of it fails as an unknown tool. This is what the rules say of it.`,
    )
  const call = { tool, arguments: args }
  const explanation = agent.explain({ ...call, origin: 'model' })
  const { decision, steps } = explanation
  const overMcp = agent.explain({ ...call, origin: 'mcp' }).decision.type
  const path =
    decision.type === 'deny' ? undefined : await decidePath(agent.services, { ...call, limits: decision.limits })
  if (path === undefined) return { ...explanation, overMcp }
  const { type, text } = path
  const step = { layer: PATH, says: type, rule: PATH, text: `${type} by ${PATH}: ${text}` }
  const explained = { ...explanation, steps: [...steps, step] }
  if (type === 'allow') return { ...explained, overMcp }
  const decided = { ...decision, rule: PATH }
  if (type === 'deny') return { ...explained, decision: { ...decided, type, reason: text }, overMcp: type }
  return { ...explained, decision: { ...decided, type, question: text }, overMcp: overMcp === 'deny' ? 'deny' : 'ask' }
}

function limitText(value: unknown): string {
  if (!Array.isArray(value)) return String(value)
  return value.length === 0 ? 'none' : value.map((item) => toSafeLine(String(item))).join(', ')
}

function argumentsOf(text: string | undefined): JsonObject {
  if (text === undefined) return {}
  let why = 'it is another value'
  try {
    const value = JSON.parse(text) as JsonValue
    if (isJsonObject(value)) return value
  } catch (error) {
    why = (error as Error).message
  }
  const fix = `Write an object, such as: --args '{"command":"ls"}'`
  throw errorOf('INVALID_ARGUMENT', `--args is not a JSON object: ${toSafeLine(why)}`, fix)
}

/** A call, as far as it matters for why it was denied. */
interface Judged {
  readonly call: { readonly tool: string; readonly agentId: string }
  readonly decision: Decision
  readonly outcome?: Outcome
}

/** For each tool that policy denied: the line that did it, with its file, and the command that lists every rule. */
export async function noteDenials(
  calls: readonly Judged[],
  local: Pick<Local, 'runtime' | 'config' | 'loaded'>,
  invocation: Invocation,
): Promise<void> {
  const { terminal } = invocation
  const denied = calls.filter(({ outcome }) => outcome?.type === 'failed' && outcome.code === 'PERMISSION_DENIED')
  const byTool = new Map(denied.map((each) => [`${each.call.agentId} ${each.call.tool}`, each]))
  for (const { call, decision } of byTool.values()) {
    const { agentId, tool } = call
    const explanation = await explainCall(openAgent(local, agentId), { tool, args: {} }, terminal)
    const matches = explanation.matches.filter(({ list, entry }) => `${list} ${entry}` === decision.rule)
    const [line] = await linesOf(local.loaded, { agent: agentId, tool }, { ...explanation, matches, steps: [] })
    if (line !== undefined && line.place !== '')
      terminal.note(`The line ${toSafeLine(line.rule)} is in ${toSafeLine(pathsFor(invocation).shown(line.place))}.`)
    terminal.note(`Every rule that has a part in it: ${terminal.commandLine(['policy', 'explain', agentId, tool])}`)
  }
}
