/** The pipeline, top to bottom: discover -> gate -> catalog -> load -> authorize -> execute -> record. */
import { type PolicyRules, toolGroupRule } from '../authorize/index.ts'
import { toSnapshot } from '../catalog/index.ts'
import {
  createRedactor,
  createStreamRedactor,
  DEFAULT_PROJECT,
  failed,
  type JsonObject,
  newId,
  NexusError,
  type Outcome,
  redactOutput,
  systemClock,
  type TargetFacts,
} from '../kernel/index.ts'
import { createFreshness, createSkillStacks } from '../load/index.ts'
import { outdatedSkills } from './outdated.ts'
import { type SourceResult, yieldToEventLoop } from '../sources/index.ts'
import { createMemoryStore } from '../store/index.ts'
import { argumentsProblem } from '../tools/index.ts'
import { type AgentState, createAgentState, type SharedState } from './agent-state.ts'
import { authorize, refusedOutcome, resolveAsk } from './approval.ts'
import { buildCatalogs, type CatalogAgent } from './build-catalogs.ts'
import { execute, skillName, skillOf, toCall } from './call.ts'
import { coalesce, reloadOnChange } from './reload.ts'
import type { AgentProfile, CallOptions, CallRequest, CallResult, Parts, Runtime } from './types.ts'

/** What was found, and the state of each agent by its id; replaced whole by a refresh. */
interface View {
  readonly found: SourceResult
  readonly agents: ReadonlyMap<string, AgentState>
}

const FULL_POLICY: PolicyRules = { profile: 'full', allow: [], ask: [], deny: [], groups: new Map() }

/**
 * Finds the skills of `parts.sources`, gates them against the target, and serves calls until closed.
 * A bad skill is a diagnostic, never a throw. Throws INVALID_ARGUMENT when neither `facts` nor `sandbox` is given.
 */
