/** One agent in one session: who calls, what it sees, what it may do, and its tools. */
import {
  decide,
  type DecideInput,
  explain,
  type Explanation,
  type SkillInUse,
  namesTool,
  toolGroupRule,
  withShadow,
} from '../authorize/index.ts'
import { type Catalog, type PromptIndex, toSnapshot } from '../skills/catalog/index.ts'
import type {
  CallLimits,
  Decision,
  Diagnostic,
  JsonObject,
  JsonValue,
  Services,
  Skill,
  StreamRedactor,
} from '../kernel/index.ts'
import { isOutdated, latestLoaded, type LoadedInSession } from '../skills/load/index.ts'
import type { Lease } from '../store/index.ts'
import { type DefinitionForms, type Registry, serverTool } from '../tools/index.ts'
import { createAgentTools } from './agent-tools.ts'
import type { FoundSkills } from './build-catalogs.ts'
import { runCall } from './call.ts'
import type { CallingAgent } from './check-call.ts'
import { createModelContext, type ModelContext } from './model-context.ts'
import type { KeptLease } from './ownership.ts'
import type { ProjectState } from './project-state.ts'
import type {
  AgentHandle,
  AgentProfile,
  AgentSpec,
  CallOptions,
  CallRequest,
  CallResult,
  OfferedTool,
} from './types.ts'

