import { commandFix, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import type { Finding, Part } from '../document/finding.ts'
import { copyValue, partAt, type Path, withoutEmptyMaps } from '../document/path.ts'
import { type Message, notApplied, STRICTER } from '../messages.ts'
import { nameIn } from '../profiles.ts'
import { CONFIG_DEFAULTS } from '../schema/defaults.ts'
import type { Tightening } from '../schema/parts.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { defaultAt, holdsTightening, rulesAlong, rulesAt } from '../schema/walk.ts'
import { expandAgents } from './merge.ts'

/** Whether a value only narrows what is allowed so far; a value means "narrowed to this". */
type Check = (value: JsonValue, now: unknown) => boolean | { readonly narrowed: JsonValue }

interface Tighter {
  readonly check: Check
  /** The narrowest that users may have; absent where the check does not ask what they have. */
  readonly narrowest?: readonly JsonValue[]
}

/** Source: decisions, "Trust": an untrusted workspace may tighten but not widen. */
const TIGHTER: Readonly<Record<Tightening, Tighter>> = {
  add: { check: () => true },
  disable: { check: (value) => value === false },
  // A name that goes leaves a gap.
  remove: { check: checkShorter, narrowest: [[]] },
  // `coding` and `messaging` each have tools that the other lacks.
  'narrow-profile': {
    check: (value, now) => value === now || now === 'full' || (value === 'minimal' && now === 'messaging'),
    narrowest: ['coding', 'messaging', 'minimal'],
  },
  // Confined here instead of unconfined here; but a user who chose another machine wants nothing run on this one.
  'this-machine': { check: (value, now) => value === 'local' && now !== 'e2b', narrowest: ['e2b'] },
  lower: { check: (value, now) => Number(value) <= Number(now), narrowest: [1] },
  'lower-or-none': { check: (value, now) => sizeOf(value) <= sizeOf(now), narrowest: [1] },
}

function sizeOf(limit: unknown): number {
  return limit === 0 ? Infinity : Number(limit)
}

function checkShorter(value: JsonValue, now: unknown): ReturnType<Check> {
  if (!Array.isArray(value) || !Array.isArray(now)) return true
  const narrowed = value.map((name) => (now.includes(name) ? name : undefined))
  return !narrowed.includes(undefined) || { narrowed: narrowed as JsonValue }
}

/** Whether a setting only narrows what is allowed, whatever the configuration so far says. */
export function neverWidens(value: JsonValue, at: Path): boolean {
  const { untrusted } = rulesAt(at)
  if (untrusted === undefined) return false
  const { check, narrowest = [undefined] } = TIGHTER[untrusted]
  return narrowest.every((now) => check(value, now) === true)
}

interface File extends Pick<Layer, 'path' | 'isProfile'> {
  readonly isTrusted: boolean
  /** Else it is the user's own, and applies as a whole. */
  readonly isWorkspace: boolean
  /** The configuration so far. */
  readonly base: ConfigDocument
}

/**
 * The part of a document that applies. Of a trusted workspace that is all but what only the user may say: a command
 * that writes there could otherwise free the next one. Of another one it is what tightens. Every other part is a finding.
 */
export function restrict(checked: ConfigDocument, { base, isWorkspace, ...file }: File): Part {
  const { isTrusted } = file
  if (isTrusted && !isWorkspace) return { document: checked, findings: [] }
  const refused: Path[] = []
  const expanded = { ...base, agents: expandAgents(base.agents ?? []) } as JsonObject
  const document = restrictMap(checked as JsonObject, [], { refused, base: expanded, isTrusted })
  if (refused.length === 0 && isTrusted) return { document: checked, findings: [] }
  const findings = refused.map((at): Finding => {
    const setting = nameIn(file)(at)
    const isUsersOnly = rulesAlong(at).some(({ usersOnly }) => usersOnly !== undefined)
    const words = isTrusted ? userOnly(setting) : untrusted(setting, isUsersOnly)
    return { file: file.path, at, severity: 'warning', ...words }
  })
  return { document: withoutEmptyMaps(document) as ConfigDocument, findings }
}

const OWN_FILE = 'Write it into ~/.nexus/nexus.yaml, or name a file outside the workspace with --config.'

function userOnly(setting: string): Message {
  const why = 'A file of the workspace never loosens the sandbox, trusted or not.'
  return notApplied('config-user-only', setting, why, OWN_FILE)
}

function untrusted(setting: string, isUsersOnly: boolean): Message {
  const message = `${setting} is not applied. Until you trust this workspace, ${STRICTER}`
  const fix = isUsersOnly ? { fix: OWN_FILE } : commandFix('Read the file. Then run:', 'trust')
  return { code: 'config-untrusted', message, ...fix }
}

interface Walk {
  readonly base: JsonObject
  readonly isTrusted: boolean
  /** Position in `base` of the agent that is being narrowed. */
  readonly agentAt?: number
  readonly refused: Path[]
}

function restrictMap(map: JsonObject, at: Path, walk: Walk): JsonObject {
  const kept = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(map)) {
    const restricted = restrictPart(value, [...at, key], walk)
    if (restricted !== undefined) kept[key] = restricted
  }
  return kept
}

function restrictPart(value: JsonValue, at: Path, walk: Walk): JsonValue | undefined {
  const { usersOnly, untrusted } = rulesAt(at)
  if (!walk.isTrusted) return untrusted === undefined ? narrowSection(value, at, walk) : narrow(value, at, walk)
  if (usersOnly === true || usersOnly === value) return refuse(at, walk)
  if (Array.isArray(value))
    return value.map((item, index) => (isJsonObject(item) ? restrictMap(item, [...at, index], walk) : copyValue(item)))
  return isJsonObject(value) ? restrictMap(value, at, walk) : copyValue(value)
}

function narrow(value: JsonValue, at: Path, walk: Walk): JsonValue | undefined {
  const { untrusted } = rulesAt(at)
  const now = partAt(walk.base, inBase(at, walk)) ?? defaultAt(at)
  const verdict = untrusted !== undefined && TIGHTER[untrusted].check(value, now)
  if (verdict === true) return copyValue(value)
  refuse(at, walk)
  return verdict === false ? undefined : verdict.narrowed
}

function narrowSection(value: JsonValue, at: Path, walk: Walk): JsonValue | undefined {
  if (at.length === 1 && at[0] === 'agents' && Array.isArray(value)) return narrowAgents(value, walk)
  return isJsonObject(value) && holdsTightening(at) ? restrictMap(value, at, walk) : refuse(at, walk)
}

function refuse(at: Path, { refused }: Walk): undefined {
  refused.push(at)
}

/** An agent that does not exist so far would be a new one with all tools. */
function narrowAgents(agents: readonly (JsonValue | undefined)[], walk: Walk): JsonValue {
  const known = knownIds(walk)
  return agents.map((agent, index) => {
    if (!isJsonObject(agent)) return undefined
    const agentAt = known.indexOf(String(agent['id']))
    if (agentAt !== -1) return restrictMap(agent, ['agents', index], { ...walk, agentAt })
    return refuse(['agents', index], walk)
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
