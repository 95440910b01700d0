/** The pipeline, top to bottom: discover -> gate -> catalog -> load -> authorize -> execute -> record. */
import { decide, type PolicyRules } from './authorize/index.ts'
import { buildCatalog, type Catalog, type IndexStyle, type PromptIndex, renderIndex, skillRules, toSnapshot } from './catalog/index.ts'
import { gate, type GateRules } from './gate/index.ts'
import {
  type Call,
  type Clock,
  createRedactor,
  type Decision,
  DEFAULT_PROJECT,
  type Diagnostic,
  failed,
  type JsonObject,
  type JsonSchema,
  type LedgerEntry,
  newId,
  NexusError,
  type Outcome,
  type Skill,
  skillAddress,
  systemClock,
  type TargetFacts,
} from './kernel/index.ts'
import { createLoader, type Loader } from './load/index.ts'
import type { Sandbox } from './sandbox/index.ts'
import { discover, type SkillSource, type SourceResult } from './sources/index.ts'
import { createMemoryStore, type Ledger } from './store/index.ts'
import { createRegistry, createServices, createWireNames, executeTool, registerBuiltins, type Registry, type WireNames } from './tools/index.ts'

/** What one agent may see and do. */
export interface AgentProfile {
  readonly id: string
  /** Names of the skills it may see; absent = all. */
  readonly skills?: readonly string[]
  readonly policy: PolicyRules
}

/** What a runtime is made of. Only `sources` and `facts` are needed; everything else has a light default. */
export interface Parts {
  readonly sources: readonly SkillSource[]
  /** What gating may rely on; without it the sandbox is asked. */
  readonly facts?: TargetFacts
  /** Where commands run. Without one there is no tool that runs commands. */
  readonly sandbox?: Sandbox
  /** Absolute path of the directory that commands and file tools work in. */
  readonly workspace?: string
  /** Where calls are recorded; default: in memory, gone with the process. */
  readonly ledger?: Ledger
  /** The first is the default agent; default: one agent `main` that may call every tool. */
  readonly agents?: readonly AgentProfile[]
  /** Rules that configuration adds to gating, without the agent's allow-list. */
  readonly gateRules?: Omit<GateRules, 'allowList'>
  /** Adds tools to each agent's registry, after the built-in ones. */
  readonly registerTools?: (registry: Registry, agentId: string) => void
  /** Asks a person about a call that policy wants confirmed; without it such a call is denied. */
  readonly approve?: (call: Call, question: string, signal: AbortSignal) => Promise<boolean>
  /** Limits of one command. */
  readonly execution?: { readonly timeoutMs?: number; readonly maxOutputBytes?: number }
  /** Time limit of one tool call in milliseconds when the tool names none. */
  readonly toolTimeoutMs?: number
  /** Values that are blanked in the ledger and in outcomes. */
  readonly secrets?: readonly string[]
  /** Names of the skill tools that the model sees; default `load_skill` and `read_skill_file`. */
  readonly surface?: readonly string[]
  readonly prompt?: { readonly style?: IndexStyle; readonly budgetChars?: number }
  readonly projectId?: string
  readonly clock?: Clock
}

