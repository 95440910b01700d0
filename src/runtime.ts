/** The pipeline, top to bottom: discover -> gate -> catalog -> load -> authorize -> execute -> record. */
import { refused, settle } from './ask.ts'
import { decide, deniedCapabilities, type PolicyRules, toolGroupRule } from './authorize/index.ts'
import { type Briefing, createBriefing } from './briefing.ts'
import { type Catalog, createSkillSearch, toSnapshot } from './catalog/index.ts'
import {
  type Call,
  createRedactor,
  createStreamRedactor,
  redactOutput,
  type Decision,
  DEFAULT_PROJECT,
  failed,
  type JsonObject,
  newId,
  NexusError,
  type Outcome,
  type Skill,
  systemClock,
  type TargetFacts,
} from './kernel/index.ts'
import { createFreshness, createLoader, createSkillStacks, type SkillStacks } from './load/index.ts'
import type { AgentProfile, CallOptions, CallRequest, CallResult, Parts, Runtime } from './parts.ts'
import { coalesce, reloadOnChange } from './reload.ts'
import { rest, type SourceResult } from './sources/index.ts'
import { createMemoryStore } from './store/index.ts'
import { survey, type SurveyedAgent } from './survey.ts'
import {
  argumentsProblem,
  createRegistry,
  createServices,
  EXECUTION,
  executeTool,
  LOADER,
  provideCommands,
  registerBuiltins,
  type Registry,
  SKILL_SEARCH,
  WORKSPACE,
} from './tools/index.ts'

/** What one agent has: its catalog, its tools, its policy. Made anew by every refresh. */
interface AgentRoom {
  readonly profile: AgentProfile
  readonly catalog: Catalog
  readonly registry: Registry
  readonly briefing: Briefing
}

/** What all agents share besides. */
interface Shared {
  readonly stacks: SkillStacks
  readonly facts: TargetFacts
  /** Those of the configuration, and those that commands of skills were given. */
  readonly secrets: readonly [readonly string[], string[]]
}

/** One look at the world: what was found, and each agent's share of it. */
interface View {
  readonly found: SourceResult
  readonly rooms: ReadonlyMap<string, AgentRoom>
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
  const secrets: Shared['secrets'] = [parts.secrets ?? [], []]
  const redact = createRedactor(...secrets)
  const facts = await targetFacts(parts)
  const stacks = createSkillStacks()
  const closing = new AbortController()
  let view = await look(options.signal)
  /** Swaps the view whole, or leaves it as it is when that fails. */
  const refresh = coalesce(async () => {
    view = await look(closing.signal)
  })
  const freshness = createFreshness({ refresh, everyCall: parts.refreshOnCall ?? true })

  /** discover -> gate -> catalog, and what each agent needs to work with it */
  async function look(signal?: AbortSignal): Promise<View> {
    const { found, catalogs } = await survey({ ...parts, agents: profiles.map(toSurveyed), facts }, signal)
    const rooms = new Map<string, AgentRoom>()
    for (const profile of profiles) {
      await rest(signal)
      const catalog = catalogs.get(profile.id) as Catalog
      rooms.set(profile.id, furnish(parts, { profile, catalog, stacks, facts, secrets }))
    }
    return { found, rooms }
  }

  /** A skill that was edited or added a moment ago is met as it is now. Source: seed 003, "refresh_if_stale". */
  async function ensureFresh(request: CallRequest, signal: AbortSignal): Promise<void> {
    const agent = roomOf(view, request.agentId)
    if (skillName(agent, request) !== undefined) await freshness.ensure(() => skillOf(agent, request), signal)
  }

  /** authorize -> record -> (load ->) execute -> record */
  async function call(request: CallRequest, callOptions: CallOptions = {}): Promise<CallResult> {
    const signal = callOptions.signal ?? new AbortController().signal
    const problem = argumentsProblem(request.arguments)
    const sound = problem === undefined ? request : { ...request, arguments: {} }
    await ensureFresh(sound, signal)
    const agent = roomOf(view, sound.agentId)
    const made = toCall(sound, { projectId, agentId: agent.profile.id, id: sound.callId ?? newId(clock.now()) })
    const skill = skillOf(agent, made)
    const shown = { ...made, ...redact({ tool: made.tool, arguments: made.arguments }) }
    const decision = await settle(authorize(agent, shown, skill), shown, { approve: parts.approve, signal })
    await ledger.open(shown, decision, skill && { name: agent.catalog.addressOf(skill) })
    callOptions.onDecision?.(decision)
    const raw = await outcomeOf(agent, made, { ...callOptions, ...{ decision, problem, signal } })
    const outcome = redact(raw as unknown as JsonObject) as unknown as Outcome
    const entry = await ledger.close(made.id, outcome)
    return { entry, decision, outcome }
  }

  async function outcomeOf(
    agent: AgentRoom,
    made: Call,
    how: CallOptions & { decision: Decision; problem: string | undefined; signal: AbortSignal },
  ): Promise<Outcome> {
    const { decision, problem, signal } = how
    if (decision.type !== 'allow') return refused(made, decision, signal)
    if (problem !== undefined) return failed('INVALID_PARAM', problem, { error: 'INVALID_ARGUMENT' })
    const output = how.onOutput && redactOutput(how.onOutput, ...secrets)
    const outcome = await execute(agent, made, {
      signal,
      ...(output && { onOutput: output.onOutput }),
      ...(how.maxLiveBytes !== undefined && { maxLiveBytes: how.maxLiveBytes }),
    })
    output?.end(outcome.type !== 'success')
    return outcome
  }

