/** One call, top to bottom: check -> redact -> decide -> record (-> ask -> decide again -> record) -> load -> run -> redact -> bound -> record. */
import type { Catalog } from '../catalog/index.ts'
import {
  type Call,
  type Decision,
  type Diagnostic,
  failed,
  type JsonObject,
  newId,
  type Outcome,
  redactOutput,
  type Skill,
} from '../kernel/index.ts'
import { argumentsProblem, boundOutcome, type Registry, runTool, withNotes } from '../tools/index.ts'
import { resolveAsk } from './approval.ts'
import type { ProjectState } from './project-state.ts'
import type { CallOptions, CallRequest, CallResult } from './types.ts'

/** The agent that calls, as far as a call needs it. */
export interface CallingAgent {
  readonly id: string
  readonly sessionId: string | undefined
  readonly registry: Registry
  readonly diagnostics: readonly Diagnostic[]
  /** The catalog that calls look into. */
  calledCatalog(): Catalog
  /** Sees to it that the catalog has the skill of that name as it is now. */
  ensureFresh(skillName: string, signal: AbortSignal): Promise<void>
  decide(call: CallRequest, skill: Skill | undefined): Decision
}

/** Runs one call of an agent. Refusals and failures are outcomes; it throws only when the ledger fails. */
export async function runCall(
  agent: CallingAgent,
  project: ProjectState,
  given: { readonly request: CallRequest; readonly options: CallOptions },
): Promise<CallResult> {
  const { options } = given
  const { ledger, redact, parts } = project
  const signal = options.signal ?? new AbortController().signal

  // check
  const problem = argumentsProblem(given.request.arguments)
  const request = problem === undefined ? given.request : { ...given.request, arguments: {} }
  const skill = await skillOf(agent, request, signal)
  const call = toCall(request, agent, project)

  // redact: from here on only the tool itself gets the arguments as they were given
  const shown = { ...call, ...redact({ tool: call.tool, arguments: call.arguments }) }

  // decide
  const decided = agent.decide(shown, skill)

  // ask
  const decision = await resolveAsk(decided, shown, { approve: parts.approve, signal })

  // record
  await ledger.open(shown, decision, skill && { name: agent.calledCatalog().addressOf(skill) })
  options.onDecision?.(decision)

  // load and run, or refuse
  const ran =
    decision.type !== 'allow'
      ? { outcome: refusedOutcome(shown, { decision, signal, agent }), notes: [] }
      : problem !== undefined
        ? { outcome: failed('INVALID_PARAM', problem, { error: 'INVALID_ARGUMENT' }), notes: [] }
        : await run(agent, project, { call, decision, options: { ...options, signal } })

  // redact, bound
  const clean = redact(ran as unknown as JsonObject) as unknown as typeof ran
  const outcome = withNotes(boundOutcome(clean.outcome), clean.notes)

  // record
  const entry = await ledger.close(call.id, outcome)
  return { entry, decision, outcome }
}

/** Runs the tool within the limits of the decision. Loading a skill is what the skill tools do. */
async function run(
  agent: CallingAgent,
  { parts, secrets }: ProjectState,
  allowed: {
    readonly call: Call
    readonly decision: Decision
    readonly options: CallOptions & { signal: AbortSignal }
  },
): Promise<{ readonly outcome: Outcome; readonly notes: readonly string[] }> {
  const { call, decision, options } = allowed
  const { registry } = agent
  const tool = registry.get(call.tool)
  if (!tool) return { outcome: failed('NOT_FOUND', `There is no tool '${call.tool}'.`), notes: [] }
  const { id: callId, projectId, agentId, sessionId, turnId, origin } = call
  const output = options.onOutput && redactOutput(options.onOutput, ...secrets)
  const context = {
    ...{ callId, projectId, agentId, sessionId, turnId, origin },
    services: registry.services,
    limits: decision.limits,
    signal: options.signal,
    onOutput: output?.onOutput,
    maxLiveBytes: options.maxLiveBytes,
  }
  const ran = await runTool(tool, call.arguments, context, { timeoutMs: parts.toolTimeoutMs })
  if (ran.schemaProblem !== undefined) registry.rejectSchema(tool.name, ran.schemaProblem)
  output?.end(ran.outcome.type !== 'success')
  return { outcome: ran.outcome, notes: ran.notes }
}

/** The outcome of a call that was not allowed. */
function refusedOutcome(
  call: Call,
  {
    decision,
    signal,
    agent,
  }: { readonly decision: Decision; readonly signal: AbortSignal; readonly agent: CallingAgent },
): Outcome {
  if (signal.aborted)
    return failed('CANCELLED', `The call of '${call.tool}' was cancelled before it began.`, { error: 'CANCELLED' })
  const reason = decision.type === 'deny' ? decision.reason : ''
  if (!agent.registry.has(call.tool)) {
    const leftOut = agent.diagnostics.find(({ subject }) => subject === call.tool)
    return failed('NOT_FOUND', leftOut?.message ?? reason)
  }
  const message = `The call of '${call.tool}' was refused (${decision.rule}): ${reason}`
  return failed('PERMISSION_DENIED', message, { error: 'CALL_DENIED' })
}

/** The call as the ledger keeps it; who calls is the agent, whatever the request says. */
function toCall(request: CallRequest, agent: CallingAgent, { projectId, clock }: ProjectState): Call {
  const { turnId, callId = newId(clock.now()), origin = 'library', tool, arguments: args } = request
  const { id: agentId, sessionId } = agent
  return {
    ...{ id: callId, projectId, agentId },
    ...(sessionId !== undefined && { sessionId }),
    ...(turnId !== undefined && { turnId }),
    ...{ origin, tool, arguments: args },
  }
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
