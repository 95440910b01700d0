import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { DEFAULTS } from '../config.ts'
import { collectFindings } from '../document/findings.ts'
import { copyValue, partAt } from '../document/parts.ts'
import { type Part } from '../document/check-document.ts'
import { withoutParts } from '../document/left-out.ts'
import { nameOf } from '../document/name-of.ts'
import type { PathKey, YamlFile } from '../document/read-yaml.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { expandAgents } from './merge.ts'
import { fits, leadsTo } from './pattern.ts'
import { isUserOnly, USER_ONLY_FIX } from './user-only.ts'

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

/** A skill list may only become shorter. */
const shorter: Check = (value, now) => {
  if (!Array.isArray(value) || !Array.isArray(now)) return true
  const narrowed = value.filter((name) => now.includes(name))
  return narrowed.length === value.length || { narrowed }
}

/** `coding` and `messaging` each hold tools that the other has not. */
const narrowerProfile: Check = (value, now = 'full') =>
  value === now || now === 'full' || (value === 'minimal' && now === 'messaging')

/** Confined here instead of unconfined here; but whoever chose another machine wants nothing run on this one. */
const onThisMachine: Check = (value, now) => value === 'local' && now !== 'e2b'

/**
 * All that the nexus.yaml of an untrusted workspace may set; `*` stands for any one key or agent. Everything else is
 * ignored. Source: decisions, "Trust": it may tighten but not widen.
 */
const MAY_TIGHTEN: readonly { readonly path: string; readonly check: Check; readonly reads?: string }[] = [
  { path: 'skills.disabled_skills', check: accumulates },
  { path: 'skills.entries.*.enabled', check: (value) => value === false },
  { path: 'agents.*.id', check: accumulates },
  { path: 'agents.*.skills', check: shorter },
  { path: 'agents.*.tools.deny', check: accumulates },
  { path: 'agents.*.tools.ask', check: accumulates },
  { path: 'agents.*.tools.profile', check: narrowerProfile },
  { path: 'execution.sandbox', check: onThisMachine },
  { path: 'execution.mode', check: onThisMachine, reads: 'execution.sandbox' },
  { path: 'skills.mode', check: onThisMachine, reads: 'execution.sandbox' },
  { path: 'execution.timeoutMs', check: lower(DEFAULTS.timeoutMs) },
  { path: 'execution.maxOutputBytes', check: lower(DEFAULTS.maxOutputBytes) },
  { path: 'limits.maxIterations', check: lower(DEFAULTS.maxIterations) },
  { path: 'limits.toolTimeoutMs', check: lower(DEFAULTS.toolTimeoutMs, 0) },
  { path: 'limits.maxConcurrentTools', check: lower(DEFAULTS.maxConcurrentTools) },
]

/**
 * What of an untrusted file counts over `base`, the configuration so far. Every part that does not is reported with
 * its place, and that `nexus trust` would let it count.
 */
export function restrictUntrusted(
  checked: ConfigDocument,
  { base, file }: { readonly base: ConfigDocument; readonly file: YamlFile },
): Part {
  const findings = collectFindings(file)
  const leftOut: (readonly PathKey[])[] = []
  const ignore = (keys: readonly PathKey[]): void => {
    const message = `${nameOf(file.inFile(keys))} is ignored: this nexus.yaml is not trusted, so it may only tighten.`
    const fix = isUserOnly(keys) ? USER_ONLY_FIX : 'Look at the file, then type: nexus trust'
    findings.add(keys, { code: 'config-untrusted', severity: 'warning', message, fix })
  }
  const expanded = { ...base, ...(base.agents && { agents: expandAgents(base.agents) }) } as JsonObject
  const document = narrowMap(checked as JsonObject, [], { ignore, leftOut, base: expanded }) as ConfigDocument
  return { document, diagnostics: findings.list(), file: withoutParts(file, leftOut) }
}

interface Walk {
  readonly base: JsonObject
  /** Position in `base` of the agent that is being looked at. */
  readonly agentAt?: number
  /** Items of lists that are ignored. */
  readonly leftOut: (readonly PathKey[])[]
  ignore(keys: readonly PathKey[]): void
}

function narrowMap(map: JsonObject, keys: readonly PathKey[], walk: Walk): JsonObject {
  const kept = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(map)) {
    const narrowed = narrow(value, [...keys, key], walk)
    // A section of which nothing is left is not there.
    if (narrowed !== undefined && !isEmptyMap(narrowed)) kept[key] = narrowed
  }
  return kept
}

function isEmptyMap(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}

function narrow(value: JsonValue, keys: readonly PathKey[], walk: Walk): JsonValue | undefined {
  const row = MAY_TIGHTEN.find(({ path }) => fits(path, keys))
  if (row) {
    const now = partAt(walk.base, row.reads?.split('.') ?? inBase(keys, walk))
    const verdict = row.check(value, now)
    if (verdict === true) return copyValue(value)
    walk.ignore(keys)
    if (verdict === false) return undefined
    const { narrowed } = verdict
    if (Array.isArray(value) && Array.isArray(narrowed)) {
      const gone = [...value.keys()].filter((index) => !narrowed.includes(value[index] as JsonValue))
      walk.leftOut.push(...gone.map((index) => [...keys, index]))
    }
    return narrowed
  }
  const leadsOn = MAY_TIGHTEN.some(({ path }) => leadsTo(path, keys))
  if (fits('agents', keys) && Array.isArray(value)) return narrowAgents(value, walk)
  if (leadsOn && isJsonObject(value)) return narrowMap(value, keys, walk)
  walk.ignore(keys)
  return undefined
}

/** An agent that does not exist so far would be a new one with all tools. */
function narrowAgents(agents: readonly JsonValue[], walk: Walk): JsonValue {
  const known = knownIds(walk)
  return agents.flatMap((agent, index): JsonValue[] => {
    const { id } = agent as { id: string }
    if (known.includes(id))
      return [narrowMap(agent as JsonObject, ['agents', index], { ...walk, agentAt: known.indexOf(id) })]
    walk.ignore(['agents', index])
    walk.leftOut.push(['agents', index])
    return []
  })
}

function knownIds({ base }: Walk): string[] {
  const agents = partAt(base, ['agents'])
  const ids = Array.isArray(agents) ? agents.map((agent) => (agent as { id: string }).id) : []
  return ids.length > 0 ? ids : [DEFAULTS.agentId]
}

/** The same place in the configuration so far, where the agent may stand at another position. */
function inBase(keys: readonly PathKey[], { agentAt }: Walk): readonly PathKey[] {
  return agentAt === undefined ? keys : ['agents', agentAt, ...keys.slice(2)]
}
