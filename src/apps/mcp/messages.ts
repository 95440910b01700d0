/** The words of the MCP server: what clients, their models and the log on stderr get. Names from outside are made safe here. */
import { isNexusError, toSafeLine, toVisibleLines } from '../../kernel/index.ts'

/** An error in one text: what happened, then what to do. Foreign errors say no more than that they happened. */
export function toText(error: unknown): string {
  if (!isNexusError(error)) return 'Nexus failed. Its log on stderr says why.'
  return error.fix === undefined ? error.message : `${error.message}\n${error.fix}`
}

/** For the model of the client, by the tools that it is offered. Claude Code cuts it at 2,048 characters. */
export function instructions({ load, run, index = '' }: InstructionParts = {}): string {
  const text = [
    'Nexus offers skills: instructions, with scripts, for certain kinds of tasks. Before you work on a task, check whether a skill fits.',
    ...(load === undefined ? [] : [`Load it with ${load}, and follow its instructions.`]),
    ...(run === undefined ? [] : [`${run} runs its scripts, in a sandbox.`]),
  ].join(' ')
  return index === '' ? text : `${text}\n\n${SKILL_LIST}\n${index}`
}

/** Names of tools, and the list of skills; absent where they are not offered, or not known yet. */
interface InstructionParts {
  readonly load?: string | undefined
  readonly run?: string | undefined
  readonly index?: string
}

export const SKILL_LIST = 'Skills:'

/** Clients show the beginning of a long text only. */
function sizeOf(command: string): string {
  const lines = command.split('\n').length
  if (lines <= 10 && command.length <= 500) return ''
  return ` Read all of it: ${lines} ${lines === 1 ? 'line' : 'lines'}, ${command.length} characters.`
}

/** The question about a call, and why it is over. */
export const APPROVAL = {
  question: (
    tool: string,
    { command, more, why }: { readonly command: string; readonly more?: string; readonly why?: string | undefined },
  ) =>
    // Marked, so that no line of it passes for one of ours.
    [
      `May ${toSafeLine(tool)} run this${more === undefined ? '' : ` with ${toSafeLine(more)}`}?${sizeOf(command)}`,
      '',
      ...toVisibleLines(command).map((line) => `| ${line}`),
      ...(why === undefined ? [] : ['', toSafeLine(why)]),
    ].join('\n'),
  choices: { once: 'Allow once', exact: 'Allow, and do not ask about exactly this again', deny: 'Deny' },
  over: () =>
    'This question is no longer open: it was answered, was about another call, or Nexus was started again. Nothing ran. Make the call again.',
  /** Completes a denial. */
  cannotAsk: (client: string) =>
    `The MCP client ${client} cannot ask a person: it does not offer elicitation. A client that does can ask, and so can nexus run in a terminal.`,
}

/** Lines of the log on stderr. */
export const LOG = {
  serving: (directory: string, agentId: string, skills: number) =>
    `nexus mcp: agent ${toSafeLine(agentId)}, ${skills} skills, workspace ${toSafeLine(directory)}`,
  notServed: (uri: string, problems: readonly string[]) =>
    `nexus mcp: ${toSafeLine(uri)} is not served as a skill of MCP, only by load_skill: ${problems.map(toSafeLine).join('; ')}`,
  wrongKey: (count: number) => `nexus mcp: ${count} ${count === 1 ? 'request' : 'requests'} with a wrong key`,
  failed: (error: unknown) => `nexus mcp: ${toSafeLine(error instanceof Error ? error.message : String(error))}`,
  tooLong: () => 'nexus mcp: a message of the client is longer than 9 MiB and was not read',
  reloaded: (names: readonly string[]) => `nexus mcp: skills changed: ${names.map(toSafeLine).join(', ')}`,
}
