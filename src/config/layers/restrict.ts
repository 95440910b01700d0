import { DEFAULTS, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { CONFIG_DEFAULTS } from '../schema/defaults.ts'
import type { Finding, Part } from '../document/finding.ts'
import { copyValue, partAt, type Path, withoutEmptyMaps } from '../document/path.ts'
import { nameIn } from '../profiles.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { expandAgents } from './merge.ts'
import { fits, leadsTo } from '../document/pattern.ts'
import { TRUST } from '../messages.ts'
import { isUserOnly } from './user-only.ts'

/** Whether a part of an untrusted file only narrows what is allowed so far; a value means "narrowed to this". */
type Check = (value: JsonValue, now: unknown) => boolean | { readonly narrowed: JsonValue }

const accumulates: Check = () => true

/** Numbers may only go down. `none` is the value that means no limit. */
function lower(unlessSet: number, none?: number): Check {
  return (value, now) => {
    const size = (number: unknown): number => (number === none ? Infinity : Number(number))
    return size(value) <= size(now ?? unlessSet)
  }
}

/** A skill list may only become shorter. What goes leaves a gap. */
const shorter: Check = (value, now) => {
  if (!Array.isArray(value) || !Array.isArray(now)) return true
  const narrowed = value.map((name) => (now.includes(name) ? name : undefined))
  return !narrowed.includes(undefined) || { narrowed: narrowed as JsonValue }
}

/** `coding` and `messaging` each hold tools that the other has not. */
const narrowerProfile: Check = (value, now = 'full') =>
  value === now || now === 'full' || (value === 'minimal' && now === 'messaging')

/** Confined here instead of unconfined here; but a user who chose another machine wants nothing run on this one. */
const onThisMachine: Check = (value, now) => value === 'local' && now !== 'e2b'

interface Row {
  readonly path: string
  readonly check: Check
  readonly reads?: string
  /** The narrowest that users may have; absent where the check does not ask what they have. */
  readonly narrowest?: readonly JsonValue[]
}

/**
 * All that the nexus.yaml of an untrusted workspace may set; `*` matches any one key or agent. Everything else is
 * ignored. Source: decisions, "Trust": it may tighten but not widen.
 */
const MAY_TIGHTEN: readonly Row[] = [
  { path: 'skills.disabled_skills', check: accumulates },
  { path: 'skills.entries.*.enabled', check: (value) => value === false },
  { path: 'agents.*.id', check: accumulates },
  { path: 'agents.*.skills', check: shorter, narrowest: [[]] },
  { path: 'agents.*.tools.deny', check: accumulates },
  { path: 'agents.*.tools.ask', check: accumulates },
  { path: 'agents.*.tools.profile', check: narrowerProfile, narrowest: ['coding', 'messaging', 'minimal'] },
  { path: 'execution.sandbox', check: onThisMachine, narrowest: ['e2b'] },
  { path: 'execution.mode', check: onThisMachine, reads: 'execution.sandbox', narrowest: ['e2b'] },
  { path: 'skills.mode', check: onThisMachine, reads: 'execution.sandbox', narrowest: ['e2b'] },
  { path: 'execution.timeoutMs', check: lower(DEFAULTS.commandTimeoutMs), narrowest: [1] },
  { path: 'execution.maxOutputBytes', check: lower(DEFAULTS.maxOutputBytes), narrowest: [1] },
  { path: 'limits.maxIterations', check: lower(DEFAULTS.maxIterations), narrowest: [1] },
  { path: 'limits.toolTimeoutMs', check: lower(DEFAULTS.toolTimeoutMs, 0), narrowest: [1] },
  { path: 'limits.maxConcurrentTools', check: lower(DEFAULTS.maxConcurrentTools), narrowest: [1] },
]

/** Whether a setting only narrows what is allowed, whatever the configuration so far says. */
export function neverWidens(value: JsonValue, at: Path): boolean {
  const row = MAY_TIGHTEN.find(({ path }) => fits(path, at))
  return row !== undefined && (row.narrowest ?? [undefined]).every((now) => row.check(value, now) === true)
}

/** Whether settings that an untrusted file may set are below this place. */
export function isSection(at: Path): boolean {
  return MAY_TIGHTEN.some(({ path }) => leadsTo(path, at))
}

/** What of an untrusted file counts over `base`, the configuration so far. Every part that does not is a finding. */
export function restrictUntrusted(
  checked: ConfigDocument,
  {
    base,
    path,
    isProfile = false,
  }: { readonly base: ConfigDocument; readonly path: string; readonly isProfile?: boolean },
): Part {
  const ignored: Path[] = []
  const expanded = { ...base, ...(base.agents && { agents: expandAgents(base.agents) }) } as JsonObject
  const document = withoutEmptyMaps(narrowMap(checked as JsonObject, [], { ignored, base: expanded }))
  const findings = ignored.map((at): Finding => {
    return {
      file: path,
      at,
      severity: 'warning',
      ...TRUST.untrusted({ setting: nameIn({ isProfile })(at) }, isUserOnly(at)),
    }
  })
  return { document: document as ConfigDocument, findings }
}

interface Walk {
  readonly base: JsonObject
  /** Position in `base` of the agent that is being narrowed. */
  readonly agentAt?: number
  readonly ignored: Path[]
}

function narrowMap(map: JsonObject, at: Path, walk: Walk): JsonObject {
  const kept = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(map)) {
    const narrowed = narrow(value, [...at, key], walk)
    if (narrowed !== undefined) kept[key] = narrowed
  }
  return kept
}

function narrow(value: JsonValue, at: Path, walk: Walk): JsonValue | undefined {
  const row = MAY_TIGHTEN.find(({ path }) => fits(path, at))
  if (row) {
    const now = partAt(walk.base, row.reads?.split('.') ?? inBase(at, walk))
    const verdict = row.check(value, now)
    if (verdict === true) return copyValue(value)
    walk.ignored.push(at)
    return verdict === false ? undefined : verdict.narrowed
  }
  if (fits('agents', at) && Array.isArray(value)) return narrowAgents(value, walk)
  if (isJsonObject(value) && isSection(at)) return narrowMap(value, at, walk)
  walk.ignored.push(at)
  return undefined
}

/** An agent that does not exist so far would be a new one with all tools. */
function narrowAgents(agents: readonly (JsonValue | undefined)[], walk: Walk): JsonValue {
  const known = knownIds(walk)
  return agents.map((agent, index) => {
    if (!isJsonObject(agent)) return undefined
    const agentAt = known.indexOf(String(agent['id']))
    if (agentAt !== -1) return narrowMap(agent, ['agents', index], { ...walk, agentAt })
    walk.ignored.push(['agents', index])
    return undefined
  }) as JsonValue
}

function knownIds({ base }: Walk): string[] {
  const agents = partAt(base, ['agents'])
  const ids = Array.isArray(agents) ? agents.map((agent) => (agent as { id: string }).id) : []
  return ids.length > 0 ? ids : [CONFIG_DEFAULTS.agentId]
}

/** The same place in the configuration so far, where the agent may have another position. */
function inBase(at: Path, { agentAt }: Walk): Path {
  return agentAt === undefined ? at : ['agents', agentAt, ...at.slice(2)]
}
