/**
 * The pipeline, top to bottom: discover -> gate -> catalog -> load -> authorize -> execute -> record.
 * Discover, gate and catalog are in `build-catalogs.ts`, the steps of a call in `call.ts`; an agent is in `agent-handle.ts`.
 */
import { layersOfRules, type PolicyRules, readRules } from '../authorize/index.ts'
import {
  createRedactor,
  createStreamRedactor,
  DEFAULT_PROJECT,
  DEFAULTS,
  inTime,
  NexusError,
  systemClock,
  type TargetFacts,
  toSafeLine,
} from '../kernel/index.ts'
import { createFreshness, createSkillStacks } from '../skills/load/index.ts'
import { type AgentRecord, createMemoryStore, type Retention, type Store } from '../store/index.ts'
import { createCircuitBreaker } from '../tools/index.ts'
import { createApprovals } from './approvals.ts'
import { catalogOf, Handle } from './agent-handle.ts'
import { findSkills } from './build-catalogs.ts'
import { createKeptOutput, type KeptOutput } from './kept-output.ts'
import { ERRORS, WARNINGS } from './messages.ts'
import { countUses } from './prompt-index.ts'
import { createOwnership } from './ownership.ts'
import { coalesce, reloadOnChange } from './reload.ts'
import { removeSets } from './removed-sets.ts'
import type { ProjectState } from './project-state.ts'
import type { AgentProfile, AgentSpec, Parts, ReloadEvent, Runtime } from './types.ts'

const TRIM_EVERY_MS = 3_600_000
/** How long closing waits for calls that were cancelled. */
const CANCELLED_MS = 3_000

const FULL_POLICY: PolicyRules = { profile: 'full', allow: [], ask: [], deny: [], groups: new Map() }

/**
 * Finds the skills of `parts.sources`, gates them against the target, and serves the calls of its agents until closed.
 * A bad skill is a diagnostic, never a throw. Throws INVALID_ARGUMENT when neither `facts` nor `sandbox` is given.
 */
export async function createRuntime(parts: Parts, options: { readonly signal?: AbortSignal } = {}): Promise<Runtime> {
  const clock = parts.clock ?? systemClock
  const secrets: ProjectState['secrets'] = [parts.secrets ?? [], []]
  const facts = await targetFacts(parts)
  const closing = new AbortController()
  const store = parts.store ?? (await createMemoryStore({ projectId: DEFAULT_PROJECT, clock }))
  const broker = createApprovals(store, parts)
  const kept = parts.blobs && createKeptOutput(parts.blobs, store, secrets)
  const bounds = { maxAgeMs: DEFAULTS.eventsMaxAgeMs, maxRows: DEFAULTS.eventsMaxRows, ...parts.events }
  const { sandbox, workspace, retention = {} } = parts
  const forget = async (): Promise<void> => {
    if (!retention.sessions || !sandbox?.alone || workspace === undefined) return
    await removeSets(store, (work) => sandbox.alone?.(workspace, work, closing.signal) ?? work())
  }
  const records = boundRecords(store, { events: bounds, retention, forget }, kept)
  const ownership = createOwnership(store, records.begin)

  // discover; gate and catalog follow when an agent needs them
  let found = await findSkills({ ...parts, facts }, options.signal)
  /** Replaces what was found whole, or keeps it when finding again fails. */
  const refresh = coalesce(async () => {
    found = await findSkills({ ...parts, facts }, closing.signal)
  })

  const project: ProjectState = {
    parts,
    clock,
    facts,
    secrets,
    refresh,
    store,
    broker,
    ownership,
    kept,
    stacks: createSkillStacks(),
    running: new Map(),
    breaker: createCircuitBreaker(clock),
    redact: createRedactor(...secrets),
    redactStream: () => createStreamRedactor(...secrets),
    found: () => found,
    // Counted once: the index stays the same while prompts are cached.
    uses: parts.uses ?? (await countUses(store, parts.scope)),
    freshness: createFreshness({ refresh, everyCall: parts.refreshOnCall ?? true }),
  }
  const profiles: readonly AgentProfile[] = parts.agents?.length ? parts.agents : [{ id: 'main', policy: FULL_POLICY }]
  for (const { id } of profiles) checkId(id)

  return {
    projectId: store.projectId,
    agents: profiles,
    workspace: parts.workspace,
    facts,
    store,
    approvals: broker,
    get diagnostics() {
      return found.result.diagnostics
    },
    openAgent: (spec = {}) => {
      if (spec.policy && spec.id !== undefined) checkId(spec.id)
      return new Handle(project, profileOf(spec, profiles), spec)
    },
    redact: project.redact,
    refresh,
    watch: ({ signal, ...watching } = {}) => {
      const catalogs = () => new Map(profiles.map((profile) => [profile.id, catalogOf(found, profile)]))
      const until = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const onReload = (event: ReloadEvent): void => {
        recordReload(store, event)
        watching.onReload?.(event)
      }
      return reloadOnChange({ sources: parts.sources, refresh, catalogs }, { ...watching, onReload, signal: until })
    },
    close: async () => {
      closing.abort()
      try {
        await endOfCancelled(project)
        await records.end()
        await ownership.close()
        await kept?.idle()
      } finally {
        await parts.sandbox?.close()
      }
    },
  }
}