/** A call as its caller words it. */
export interface CallRequest {
  readonly tool: string
  readonly arguments: JsonObject
  readonly agentId?: string
  readonly sessionId?: string
  readonly turnId?: string
  readonly callId?: string
  readonly origin?: Call['origin']
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Live output of a command; must not throw. */
  readonly onOutput?: (chunk: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void
  /** Told the final decision before anything runs; must not throw. */
  readonly onDecision?: (decision: Decision) => void
}

export interface CallResult {
  readonly entry: LedgerEntry
  readonly decision: Decision
  readonly outcome: Outcome
}

/** A tool as a model is told about it. */
export interface OfferedTool {
  /** What the provider sees: letters, digits, `_` and `-`. */
  readonly wireName: string
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** A running pipeline. All agents share what was discovered; each has its own catalog, tools and policy. */
export interface Runtime {
  readonly projectId: string
  readonly diagnostics: readonly Diagnostic[]
  readonly facts: TargetFacts
  catalog(agentId?: string): Catalog
  /** The prompt index of an agent within its budget. */
  index(agentId?: string): PromptIndex
  /** The skills section of a system prompt: rules and index; empty when the agent sees no skill. */
  instructions(agentId?: string): string
  /** The tools an agent may call; what policy denies is not shown. */
  definitions(agentId?: string): readonly OfferedTool[]
  snapshot(agentId?: string): JsonObject
  /** Finds and gates again; every agent's catalog is swapped whole. */
  refresh(signal?: AbortSignal): Promise<void>
  /** Authorizes, records, runs and records one call. Refusals and failures are outcomes; it throws only when the ledger fails. */
  call(request: CallRequest, options?: CallOptions): Promise<CallResult>
  close(): Promise<void>
}

interface AgentRoom {
  readonly profile: AgentProfile
  readonly catalog: Catalog
  readonly loader: Loader
  readonly registry: Registry
  readonly wireNames: WireNames
}

const FULL_POLICY: PolicyRules = { profile: 'full', allow: [], ask: [], deny: [], groups: new Map() }
const NO_RULES: Omit<GateRules, 'allowList'> = { entries: new Map(), disabledSkills: [], configTruthy: () => false }
const SKILL_TOOLS = ['load_skill', 'read_skill_file', 'Skill']
const DEFAULT_SURFACE = ['load_skill', 'read_skill_file']

/**
 * Finds the skills of `parts.sources`, gates them against the target, and serves calls until closed.
 * A bad skill is a diagnostic, never a throw. Throws INVALID_ARGUMENT when neither `facts` nor `sandbox` is given.
 */
export async function createRuntime(parts: Parts, options: { readonly signal?: AbortSignal } = {}): Promise<Runtime> {
  const clock = parts.clock ?? systemClock
  const projectId = parts.projectId ?? DEFAULT_PROJECT
  const ledger = parts.ledger ?? createMemoryStore({ projectId, clock }).ledger
  const profiles = parts.agents?.length ? parts.agents : [{ id: 'main', policy: FULL_POLICY }]
  const redact = createRedactor(parts.secrets ?? [])
  const facts = parts.facts ?? (await parts.sandbox?.facts())
  if (!facts) {
    throw new NexusError('INVALID_ARGUMENT', 'A runtime needs a target to gate against.', {
      fix: 'Pass `sandbox`, or `facts` (hostFacts() gives those of this machine).',
    })
  }

  let rooms = new Map<string, AgentRoom>()
  let found: SourceResult = { skills: [], rejected: [], diagnostics: [] }

  async function refresh(signal?: AbortSignal): Promise<void> {
    const next = await discover(parts.sources, signal ? { signal } : {})
    const nextRooms = new Map(profiles.map((profile) => [profile.id, furnish(profile, next, facts as TargetFacts)]))
    found = next
    rooms = nextRooms
  }

  function furnish(profile: AgentProfile, discovered: SourceResult, target: TargetFacts): AgentRoom {
    const rules: GateRules = { ...(parts.gateRules ?? NO_RULES), ...(profile.skills && { allowList: profile.skills }) }
    const gated = gate(discovered.skills, target, rules)
    const catalog = buildCatalog({ gated, rejected: discovered.rejected, diagnostics: discovered.diagnostics })
    const loader = createLoader({ catalog: () => rooms.get(profile.id)?.catalog ?? catalog, ...placing(parts.sandbox) })
    const services = createServices()
    services.register('loader', loader)
    if (parts.sandbox) services.register('sandbox', parts.sandbox)
    if (parts.workspace !== undefined) services.register('workspace', parts.workspace)
    if (parts.execution) services.register('execution', parts.execution)
    const registry = createRegistry(services)
    registerBuiltins(registry)
    parts.registerTools?.(registry, profile.id)
    return { profile, catalog, loader, registry, wireNames: createWireNames(registry.names) }
  }

  function room(agentId: string | undefined): AgentRoom {
    const id = agentId ?? (profiles[0] as AgentProfile).id
    const known = rooms.get(id)
    if (known) return known
    throw new NexusError('INVALID_ARGUMENT', `There is no agent '${id}'.`, {
      fix: `Known agents: ${[...rooms.keys()].join(', ')}. Add it under agents: in nexus.yaml.`,
    })
  }

  function authorize(agent: AgentRoom, call: Call, skill: Skill | undefined): Decision {
    const tool = agent.registry.get(call.tool)
    return decide({ call, tool, policy: agent.profile.policy, knownTools: agent.registry.names, ...(skill && { skill }) })
  }

  async function settle(call: Call, decision: Decision, signal: AbortSignal): Promise<Decision> {
    if (decision.type !== 'ask') return decision
    if (!parts.approve) return { type: 'deny', rule: decision.rule, reason: `${decision.question} Nobody is there to ask.` }
    const approved = await parts.approve(call, decision.question, signal)
    if (approved) return { type: 'allow', rule: `${decision.rule}, approved` }
    return { type: 'deny', rule: decision.rule, reason: 'A person said no.' }
  }

  async function call(request: CallRequest, callOptions: CallOptions = {}): Promise<CallResult> {
    const agent = room(request.agentId)
    const signal = callOptions.signal ?? new AbortController().signal
    const made = toCall(request, { projectId, agentId: agent.profile.id, id: request.callId ?? newId(clock.now()) })
    const skill = skillOf(agent, made)
    const decision = await settle(made, authorize(agent, made, skill), signal)
    await ledger.open(redactCall(made, redact), decision, skill && { name: skillAddress(skill) })
    callOptions.onDecision?.(decision)
    const outcome = redactOutcome(await run(agent, made, decision, { ...callOptions, signal }), redact)
    const entry = await ledger.close(made.id, outcome)
    return { entry, decision, outcome }
  }

  async function run(agent: AgentRoom, made: Call, decision: Decision, callOptions: CallOptions & { signal: AbortSignal }): Promise<Outcome> {
    if (decision.type !== 'allow') return refused(made, decision)
    const tool = agent.registry.get(made.tool)
    if (!tool) return failed('NOT_FOUND', `There is no tool '${made.tool}'.`)
    const context = {
      callId: made.id,
      projectId,
      agentId: made.agentId,
      signal: callOptions.signal,
      services: agent.registry.services,
      ...(made.sessionId !== undefined && { sessionId: made.sessionId }),
      ...(made.turnId !== undefined && { turnId: made.turnId }),
      ...(callOptions.onOutput && { onOutput: callOptions.onOutput }),
    }
    return executeTool(tool, made.arguments, context, parts.toolTimeoutMs === undefined ? {} : { timeoutMs: parts.toolTimeoutMs })
  }

  function index(agentId?: string): PromptIndex {
    return renderIndex(room(agentId).catalog, { ...parts.prompt, loadTool: loadTool(room(agentId)) })
  }

  function offered(agent: AgentRoom): OfferedTool[] {
    const surface = parts.surface ?? DEFAULT_SURFACE
    return agent.registry
      .definitions('json')
      .filter(({ name }) => !SKILL_TOOLS.includes(name) || surface.includes(name))
      .filter(({ name }) => authorize(agent, toCall({ tool: name, arguments: {} }, { projectId, agentId: agent.profile.id, id: '' }), undefined).type !== 'deny')
      .map((definition) => ({ ...definition, wireName: agent.wireNames.toWire(definition.name) }))
  }

  function loadTool(agent: AgentRoom): string {
    const names = offered(agent).map((tool) => tool.wireName)
    return names.find((name) => name === 'load_skill' || name === 'Skill') ?? 'load_skill'
  }

  await refresh(options.signal)
  return {
    projectId,
    facts,
    get diagnostics() {
      return found.diagnostics
    },
    catalog: (agentId) => room(agentId).catalog,
    index,
    instructions: (agentId) => {
      const { text } = index(agentId)
      return text === '' ? '' : `${skillRules({ loadTool: loadTool(room(agentId)) })}\n\n${text}`
    },
    definitions: (agentId) => offered(room(agentId)),
    snapshot: (agentId) => toSnapshot(room(agentId).catalog),
    refresh,
    call,
    close: async () => {
      await parts.sandbox?.close()
    },
  }
}

function placing(sandbox: Sandbox | undefined): { place?: Sandbox['place'] } {
  return sandbox ? { place: (skill, signal) => sandbox.place(skill, signal) } : {}
}

function toCall(request: CallRequest, ids: { projectId: string; agentId: string; id: string }): Call {
  return {
    ...ids,
    ...(request.sessionId !== undefined && { sessionId: request.sessionId }),
    ...(request.turnId !== undefined && { turnId: request.turnId }),
    origin: request.origin ?? 'library',
    tool: request.tool,
    arguments: request.arguments,
  }
}

/** The skill that a call names, when its tool says which argument does. */
function skillOf(agent: AgentRoom, call: Call): Skill | undefined {
  const argument = agent.registry.get(call.tool)?.options?.skillArgument
  if (argument === undefined || !Object.hasOwn(call.arguments, argument)) return undefined
  const name = call.arguments[argument]
  return typeof name === 'string' ? agent.catalog.find(name) : undefined
}

function refused(call: Call, decision: Exclude<Decision, { type: 'allow' }>): Outcome {
  const reason = decision.type === 'deny' ? decision.reason : decision.question
  return failed('PERMISSION_DENIED', `The call of '${call.tool}' was refused (${decision.rule}): ${reason}`)
}

function redactCall(call: Call, redact: ReturnType<typeof createRedactor>): Call {
  return { ...call, arguments: redact(call.arguments) }
}

function redactOutcome(outcome: Outcome, redact: ReturnType<typeof createRedactor>): Outcome {
  return redact(outcome as unknown as JsonObject) as unknown as Outcome
}
