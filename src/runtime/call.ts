/** One call, top to bottom: check -> redact -> decide -> record (-> ask -> decide again -> record) -> load -> run -> redact -> bound -> record. */
import { type Call, type Decision, failed, type LedgerEntry, type Outcome, redactOutput } from '../kernel/index.ts'
import { argumentsFailure, pathFailure, runTool } from '../tools/index.ts'
import { decideAfterAsking, decideCall, whyHeld } from './asking.ts'
import { type CheckedCall, type CallingAgent, check } from './check-call.ts'
import type { Lease } from '../store/index.ts'
import { createConnecting } from './connecting.ts'
import { redactAndBound } from './kept-output.ts'
import { REFUSALS } from './messages.ts'
import type { ProjectState } from './project-state.ts'
import { createWaker } from './waiting.ts'
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
  const checked = await check(agent, project, { request: given.request, signal })
  const { call, shown } = checked
  if (options.goesOn) return goOn({ ...checked, row: options.goesOn.entry.skill }, project, options.goesOn, options)

  // decide
  const { decision: first, approval, isRemembered } = await decideCall(checked, project, options)

  // record, before anybody is asked and before anything runs; a refused call ends here in one write
  const { isIdempotent } = agent.registry.get(call.tool)?.options ?? {}
  const row = { call: shown, decision: first, skill: checked.row, isIdempotent, step: options.step }
  const refusal = refusalOf(first, checked, signal) ?? (await refusedArguments(checked, first, approval !== undefined))
  if (refusal) {
    const outcome = await redactAndBound(project, call, { outcome: refusal })
    const message = await options.toMessage?.(outcome, first)
    const entry = await agent.write((lease) => ledger.record({ ...row, lease, outcome, message }))
    if (entry.isRepeated) return endOf(project, entry, signal)
    options.onDecision?.(first)
    return { entry, decision: first, outcome }
  }
  const { entry, lease } = await agent.write(async (its) => {
    return { entry: await ledger.record({ ...row, lease: its, approval }), lease: its }
  })
  if (entry.isRepeated) return endOf(project, entry, signal)

  const isAgreed = approval !== undefined || isRemembered
  return askAndRun(checked, project, { first, approval, isAgreed, lease, options })
}

/** The end of a call that was recorded before under the same id: it never runs again. An aborted signal ends the wait only. */
async function endOf({ store }: ProjectState, known: LedgerEntry, signal: AbortSignal): Promise<CallResult> {
  const { id, tool } = known.call
  const waker = await createWaker(store, ({ references }) => references.callId === id)
  try {
    for (;;) {
      const entry = (await store.ledger.get(id)) ?? known
      const { decision, outcome } = entry
      if (outcome) return { entry, decision, outcome }
      if (signal.aborted) return { entry, decision, outcome: failed('CANCELLED', REFUSALS.notWaitedFor(tool).message) }
      await waker.next(signal)
    }
  } finally {
    waker.stop()
  }
}

type Options = CallOptions & { readonly signal: AbortSignal }

/** The rest of a call that an ended process recorded: a person was asked about it and it never began, or it is idempotent. */
async function goOn(
  checked: CheckedCall,
  project: ProjectState,
  { entry, approvalId, refusal: given }: NonNullable<CallOptions['goesOn']>,
  options: Options,
): Promise<CallResult> {
  const lease = await checked.agent.lease()
  // A tool of the same name on the wire, or arguments that other secrets were taken out of, are not those that were asked about.
  const refusal = given ?? (isSameCall(checked.shown, entry.call) ? undefined : REFUSALS.anotherCall())
  if (refusal) {
    const { decision } = entry
    const message = await options.toMessage?.(refusal, decision)
    const closed = await project.store.ledger.close(entry.call.id, refusal, { lease, message })
    return { entry: closed, decision, outcome: refusal }
  }
  const approval = approvalId === undefined ? undefined : { id: approvalId }
  const now = checked.agent.decide(checked.shown, checked.skill)
  // One that began was allowed, perhaps by a person. Rules that deny it now stop it.
  const first = approval === undefined && now.type === 'deny' ? now : entry.decision
  return askAndRun(checked, project, { first, approval, isAgreed: true, lease, options })
}

function isSameCall(now: Call, asked: Call): boolean {
  return now.tool === asked.tool && JSON.stringify(now.arguments) === JSON.stringify(asked.arguments)
}

