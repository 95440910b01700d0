/** One call, top to bottom: check -> redact -> decide -> record (-> ask -> decide again -> record) -> load -> run -> redact -> bound -> record. */
import { shownCommand } from '../authorize/index.ts'
import type { Catalog } from '../catalog/index.ts'
import {
  type Call,
  type Decision,
  type Diagnostic,
  failed,
  type JsonObject,
  type LedgerEntry,
  newId,
  type Outcome,
  redactOutput,
  type Skill,
} from '../kernel/index.ts'
import { currentRevision } from '../load/index.ts'
import type { Lease, NewApproval, StoredMessage } from '../store/index.ts'
import { argumentsProblem, boundOutcome, type Registry, runTool, withNotes } from '../tools/index.ts'
import { APPROVAL_MS } from './approvals.ts'
import type { ProjectState } from './project-state.ts'
import type { CallOptions, CallRequest, CallResult } from './types.ts'

/** The agent that calls, as far as a call needs it. */
export interface CallingAgent {
  readonly id: string
  /** The agent and its ancestors, such as `main/worker-1`. */
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
}

/** Runs one call of an agent. Refusals and failures are outcomes; it throws only when the ledger fails. */
export async function runCall(
  agent: CallingAgent,
  project: ProjectState,
  given: { readonly request: CallRequest; readonly options: CallOptions },
): Promise<CallResult> {
  const { redact } = project
  const { ledger } = project.store
  const options = { ...given.options, signal: given.options.signal ?? new AbortController().signal }
  const { signal } = options

  // check, redact: from here on only the tool itself gets the arguments as they were given
  const about = await check(agent, project, { request: given.request, signal })
  const { call, shown } = about

  // decide
  const { decision: first, approval } = await decide(about, project)

  // record, before anybody is asked and before anything runs; a refused call ends here in one write
  const lease = await agent.lease()
  const row = { call: shown, decision: first, lease, ...(about.row && { skill: about.row }) }
  const refusal = refusalOf(first, about, signal) ?? unreadable(about.problem)
  if (refusal) {
    const outcome = toOutcome(redact, refusal)
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
    const outcome = toOutcome(redact, refused)
    const entry = await ledger.close(call.id, outcome, {
      lease,
      decision,
      ...(await answer(options, outcome, decision)),
    })
    return { entry, decision, outcome }
  }
  if (approval) await ledger.start(call.id, decision, lease)

  // load and run: loading a skill is what the skill tools do
  const ran = await run(agent, project, { call, decision, options })

  // redact, bound, record
  const outcome = toOutcome(redact, ran.outcome, ran.notes)
  const entry = await ledger.close(call.id, outcome, { lease, ...(await answer(options, outcome, decision)) })
  return { entry, decision, outcome }
}

/** What joins the history with the end of the call. */
async function answer(
  { toMessage }: CallOptions,
  outcome: Outcome,
  decision: Decision,
): Promise<{ readonly message?: StoredMessage }> {
  return toMessage ? { message: await toMessage(outcome, decision) } : {}
}