/** A class, so that ten thousand of them are small: what is made at first use is in `#made`. */
export class Handle implements AgentHandle, CallingAgent {
  readonly id: string
  readonly key: string
  readonly path: string
  readonly sessionId: string | undefined
  readonly #project: ProjectState
  readonly #profile: AgentProfile
  /** Says which rules decide about skills: equal ones have an equal key. */
  #key: string | undefined
  #registry: Registry | undefined
  /** Skills in use in the latest turn, with their rules about tools, by address. */
  #inUse: { readonly turnId: string | undefined; readonly skills: Map<string, SkillInUse> } = {
    turnId: undefined,
    skills: new Map(),
  }
  #context: { readonly over: Catalog; readonly context: ModelContext } | undefined
  /** In a turn: what the model is shown, and what its calls look into. They differ when a skill was edited or added since. */
  #turn: { readonly shown: FoundSkills; called: FoundSkills; readonly lease: Lease | undefined } | undefined

  constructor(project: ProjectState, profile: AgentProfile, { sessionId, row }: Pick<AgentSpec, 'sessionId' | 'row'>) {
    this.id = profile.id
    this.key = row?.key ?? profile.id
    this.path = row?.path ?? profile.id
    this.sessionId = row?.sessionId ?? sessionId
    this.#project = project
    this.#profile = profile
  }

  get projectId(): string {
    return this.#project.store.projectId
  }

  get scope(): string {
    return this.#project.parts.scope ?? ''
  }

  get registry(): Registry {
    this.#registry ??= createAgentTools(this.#project, {
      id: this.id,
      sessionId: this.sessionId,
      catalog: () => this.calledCatalog(),
      verdict: (tool) => this.verdict(tool),
    })
    return this.#registry
  }

  get services(): Services {
    return this.registry.services
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.registry.diagnostics
  }

  catalog(): Catalog {
    return this.#catalogOf(this.#turn?.shown ?? this.#project.found())
  }

  /** The catalog that calls look into. */
  calledCatalog(): Catalog {
    return this.#catalogOf(this.#turn?.called ?? this.#project.found())
  }

  index(): PromptIndex {
    return this.#modelContext().index()
  }

  instructions(): string {
    return this.#modelContext().instructions()
  }

  definitions(): readonly OfferedTool[] {
    return this.#modelContext().definitions()
  }

  definitionsAs<F extends keyof DefinitionForms>(form: F): readonly DefinitionForms[F][] {
    const offered = new Set(this.definitions().map(({ name }) => name))
    return this.registry.definitions(form, { filter: ({ name }) => offered.has(name) })
  }

  snapshot(): JsonObject {
    return toSnapshot(this.catalog())
  }

  loadedSkills(): readonly LoadedInSession[] {
    return this.#project.stacks.loadedIn(this.#session())
  }

  recallSkills(loaded: readonly LoadedInSession[]): void {
    this.#project.stacks.recall(this.#session(), loaded)
  }

  async outdatedSkills(signal?: AbortSignal): Promise<readonly string[]> {
    const catalog = this.catalog()
    const names: string[] = []
    for (const { address, treeDigest } of latestLoaded(this.loadedSkills())) {
      // One that is gone is in the difference of the catalogs.
      const skill = catalog.skills.find((candidate) => catalog.addressOf(candidate) === address)
      if (skill && (await isOutdated(skill, treeDigest, signal))) names.push(catalog.callName(skill))
    }
    return names
  }

  async beginTurn({ lease, signal }: { readonly lease?: Lease; readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#project.refresh(signal)
    const shown = this.#project.found()
    this.#turn = { shown, called: shown, lease }
  }

  endTurn(): void {
    this.#turn = undefined
  }

  lease(): Promise<Lease> {
    return this.write((lease) => Promise.resolve(lease))
  }

  write<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.#turn?.lease ? work(this.#turn.lease) : this.writeAsProcess(work)
  }

  writeAsProcess<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.#project.ownership.write(work)
  }

  keepLease(name: string): Promise<KeptLease | undefined> {
    return this.#project.ownership.keep(name)
  }

  redact<T extends JsonValue>(value: T): T {
    return this.#project.redact(value)
  }

  redactStream(): StreamRedactor {
    return this.#project.redactStream()
  }

  call(request: CallRequest, options: CallOptions = {}): Promise<CallResult> {
    const { running } = this.#project
    const result = runCall(this, this.#project, { request, options })
    const isOver = (): boolean => running.delete(result)
    running.set(result, options.signal)
    result.then(isOver, isOver)
    return result
  }

  /** The decision about a call of this agent. */
  decide(call: CallRequest, skill: Skill | undefined): Decision {
    const input = this.#inputOf(call, skill)
    const decision = withShadow(decide(input), input, this.#profile.shadow)
    return decision.shadow ? { ...decision, shadow: this.redact({ ...decision.shadow }) } : decision
  }

  explain(request: CallRequest): Explanation {
    const input = this.#inputOf(request, undefined)
    return explain({ ...input, tool: input.tool ?? serverTool(request.tool) })
  }

  /** Whether that tool may be called at all, and within which limits. */
  verdict(tool: string): { readonly type: Decision['type']; readonly limits: CallLimits } {
    return decide(this.#inputOf({ tool, arguments: {}, origin: 'model' }, undefined))
  }

  /** Sees to it that a call about a skill meets the skill as it is now. Source: seed 003, "refresh_if_stale". */
  async ensureFresh(skillName: string, signal: AbortSignal): Promise<void> {
    const { freshness, found } = this.#project
    const isRefreshed = await freshness.ensure(() => this.calledCatalog().find(skillName), signal)
    if (isRefreshed && this.#turn) this.#turn.called = found()
  }

  #inputOf(request: CallRequest, skill: Skill | undefined): DecideInput {
    const { tool, arguments: args, origin = 'library' } = request
    const { registry } = this
    const { policy, layers } = this.#profile
    const skillsInUse = origin === 'model' ? this.#skillsInUse(request.turnId) : []
    return {
      call: { tool, arguments: args, agentId: this.id, origin },
      tool: registry.get(tool),
      policy,
      knownTools: registry.names,
      layers,
      skill,
      skillsInUse,
    }
  }

  /** A skill speaks from its load to the end of the turn, for the calls of the model. Source: decisions, "Permissions". */
  #skillsInUse(turnId: string | undefined): SkillInUse[] {
    // Read-only questions, such as what is offered to the model, belong to no turn.
    if (turnId === undefined) return []
    if (this.#inUse.turnId !== turnId) this.#inUse = { turnId, skills: new Map() }
    const { skills } = this.#inUse
    for (const address of this.#project.stacks.loadedInTurn({ ...this.#session(), turnId })) {
      const skill = this.calledCatalog().find(address)
      // Its first rules hold: a command of the turn may have edited or removed it since.
      if (skill && !skills.has(address)) skills.set(address, toSkillInUse(skill))
    }
    return [...skills.values()]
  }

  #session(): { readonly agentId: string; readonly sessionId: string | undefined } {
    return { agentId: this.key, sessionId: this.sessionId }
  }

  #catalogOf(found: FoundSkills): Catalog {
    this.#key ??= rulesKey(this.#profile)
    return catalogOf(found, this.#profile, this.#key)
  }

  #modelContext(): ModelContext {
    const catalog = this.catalog()
    if (this.#context?.over === catalog) return this.#context.context
    const mayCall = (tool: string): boolean => this.verdict(tool).type !== 'deny'
    const { registry } = this
    const isNamed = (tool: string): boolean => namesTool(this.#profile.policy, tool)
    const { parts, uses } = this.#project
    const context = createModelContext({ catalog, registry, mayCall, isNamed, uses }, parts)
    this.#context = { over: catalog, context }
    return context
  }
}

/** An entry with arguments, such as `Bash(git:*)`, approves nothing: commands are not parsed. */
function toSkillInUse({ name, origin, allowedTools, metadata }: Skill): SkillInUse {
  return {
    name,
    isTrusted: origin.trusted,
    allowedTools: allowedTools.filter((entry) => !entry.includes('(')),
    restricts: metadata.restrict === true,
  }
}

/** The catalog of an agent; agents with equal rules share it. */
export function catalogOf(found: FoundSkills, profile: AgentProfile, key = rulesKey(profile)): Catalog {
  return found.catalogFor(key, () => {
    const { skills, policy } = profile
    return { skills, allowsToolGroup: toolGroupRule(policy) }
  })
}

function rulesKey({ skills, policy: { groups, ...lists } }: AgentProfile): string {
  return JSON.stringify([skills ?? null, lists, [...groups]])
}