/** Cancelled calls end at once, but their ends wait in line to be written. A tool that ignores its signal does not hold the end up. */
async function endOfCancelled({ running }: ProjectState): Promise<void> {
  const cancelled = [...running].filter(([, signal]) => signal?.aborted).map(([result]) => result)
  if (cancelled.length === 0) return
  await inTime(Promise.allSettled(cancelled), CANCELLED_MS)
}

/** Another process that follows the events learns that the skills of an agent are others. */
function recordReload(store: Store, event: ReloadEvent): void {
  if (event.type !== 'reloaded') return
  for (const { agentId, version } of event.agents)
    store.events
      .append({ type: 'skills.changed', agentId, references: { version } })
      .catch((error: unknown) => process.emitWarning(WARNINGS.eventNotStored(error), 'NexusWarning'))
}

/** Removes old events, outputs, and the rows that the user does not keep: after the first write, and every hour. */
function boundRecords(
  store: Store,
  {
    events,
    retention,
    forget,
  }: {
    readonly events: Required<NonNullable<Parts['events']>>
    readonly retention: Retention
    /** Removes what removed sessions left on this machine. */
    readonly forget: () => Promise<void>
  },
  output: KeptOutput | undefined,
): { begin(): Promise<void>; end(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  let last: Promise<unknown> = Promise.resolve()
  const removeAll = async (): Promise<void> => {
    for (let isMore = true; isMore && !isOver;) isMore = (await store.retain(retention)).isMore
    // The output of removed sessions too.
    output?.tidy()
    if (!isOver) await forget()
  }
  // A failure is for the next write to report; the next hour tries again.
  const start = (work: () => Promise<unknown>): void => void (last = work().catch(() => undefined))
  return {
    async begin() {
      const trim = (): Promise<unknown> => store.events.trim(events)
      timer ??= setInterval(() => start(() => trim().then(removeAll)), TRIM_EVERY_MS).unref()
      await trim()
      start(removeAll)
    },
    async end() {
      isOver = true
      clearInterval(timer)
      await last
    },
  }
}

async function targetFacts({ facts, sandbox }: Parts): Promise<TargetFacts> {
  const known = facts ?? (await sandbox?.facts())
  if (known) return known
  throw invalid(ERRORS.noTarget())
}

/** The profile that the runtime was given, or that the caller describes. */
function profileOf(spec: AgentSpec, profiles: readonly AgentProfile[]): AgentProfile {
  const { id, policy, skills, layers, row } = spec
  if (row) return profileOfRow(row, spec)
  const known = id === undefined ? profiles[0] : profiles.find((profile) => profile.id === id)
  if (policy && id !== undefined) return { id, policy, skills, layers }
  if (known && !skills && !layers) return known
  if (known) return { ...known, skills: skills ?? known.skills, layers: layers ?? known.layers }
  throw invalid(ERRORS.unknownAgent({ id, known: profiles.map((profile) => profile.id) }))
}

/** Its rules as they were saved, and whatever the caller adds. */
function profileOfRow(row: AgentRecord, { skills, layers = [] }: AgentSpec): AgentProfile {
  const failed = (code: 'CONFLICT' | 'STORE_FAILED', words: (path: string) => { message: string; fix: string }) => {
    const { message, fix } = words(toSafeLine(row.path))
    return new NexusError(code, message, { fix })
  }
  if (row.endedAt !== undefined) throw failed('CONFLICT', ERRORS.agentEnded)
  const rules = readRules(row)
  if (!rules) throw failed('STORE_FAILED', ERRORS.unreadableRules)
  return { id: row.id, policy: rules.policy, skills, layers: [...layersOfRules(rules), ...layers] }
}

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Answers are remembered by it, so that it must not be the key of an agent of the pool. */
function checkId(id: string): void {
  if (!AGENT_ID.test(id)) throw invalid(ERRORS.badAgentId(toSafeLine(id)))
}

function invalid({ message, fix }: { readonly message: string; readonly fix: string }): NexusError {
  return new NexusError('INVALID_ARGUMENT', message, { fix })
}
