import { type Decision, type Outcome, toSafeLine } from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import type { Invocation } from '../command.ts'
import { explainCall, openAgent } from '../commands/policy.ts'
import { pathsFor } from './facts.ts'
import { linesOf } from './policy-lines.ts'

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
