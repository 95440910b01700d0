/** widening: the settings of a file that could widen what is allowed, whatever the user's own configuration says. */
import { isJsonObject, membersOf, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { partAt, type Path } from '../document/path.ts'
import { CONFIG_DEFAULTS } from '../schema/defaults.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { holdsTightening } from '../schema/walk.ts'
import { neverWidens, restrict } from './restrict.ts'

/** One such setting. */
export interface Widening {
  /** Its place in the file. */
  readonly at: Path
  /** JSON pointer of its canonical name; an agent goes by its id, so that another agent before it changes nothing. */
  readonly pointer: string
  readonly value: JsonValue
}

/** Settings that never count from a workspace are left out: there is nothing to trust in them. */
export function findWidening(checked: ConfigDocument): Widening[] {
  const { document } = restrict(checked, { path: '', base: {}, isTrusted: true, isWorkspace: true })
  const found = collect(document as JsonObject, [], document)
  const ids = (document.agents ?? []).flatMap((agent) => (agent as typeof agent | undefined)?.id ?? [])
  // Alone, an agent called main is the one that there is without any file.
  if (ids.length > 1 || (ids[0] ?? CONFIG_DEFAULTS.agentId) !== CONFIG_DEFAULTS.agentId)
    found.push({ at: ['agents'], pointer: '/agents', value: ids })
  return found
}

function collect(value: JsonValue | undefined, at: Path, document: ConfigDocument): Widening[] {
  if (value === undefined || neverWidens(value, at)) return []
  // Other lists are settings as a whole.
  const isOneSetting = Array.isArray(value) && !(at.length === 1 && at[0] === 'agents')
  const members = isOneSetting ? [] : membersOf(value)
  if (members.length > 0) return members.flatMap(([key, member]) => collect(member, [...at, key], document))
  // An empty section says nothing, and which agents there are is one setting of its own.
  if (holdsTightening(at) && isEmpty(value)) return []
  return [{ at, pointer: pointerOf(at, document), value }]
}

function isEmpty(value: JsonValue): boolean {
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0
}

function pointerOf(at: Path, document: ConfigDocument): string {
  const [section, index, ...rest] = at
  const id = section === 'agents' ? partAt(document, ['agents', index ?? 0, 'id']) : undefined
  const keys = typeof id === 'string' ? ['agents', id, ...rest] : at
  return pointerTo(keys)
}

/** RFC 6901. */
export function pointerTo(keys: Path): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