/** One call, and what it is about. */
interface About {
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
async function check(
  agent: CallingAgent,
  project: ProjectState,
  { request: given, signal }: { readonly request: CallRequest; readonly signal: AbortSignal },
): Promise<About> {
  const problem = argumentsProblem(given.arguments)
  const request = problem === undefined ? given : { ...given, arguments: {} }
  const skill = await skillOf(agent, request, signal)
  const call = toCall(request, agent, project)
  const shown = { ...call, ...project.redact({ tool: call.tool, arguments: call.arguments }) }
  return { agent, call, shown, skill, row: skill && (await rowOf(agent, skill, signal)), problem }
}

/** The decision, and the question to a person when it is `ask`. A remembered answer allows; where nobody can be asked, it is a denial. */
async function decide(
  { agent, call, shown, skill, row }: About,
  { broker, parts: { scope = '' } }: ProjectState,
): Promise<{ readonly decision: Decision; readonly approval?: NewApproval & { readonly id: string } }> {
  const decision = agent.decide(shown, skill)
  if (decision.type !== 'ask') return { decision }
  const command = shownCommand(shown)
  const asked = { agentPath: agent.path, tool: shown.tool, scope, skillDigest: row?.treeDigest }
  // A tool that wants a confirmation asks each time, and a command with a blanked secret may stand for another one.
  const canRemember =
    !decision.limits.confirmation && JSON.stringify(call.arguments) === JSON.stringify(shown.arguments)
  if (canRemember && (await broker.isRemembered(asked, command))) return { decision: allowed(decision, 'remembered') }
  if (!broker.canAsk) return { decision: denied(decision, `${decision.question} There is no terminal to ask in.`) }
  const { prefix, ...whole } = command
  const approval = { id: newId(), agentPath: agent.path, ...whole, scope, canRemember, ttlMs: APPROVAL_MS }
  return { decision, approval: canRemember && prefix !== undefined ? { ...approval, prefix } : approval }
}

/** The decision after a person was asked, if one was: decided again, so that what changed meanwhile counts. */
async function decideAfterAsking(
  about: About,
  { broker }: ProjectState,
  asked: {
    readonly first: Decision
    readonly approval: { readonly id: string } | undefined
    readonly options: CallOptions & { readonly signal: AbortSignal }
  },
): Promise<Decision> {
  const { agent, shown, skill } = about
  const { first, approval, options } = asked
  if (!approval || first.type !== 'ask') return first
  const { signal, onAsked } = options
  onAsked?.({ approvalId: approval.id, isOpen: true })
  const reply = await broker.ask(approval.id, { call: shown, question: first.question, signal })
  onAsked?.({ approvalId: approval.id, isOpen: false })
  const decision = agent.decide(shown, skill)
  if (decision.type === 'deny') return decision
  // A no stays a no, whatever the rules say by now.
  if (reply.type !== 'allowed') return denied(decision, reply.reason)
  // What cannot be read again is not what the person agreed to either.
  if (await isOtherSkill(about, signal).catch(() => true))
    return denied(decision, 'The skill changed while a person was asked.')
  return decision.type === 'ask' ? allowed(decision, `approved by ${reply.by}`) : decision
}

/** Whether the call names another skill, or another revision, than the one that the question was about. */
async function isOtherSkill({ agent, call, row }: About, signal: AbortSignal): Promise<boolean> {
  const skill = await skillOf(agent, call, signal)
  const now = skill && (await rowOf(agent, skill, signal))
  return now?.name !== row?.name || now?.treeDigest !== row?.treeDigest
}

function allowed({ rule, chain, limits }: Decision, how: string): Decision {
  return { type: 'allow', rule: `${rule}, ${how}`, chain, limits }
}

function denied({ rule, chain, limits }: Decision, reason: string): Decision {
  return { type: 'deny', rule, chain, limits, reason }
}

/** Runs the tool within the limits of the decision. */
async function run(
  { registry }: CallingAgent,
  { parts, secrets }: ProjectState,
  given: { readonly call: Call; readonly decision: Decision; readonly options: CallOptions & { signal: AbortSignal } },
): Promise<{ readonly outcome: Outcome; readonly notes: readonly string[] }> {
  const { call, decision, options } = given
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

/** An outcome as it may be recorded and shown: without secrets, then cut to its limits. */
function toOutcome(redact: ProjectState['redact'], outcome: Outcome, notes: readonly string[] = []): Outcome {
  const clean = redact({ outcome, notes } as unknown as JsonObject) as unknown as { outcome: Outcome; notes: string[] }
  return withNotes(boundOutcome(clean.outcome), clean.notes)
}

/** The outcome of a call that does not run; undefined when it may run. */
function refusalOf(decision: Decision, { agent, shown }: About, signal: AbortSignal): Outcome | undefined {
  if (decision.type !== 'deny') return undefined
  if (signal.aborted)
    return failed('CANCELLED', `The call of '${shown.tool}' was cancelled before it began.`, { error: 'CANCELLED' })
  const { reason, rule } = decision
  if (!agent.registry.has(shown.tool)) {
    const leftOut = agent.diagnostics.find(({ subject }) => subject === shown.tool)
    return failed('NOT_FOUND', leftOut?.message ?? reason)
  }
  const message = `The call of '${shown.tool}' was refused (${rule}): ${reason}`
  const fix = denialFix(rule)
  return failed('PERMISSION_DENIED', message, { error: 'CALL_DENIED', ...(fix !== undefined && { fix }) })
}

/** What the user can do about a rule of the policy; read by the model too. */
function denialFix(rule: string): string | undefined {
  const [list, entry] = [rule.split(' ', 1)[0], rule.slice(rule.indexOf(' ') + 1)]
  if (list === 'deny') return `Only the user can allow it: remove ${entry} from tools.deny of the agent in nexus.yaml.`
  if (list === 'ask')
    return `Only the user can allow it: run Nexus in a terminal to answer, or remove ${entry} from tools.ask of the agent in nexus.yaml.`
  return undefined
}

function unreadable(problem: string | undefined): Outcome | undefined {
  return problem === undefined ? undefined : failed('INVALID_PARAM', problem, { error: 'INVALID_ARGUMENT' })
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

/** The skill as the ledger names it: its address and its revision at this moment. */
async function rowOf(
  agent: CallingAgent,
  skill: Skill,
  signal: AbortSignal,
): Promise<NonNullable<LedgerEntry['skill']>> {
  const treeDigest = await currentRevision(skill, signal)
  return { name: agent.calledCatalog().addressOf(skill), ...(treeDigest !== undefined && { treeDigest }) }
}