export async function createRuntime(parts: Parts, options: { readonly signal?: AbortSignal } = {}): Promise<Runtime> {
  const clock = parts.clock ?? systemClock
  const projectId = parts.projectId ?? DEFAULT_PROJECT
  const ledger = parts.ledger ?? createMemoryStore({ projectId, clock }).ledger
  const profiles = parts.agents?.length ? parts.agents : [{ id: 'main', policy: FULL_POLICY }]
  const secrets: SharedState['secrets'] = [parts.secrets ?? [], []]
  const redact = createRedactor(...secrets)
  const facts = await targetFacts(parts)
  const shared: SharedState = { stacks: createSkillStacks(), facts, secrets }
  const closing = new AbortController()
  let view = await buildView(options.signal)
  /** Replaces the view whole, or keeps it when building a new one fails. */
  const refresh = coalesce(async () => {
    view = await buildView(closing.signal)
  })
  const freshness = createFreshness({ refresh, everyCall: parts.refreshOnCall ?? true })

  /** discover -> gate -> catalog, then the tools and services of each agent */
  async function buildView(signal?: AbortSignal): Promise<View> {
    const offered = profiles.map(toCatalogAgent)
    const { found, catalogs } = await buildCatalogs({ ...parts, agents: offered, facts }, signal)
    const agents = new Map<string, AgentState>()
    for (const profile of profiles) {
      await yieldToEventLoop(signal)
      const catalog = catalogs.get(profile.id)
      if (catalog) agents.set(profile.id, createAgentState(parts, { profile, catalog, ...shared }))
    }
    return { found, agents }
  }

  /** check -> redact -> authorize (-> ask) -> record -> load -> execute -> redact -> record */
  async function call(request: CallRequest, callOptions: CallOptions = {}): Promise<CallResult> {
    const signal = callOptions.signal ?? new AbortController().signal
    const problem = argumentsProblem(request.arguments)
    const checked = problem === undefined ? request : { ...request, arguments: {} }
    await ensureFresh(checked, signal)
    const agent = agentOf(view, checked.agentId)
    const made = toCall(checked, { projectId, agentId: agent.profile.id, id: checked.callId ?? newId(clock.now()) })
    const skill = skillOf(agent, made)
    const shown = { ...made, ...redact({ tool: made.tool, arguments: made.arguments }) }
    const decision = await resolveAsk(authorize(agent, shown, skill), shown, { approve: parts.approve, signal })
    await ledger.open(shown, decision, skill && { name: agent.catalog.addressOf(skill) })
    callOptions.onDecision?.(decision)
    const run = async (): Promise<Outcome> => {
      if (decision.type !== 'allow') return refusedOutcome(made, decision, signal)
      if (problem !== undefined) return failed('INVALID_PARAM', problem, { error: 'INVALID_ARGUMENT' })
      const output = callOptions.onOutput && redactOutput(callOptions.onOutput, ...secrets)
      const { maxLiveBytes } = callOptions
      const outcome = await execute(agent, made, {
        signal,
        timeoutMs: parts.toolTimeoutMs,
        ...(output && { onOutput: output.onOutput }),
        ...(maxLiveBytes !== undefined && { maxLiveBytes }),
      })
      output?.end(outcome.type !== 'success')
      return outcome
    }
    const outcome = redact((await run()) as unknown as JsonObject) as unknown as Outcome
    const entry = await ledger.close(made.id, outcome)
    return { entry, decision, outcome }
  }

  /** A skill that was edited or added a moment ago is used as it is now. Source: seed 003, "refresh_if_stale". */
  async function ensureFresh(request: CallRequest, signal: AbortSignal): Promise<void> {
    const agent = agentOf(view, request.agentId)
    if (skillName(agent, request) !== undefined) await freshness.ensure(() => skillOf(agent, request), signal)
  }

  return {
    projectId,
    facts,
    get diagnostics() {
      return view.found.diagnostics
    },
    catalog: (agentId) => agentOf(view, agentId).catalog,
    index: (agentId) => agentOf(view, agentId).modelContext.index(),
    instructions: (agentId) => agentOf(view, agentId).modelContext.instructions(),
    definitions: (agentId) => agentOf(view, agentId).modelContext.definitions(),
    redact,
    redactStream: () => createStreamRedactor(...secrets),
    snapshot: (agentId) => toSnapshot(agentOf(view, agentId).catalog),
    loadedSkills: (session) => shared.stacks.loadedIn(session),
    recallSkills: (session, loaded) => shared.stacks.recall(session, loaded),
    outdatedSkills: (session, signal) =>
      outdatedSkills(agentOf(view, session.agentId).catalog, shared.stacks.loadedIn(session), signal),
    refresh,
    watch: ({ signal, ...watching } = {}) =>
      reloadOnChange(
        {
          sources: parts.sources,
          refresh,
          catalogs: () => new Map([...view.agents].map(([id, { catalog }]) => [id, catalog])),
        },
        { ...watching, signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal },
      ),
    call,
    close: async () => {
      closing.abort()
      await parts.sandbox?.close()
    },
  }
}

/** The rules of an agent that decide which skills it is offered. */
function toCatalogAgent({ id, skills, policy }: AgentProfile): CatalogAgent {
  const allowsToolGroup = toolGroupRule(policy)
  return { id, ...(skills && { skills }), ...(allowsToolGroup && { allowsToolGroup }) }
}

async function targetFacts({ facts, sandbox }: Parts): Promise<TargetFacts> {
  const known = facts ?? (await sandbox?.facts())
  if (known) return known
  throw new NexusError('INVALID_ARGUMENT', 'A runtime needs a target to gate against.', {
    fix: 'Pass `sandbox`, or `facts` that say what is true where commands would run.',
  })
}

/** The state of an agent, default the first. Throws INVALID_ARGUMENT for an unknown id. */
function agentOf({ agents }: View, agentId: string | undefined): AgentState {
  const [first] = agents.values()
  const agent = agentId === undefined ? first : agents.get(agentId)
  if (agent) return agent
  throw new NexusError('INVALID_ARGUMENT', `There is no agent '${agentId}'.`, {
    fix: `Known agents: ${[...agents.keys()].join(', ')}. Add it under agents: in nexus.yaml.`,
  })
}
