/** agents: agents, and the events of those below the one that works, as lines for people. */
import type { AgentInfo, AgentTree, Budget, PoolEvent } from '../../../agents/pool/index.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import { many } from '../failure.ts'
import type { TurnUse } from '../../../store/index.ts'
import type { Agents } from '../served-agents.ts'
import type { Terminal } from '../terminal.ts'

export function agentCells(agent: AgentInfo): string[] {
  const { path, key, state, preset, messageCount, childCount, endedAt } = agent
  const counts = [many(messageCount, 'message'), childCount === 1 ? '1 child' : `${childCount} children`]
  return [toSafeLine(path), state, toSafeLine(preset), ...counts, ...(endedAt === undefined ? [] : [key])]
}

export function treeLines(trees: readonly AgentTree[], indent = ''): string[] {
  return trees.flatMap((tree) => [
    `${indent}${toSafeLine(tree.id)}  ${tree.state}  ${toSafeLine(tree.preset)}`,
    ...treeLines(tree.children, `${indent}  `),
  ])
}

export function statusLines(status: Awaited<ReturnType<Agents['status']>>): string[] {
  const { path, state, preset, used, left, sessionId, questions } = status
  const { own, subtree } = used
  return [
    `${toSafeLine(path)}  ${state}  preset ${toSafeLine(preset)}  session ${sessionId}`,
    `used: ${useText(own)}; with its descendants ${useText(subtree)}, ${many(used.turns, 'turn')}, ${many(used.children, 'agent')} made`,
    `left: ${leftText(left)}`,
    ...questions.map(
      ({ id, agentPath, tool, command }) =>
        `asks: ${toSafeLine(agentPath)}: ${toSafeLine(tool)} ${toSafeLine(command)}  ${id}`,
    ),
  ]
}

function leftText({ maxTokens, maxTurns, maxTimeMs, maxChildren, maxDepth, maxCost }: Budget): string {
  const parts = [
    maxTokens !== undefined && many(maxTokens, 'token'),
    maxTurns !== undefined && many(maxTurns, 'turn'),
    maxTimeMs !== undefined && `${Math.round(maxTimeMs / 1000)} s`,
    maxChildren !== undefined && many(maxChildren, 'agent'),
    maxDepth !== undefined && many(maxDepth, 'level'),
    maxCost !== undefined && `cost ${moneyText(maxCost)}`,
  ].filter((part) => part !== false)
  return parts.join(', ') || 'no limit'
}

/** A line about another agent than the one whose words are shown; undefined for what is not worth one. */
export function eventLine({ path, event }: PoolEvent, terminal: Terminal): string | undefined {
  const who = terminal.paint('dim', `[${toSafeLine(path)}]`)
  switch (event.type) {
    case 'agent-created':
      return `  ${who} made`
    case 'agent-ended':
      return `  ${who} ended`
    case 'turn-start':
      return `  ${who} begins`
    case 'tool-call':
      return `  ${who} → ${toSafeLine(event.tool)}`
    case 'tool-decision':
      return event.decision.type === 'deny' ? `  ${who} denied: ${toSafeLine(event.decision.reason)}` : undefined
    case 'tool-asked':
      return event.isOpen ? `  ${who} asks a person: ${event.approvalId}` : undefined
    case 'turn-end': {
      const { end, usage } = event.result
      return `  ${who} ${end}, ${useText(usage)}`
    }
    default:
      return undefined
  }
}

/** Such as `120 tokens in 2 steps, cost 0.0012`; without a price of the model no cost. */
export function useText(use: TurnUse): string {
  const { steps, cost } = use
  return `${tokensText(use)} in ${many(steps, 'step')}${cost === undefined ? '' : `, cost ${moneyText(cost)}`}`
}

export function moneyText(money: number): string {
  return money.toLocaleString('en-US', { maximumSignificantDigits: 4, useGrouping: false })
}

/** Such as `120 tokens`, `120 tokens (30 estimated)` or `120 tokens (estimated)`. */
export function tokensText({ totalTokens, estimatedTokens = 0 }: TurnUse): string {
  const tokens = many(totalTokens, 'token')
  if (estimatedTokens === 0) return tokens
  return `${tokens} (${estimatedTokens >= totalTokens ? '' : `${estimatedTokens} `}estimated)`
}
