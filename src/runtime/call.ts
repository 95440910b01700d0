/** One call, top to bottom: check -> redact -> decide -> record (-> ask -> decide again -> record) -> load -> run -> redact -> bound -> record. */
import { type Decision, failed, type Outcome, redactOutput } from '../kernel/index.ts'
import type { StoredMessage } from '../store/index.ts'
import { argumentsFailure, runTool } from '../tools/index.ts'
import { decideAfterAsking, decideCall } from './asking.ts'
import { type About, type CallingAgent, check } from './called.ts'
import { toRecord } from './kept-output.ts'
import { REFUSALS } from './messages.ts'
import type { ProjectState } from './project-state.ts'
import type { CallOptions, CallRequest, CallResult } from './types.ts'

/** Runs one call of an agent. Refusals and failures are outcomes; it throws only when the ledger fails. */
export async function runCall(
  agent: CallingAgent,
  project: ProjectState,
  given: { readonly request: CallRequest; readonly options: CallOptions },
): Promise<CallResult> {
  const { ledger } = project.store
  const options = { ...given.options, signal: given.options.signal ?? new AbortController().signal }
  const { signal } = options

  // check, redact: from here on only the tool itself gets the arguments as they were given
  const about = await check(agent, project, { request: given.request, signal })
  const { call, shown } = about

  // decide
  const { decision: first, approval, isRemembered } = await decideCall(about, project, options)

  // record, before anybody is asked and before anything runs; a refused call ends here in one write
  const lease = await agent.lease()
  const row = { call: shown, decision: first, lease, ...(about.row && { skill: about.row }) }
  const refusal = refusalOf(first, about, signal) ?? (await misfit(about, approval !== undefined))
  if (refusal) {
    const outcome = await toRecord(project, call, { outcome: refusal })
    const entry = await ledger.record({ ...row, outcome, ...(await answer(options, outcome, first)) })
    options.onDecision?.(first)
    return { entry, decision: first, outcome }
  }
  await ledger.record(approval ? { ...row, approval } : row)

  // ask -> decide again -> record
  const decision = await decideAfterAsking(about, project, { first, approval, options })
  options.onDecision?.(decision)
  const refused = refusalOf(decision, about, signal)
  if (refused) {
    const outcome = await toRecord(project, call, { outcome: refused })
    const entry = await ledger.close(call.id, outcome, {
      lease,
      decision,
      ...(await answer(options, outcome, decision)),
    })
    return { entry, decision, outcome }
  }
  if (approval) await ledger.start(call.id, decision, lease)

  // load and run: loading a skill is what the skill tools do
  const ran = await run(about, project, { decision, options, isAgreed: approval !== undefined || isRemembered })

  // redact, bound, record
  const outcome = await toRecord(project, call, ran)
  const entry = await ledger.close(call.id, outcome, { lease, ...(await answer(options, outcome, decision)) })
  return { entry, decision, outcome }
}

/** The outcome of a call that does not run; undefined when it may run. */
function refusalOf(decision: Decision, { agent, shown }: About, signal: AbortSignal): Outcome | undefined {
  if (decision.type !== 'deny') return undefined
  if (signal.aborted) return failed('CANCELLED', REFUSALS.cancelledBefore(shown.tool).message, { error: 'CANCELLED' })
  const { reason, rule, fix } = decision
  if (!agent.registry.has(shown.tool)) {
    const leftOut = agent.diagnostics.find(({ subject }) => subject === shown.tool)
    return failed('NOT_FOUND', leftOut?.message ?? reason)
  }
  const { message, ...next } = REFUSALS.denied({ tool: shown.tool, rule, reason, fix })
  return failed('PERMISSION_DENIED', message, { error: 'CALL_DENIED', ...next })
}

/** The outcome of a call whose arguments cannot be read, or do not fit a tool that a person would be asked about. */
async function misfit({ agent: { registry }, call, problem }: About, isAsked: boolean): Promise<Outcome | undefined> {
  if (problem !== undefined) return failed('INVALID_PARAM', problem, { error: 'INVALID_ARGUMENT' })
  const tool = isAsked ? registry.get(call.tool) : undefined
  return tool && argumentsFailure(tool, call.arguments)
}

/** Runs the tool within the limits of the decision. */
async function run(
  { agent: { registry }, call, row }: About,
  { parts, secrets, breaker }: ProjectState,
  given: {
    readonly decision: Decision
    readonly options: CallOptions & { readonly signal: AbortSignal }
    /** True when a person agreed, now or earlier: to this revision of the skill only. */
    readonly isAgreed: boolean
  },
): Promise<{ readonly outcome: Outcome; readonly notes: readonly string[] }> {
  const { decision, options, isAgreed } = given
  const tool = registry.get(call.tool)
  if (!tool) return { outcome: failed('NOT_FOUND', REFUSALS.noTool(call.tool).message), notes: [] }
  const { id: callId, projectId, agentId, sessionId, turnId, origin } = call
  const output = options.onOutput && redactOutput(options.onOutput, ...secrets)
  const context = {
    ...{ callId, projectId, agentId, sessionId, turnId, origin },
    services: registry.services,
    limits: decision.limits,
    agreedRevision: isAgreed ? row?.treeDigest : undefined,
    signal: options.signal,
    onOutput: output?.onOutput,
    maxLiveBytes: options.maxLiveBytes,
  }
  const timed = { timeoutMs: parts.toolTimeoutMs }
  const ran = await breaker.run(tool, () => runTool(tool, call.arguments, context, timed))
  if ('schemaProblem' in ran && ran.schemaProblem !== undefined) registry.rejectSchema(tool.name, ran.schemaProblem)
  output?.end(ran.outcome.type !== 'success')
  return { outcome: ran.outcome, notes: ran.notes }
}

/** What joins the history with the end of the call. */
async function answer(
  { toMessage }: CallOptions,
  outcome: Outcome,
  decision: Decision,
): Promise<{ readonly message?: StoredMessage }> {
  return toMessage ? { message: await toMessage(outcome, decision) } : {}
}
