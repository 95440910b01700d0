import type { JsonObject, ToolContext } from '../../kernel/index.ts'
import type { LoadOptions } from '../../skills/load/index.ts'

/** The argument with which a model says that a skill it works with asks for another one. */
export const CALLED_BY = {
  type: 'string',
  description: 'Only when the instructions of a loaded skill ask for this one: the name of that skill',
} as const

/** Options that say to a loader who asks, and in which turn. */
export function callingOptions(args: JsonObject, context: ToolContext): LoadOptions {
  const { agentId, sessionId, turnId, signal, agreedRevision } = context
  const calledBy = typeof args.called_by === 'string' ? args.called_by : ''
  return {
    signal,
    turn: { agentId, sessionId, turnId },
    calledBy: calledBy.trim() === '' ? undefined : calledBy,
    revision: agreedRevision,
  }
}

/** For the outcome, and so for the ledger: the names from the first skill to this one, when one asked for it. */
export function stackData(stack: readonly string[]): JsonObject {
  return stack.length > 1 ? { stack: [...stack] } : {}
}
