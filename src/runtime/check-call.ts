/** The first step of a call: the call, its form without secrets, and the skill that it names. */
import type { Catalog } from '../skills/catalog/index.ts'
import { type Call, type Decision, type Diagnostic, type LedgerEntry, newId, type Skill } from '../kernel/index.ts'
import { currentRevision } from '../skills/load/index.ts'
import type { Lease } from '../store/index.ts'
import { argumentsProblem, type Registry } from '../tools/index.ts'
import type { ProjectState } from './project-state.ts'
import type { CallRequest } from './types.ts'

/** The agent that calls, as far as a call needs it. */
export interface CallingAgent {
  readonly id: string
  /** Its own for ever. */
  readonly key: string
  /** Ids of its ancestors and its own. */
  readonly path: string
  readonly sessionId: string | undefined
  readonly registry: Registry
  readonly diagnostics: readonly Diagnostic[]
  /** The catalog that calls look into. */
  calledCatalog(): Catalog
  /** Sees to it that the catalog has the skill of that name as it is now. */
  ensureFresh(skillName: string, signal: AbortSignal): Promise<void>
  decide(call: CallRequest, skill: Skill | undefined): Decision
  /** The right to write about its calls: that of its session in a turn, else that of the process. */
  lease(): Promise<Lease>
  write<T>(work: (lease: Lease) => Promise<T>): Promise<T>
}

/** A call whose arguments were read, with the skill that it names. */
export interface CheckedCall {
  readonly agent: CallingAgent
  readonly call: Call
  /** The same without secrets. */
  readonly shown: Call
  readonly skill: Skill | undefined
  readonly row: LedgerEntry['skill']
  /** Why its arguments cannot be read. */
  readonly problem: string | undefined
}

/** The call, its form without secrets, and the skill that it names as that is now. */
export async function check(
  agent: CallingAgent,
  project: ProjectState,
  { request: given, signal }: { readonly request: CallRequest; readonly signal: AbortSignal },
): Promise<CheckedCall> {
  const problem = argumentsProblem(given.arguments)
  const request = problem === undefined ? given : { ...given, arguments: {} }
  const skill = await skillOf(agent, request, signal)
  const call = toCall(request, agent, project)
  const toolCallId = call.toolCallId === undefined ? undefined : project.redact(call.toolCallId)
  const shown = { ...call, ...project.redact({ tool: call.tool, arguments: call.arguments }), toolCallId }
  return { agent, call, shown, skill, row: skill && (await rowOf(agent, skill, signal)), problem }
}

/** Whether the call names another skill, or another revision, than the one that the question was about. */
export async function isOtherSkill({ agent, call, row }: CheckedCall, signal: AbortSignal): Promise<boolean> {
  const skill = await skillOf(agent, call, signal)
  const now = skill && (await rowOf(agent, skill, signal))
  return now?.name !== row?.name || now?.treeDigest !== row?.treeDigest
}

/** The call as the ledger keeps it; who calls is the agent, whatever the request says. */
function toCall(request: CallRequest, agent: CallingAgent, { store, clock }: ProjectState): Call {
  const { turnId, callId = newId(clock.now()), origin = 'library', tool, arguments: args, toolCallId } = request
  const { key: agentId, sessionId } = agent
  const who = { id: callId, projectId: store.projectId, agentId, sessionId, turnId }
  return { ...who, origin, tool, arguments: args, toolCallId }
}

/** The skill that a call names, as it is now, when its tool says which argument does. */
async function skillOf(agent: CallingAgent, call: CallRequest, signal: AbortSignal): Promise<Skill | undefined> {
  const argument = agent.registry.get(call.tool)?.options?.skillArgument
  if (argument === undefined || !Object.hasOwn(call.arguments, argument)) return undefined
  const name = call.arguments[argument]
  if (typeof name !== 'string' || name.trim() === '') return undefined
  await agent.ensureFresh(name.trim(), signal)
  return agent.calledCatalog().find(name.trim())
}

/** The skill as the ledger names it: its address and its revision at this moment. */
async function rowOf(
  agent: CallingAgent,
  skill: Skill,
  signal: AbortSignal,
): Promise<NonNullable<LedgerEntry['skill']>> {
  return { name: agent.calledCatalog().addressOf(skill), treeDigest: await currentRevision(skill, signal) }
}
