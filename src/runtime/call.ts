/** The steps of one call that need no decision: what it names, and how its tool is run. `create-runtime.ts` puts them in order. */
import { type Call, failed, type Outcome, type Skill } from '../kernel/index.ts'
import { executeTool } from '../tools/index.ts'
import type { AgentState } from './agent-state.ts'
import type { CallOptions, CallRequest } from './types.ts'

/** What running a tool needs besides the call. */
export interface ExecuteOptions extends Pick<CallOptions, 'onOutput' | 'maxLiveBytes'> {
  readonly signal: AbortSignal
  /** Time limit when the tool names none, in milliseconds. */
  readonly timeoutMs?: number | undefined
}

/** Runs the tool of a call that was allowed. Never rejects: failures are outcomes. */
export async function execute(
  agent: AgentState,
  made: Call,
  { signal, onOutput, maxLiveBytes, timeoutMs }: ExecuteOptions,
): Promise<Outcome> {
  const { registry } = agent
  const tool = registry.get(made.tool)
  if (!tool) return failed('NOT_FOUND', `There is no tool '${made.tool}'.`)
  const { id: callId, projectId, agentId, sessionId, turnId, origin } = made
  const context = {
    callId,
    projectId,
    agentId,
    origin,
    signal,
    services: registry.services,
    sessionId,
    turnId,
    onOutput,
    maxLiveBytes,
  }
  return executeTool(tool, made.arguments, context, { timeoutMs })
}

/** The call as the ledger keeps it. */
export function toCall(request: CallRequest, ids: { projectId: string; agentId: string; id: string }): Call {
  const { sessionId, turnId, origin = 'library', tool, arguments: args } = request
  return {
    ...ids,
    ...(sessionId !== undefined && { sessionId }),
    ...(turnId !== undefined && { turnId }),
    origin,
    tool,
    arguments: args,
  }
}

/** The skill that a call names, when its tool says which argument does. */
export function skillOf(agent: AgentState, call: Pick<Call, 'tool' | 'arguments'>): Skill | undefined {
  const name = skillName(agent, call)
  if (name === undefined) return undefined
  return agent.catalog.find(name)
}

/** The name of the skill in a call's arguments. */
export function skillName(agent: AgentState, call: Pick<Call, 'tool' | 'arguments'>): string | undefined {
  const argument = agent.registry.get(call.tool)?.options?.skillArgument
  if (argument === undefined || !Object.hasOwn(call.arguments, argument)) return undefined
  const name = call.arguments[argument]
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : undefined
}