  async function execute(
    agent: AgentRoom,
    made: Call,
    { signal, onOutput, maxLiveBytes }: Pick<CallOptions, 'onOutput' | 'maxLiveBytes'> & { signal: AbortSignal },
  ): Promise<Outcome> {
    const tool = agent.registry.get(made.tool)
    if (!tool) return failed('NOT_FOUND', `There is no tool '${made.tool}'.`)
    const { id: callId, agentId, sessionId, turnId, origin } = made
    const context = {
      ...{ callId, projectId, agentId, origin, signal, services: agent.registry.services },
      ...(sessionId !== undefined && { sessionId }),
      ...(turnId !== undefined && { turnId }),
      ...(onOutput && { onOutput }),
      ...(maxLiveBytes !== undefined && { maxLiveBytes }),
    }
    return executeTool(
      tool,
      made.arguments,
      context,
      parts.toolTimeoutMs === undefined ? {} : { timeoutMs: parts.toolTimeoutMs },
    )
  }

  return {
    projectId,
    facts,
    get diagnostics() {
      return view.found.diagnostics
    },
    catalog: (agentId) => roomOf(view, agentId).catalog,
    index: (agentId) => roomOf(view, agentId).briefing.index(),
    instructions: (agentId) => roomOf(view, agentId).briefing.instructions(),
    definitions: (agentId) => roomOf(view, agentId).briefing.definitions(),
    redact,
    redactStream: () => createStreamRedactor(...secrets),
    snapshot: (agentId) => toSnapshot(roomOf(view, agentId).catalog),
    refresh,
    watch: ({ signal, ...options } = {}) =>
      reloadOnChange(
        {
          ...{ sources: parts.sources, refresh },
          catalogs: () => new Map([...view.rooms].map(([id, { catalog }]) => [id, catalog])),
        },
        { ...options, signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal },
      ),
    call,
    close: async () => {
      closing.abort()
      await parts.sandbox?.close()
    },
  }
}

/** What of an agent decides which skills it is offered. */
function toSurveyed({ id, skills, policy }: AgentProfile): SurveyedAgent {
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

/** The tools and services of one agent over its catalog. */
function furnish(
  parts: Parts,
  { profile, catalog, stacks, facts, secrets }: Omit<AgentRoom, 'registry' | 'briefing'> & Shared,
): AgentRoom {
  const { sandbox, workspace, execution } = parts
  const services = createServices()
  services.register(
    LOADER,
    createLoader({ catalog: () => catalog, stacks, ...(sandbox && { place: sandbox.place.bind(sandbox) }) }),
  )
  services.register(
    SKILL_SEARCH,
    createSkillSearch(catalog.skills, { isFound: ({ invocation }) => invocation.model, callName: catalog.callName }),
  )
  if (sandbox) {
    const entries = maySeeSecrets(profile) ? parts.skillEntries : undefined
    provideCommands(services, { sandbox, catalog, stacks, facts, secrets, ...(entries && { entries }) })
  }
  if (workspace !== undefined) services.register(WORKSPACE, workspace)
  if (execution) services.register(EXECUTION, execution)
  const registry = createRegistry(services)
  registerBuiltins(registry)
  parts.registerTools?.(registry, profile.id)
  const mayCall = (tool: string): boolean =>
    authorize({ registry, profile }, { tool, arguments: {}, agentId: profile.id, origin: 'model' }, undefined).type !==
    'deny'
  return { profile, catalog, registry, briefing: createBriefing({ catalog, registry, mayCall }, parts) }
}

/** Policy may take the variables of skills away from an agent's commands: `run_command.secrets`. */
function maySeeSecrets({ policy }: AgentProfile): boolean {
  return deniedCapabilities(policy, { name: 'run_command', options: { capabilities: ['secrets'] } }).length === 0
}

function roomOf({ rooms }: View, agentId: string | undefined): AgentRoom {
  const [first] = rooms.values()
  const room = agentId === undefined ? first : rooms.get(agentId)
  if (room) return room
  throw new NexusError('INVALID_ARGUMENT', `There is no agent '${agentId}'.`, {
    fix: `Known agents: ${[...rooms.keys()].join(', ')}. Add it under agents: in nexus.yaml.`,
  })
}

/** The one place where a call is decided. */
function authorize(
  agent: Pick<AgentRoom, 'registry' | 'profile'>,
  call: Pick<Call, 'tool' | 'arguments' | 'agentId' | 'origin'>,
  skill: Skill | undefined,
): Decision {
  const { registry, profile } = agent
  return decide({
    call,
    tool: registry.get(call.tool),
    policy: profile.policy,
    knownTools: registry.names,
    ...(skill && { skill }),
  })
}

function toCall(request: CallRequest, ids: { projectId: string; agentId: string; id: string }): Call {
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
function skillOf(agent: AgentRoom, call: Pick<Call, 'tool' | 'arguments'>): Skill | undefined {
  const name = skillName(agent, call)
  if (name === undefined) return undefined
  return agent.catalog.find(name)
}

function skillName(agent: AgentRoom, call: Pick<Call, 'tool' | 'arguments'>): string | undefined {
  const argument = agent.registry.get(call.tool)?.options?.skillArgument
  if (argument === undefined || !Object.hasOwn(call.arguments, argument)) return undefined
  const name = call.arguments[argument]
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : undefined
}