/** ask -> decide again -> record -> load -> run -> redact -> bound -> record, of a call that is recorded. */
async function askAndRun(
  checked: CheckedCall,
  project: ProjectState,
  given: {
    readonly first: Decision
    readonly approval: { readonly id: string } | undefined
    readonly isAgreed: boolean
    readonly lease: Lease
    readonly options: Options
  },
): Promise<CallResult> {
  const { first, approval, isAgreed, lease, options } = given
  const { call } = checked
  const { ledger } = project.store
  const decision = await decideAfterAsking(checked, project, { first, approval, options })
  options.onDecision?.(decision)
  const refused = refusalOf(decision, checked, options.signal)
  if (refused) {
    const outcome = await redactAndBound(project, call, { outcome: refused })
    const entry = await ledger.close(call.id, outcome, {
      lease,
      decision,
      message: await options.toMessage?.(outcome, decision),
    })
    return { entry, decision, outcome }
  }
  if (approval) await ledger.start(call.id, decision, lease)

  // load and run: loading a skill is what the skill tools do
  const ran = await run(checked, project, {
    decision,
    options,
    isAgreed,
    mayChangeHeld: isAgreed && whyHeld(first) !== undefined,
  })

  // redact, bound, record
  const outcome = await redactAndBound(project, call, ran)
  const entry = await ledger.close(call.id, outcome, { lease, message: await options.toMessage?.(outcome, decision) })
  return { entry, decision, outcome }
}

/** The outcome of a call that does not run; undefined when it may run. */
function refusalOf(decision: Decision, { agent, shown }: CheckedCall, signal: AbortSignal): Outcome | undefined {
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

/** The outcome of a call whose arguments cannot be read. Where a person would be asked, also of one that its tool refuses. */
async function refusedArguments(
  { agent: { registry }, call, problem }: CheckedCall,
  { limits }: Decision,
  isAsked: boolean,
): Promise<Outcome | undefined> {
  if (problem !== undefined) return failed('INVALID_PARAM', problem, { error: 'INVALID_ARGUMENT' })
  const tool = isAsked ? registry.get(call.tool) : undefined
  if (!tool) return undefined
  const isShipped = registry.ownerOf(tool.name) === 'nexus'
  const failure = await argumentsFailure(tool, call.arguments, isShipped)
  if (failure || !isShipped) return failure
  return pathFailure(registry.services, { ...call, limits })
}

/** Runs the tool within the limits of the decision. */
async function run(
  checked: CheckedCall,
  project: ProjectState,
  given: {
    readonly decision: Decision
    readonly options: Options
    /** True when a person agreed, now or earlier: to this revision of the skill only. */
    readonly isAgreed: boolean
    readonly mayChangeHeld: boolean
  },
): Promise<{ readonly outcome: Outcome; readonly notes: readonly string[] }> {
  const { agent, call, row } = checked
  const { registry } = agent
  const { parts, secrets, breaker } = project
  const { decision, options, isAgreed, mayChangeHeld } = given
  const tool = registry.get(call.tool)
  if (!tool) return { outcome: failed('NOT_FOUND', REFUSALS.noTool(call.tool).message), notes: [] }
  const { id: callId, projectId, agentId, sessionId, turnId, origin } = call
  const output = options.onOutput && redactOutput(options.onOutput, ...secrets)
  const context = {
    callId,
    projectId,
    agentId,
    sessionId,
    turnId,
    origin,
    services: registry.services,
    limits: decision.limits,
    agreedRevision: isAgreed ? row?.treeDigest : undefined,
    mayChangeHeld,
    signal: options.signal,
    connecting: createConnecting(checked, project, options),
    input: options.input,
    onOutput: output?.onOutput,
    maxLiveBytes: options.maxLiveBytes,
  }
  const how = { timeoutMs: parts.toolTimeoutMs, isShipped: registry.ownerOf(tool.name) === 'nexus' }
  const ran = await breaker.run(tool, () => runTool(tool, call.arguments, context, how))
  if ('schemaProblem' in ran && ran.schemaProblem !== undefined) registry.rejectSchema(tool.name, ran.schemaProblem)
  output?.end(ran.outcome.type !== 'success')
  return { outcome: ran.outcome, notes: ran.notes }
}
