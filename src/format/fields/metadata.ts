import JSON5 from 'json5'
import { isJsonObject, type JsonObject, type JsonValue, type SkillMetadata, toSafeLine } from '../../kernel/index.ts'
import type { Frontmatter } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'
import { normalizeMetadata, type Notes, own } from './gating.ts'
import { type Holder, placeOfField } from './metadata-place.ts'
import { ALIASES, TOP_LEVEL } from './metadata-keys.ts'

/** The gating part of a skill from every accepted place. For each field the first place that gives it counts. */
export function readMetadata(front: Frontmatter, report: Report): SkillMetadata {
  const metadata = asMapping(front, report)
  const containers: JsonObject[] = []
  for (const alias of ALIASES) {
    const value = own(metadata, alias)
    const inner = typeof value === 'string' ? parseJson5(value) : value
    if (isJsonObject(inner)) containers.push(inner)
  }
  containers.push(metadata)
  const top = Object.create(null) as Record<string, JsonValue>
  for (const key of TOP_LEVEL) {
    const value = front.value(key)
    // A top-level `requires` also names other skills or servers in corpora; only the gating form is ours.
    const gating = key === 'requires' || key === 'install' ? isGating(key, value) : value !== undefined
    if (gating && value !== undefined) top[key] = value
  }
  containers.push(top)
  const notes: Notes = {
    place: (path) => placeOfField(front, [...holdersIn(metadata), { path: [], fields: top }], path),
    report,
  }
  return normalizeMetadata(containers, notes)
}

/** The containers of `metadata`, with the way to each. */
function holdersIn(metadata: JsonObject): Holder[] {
  const inAliases = ALIASES.flatMap((alias): Holder[] => {
    const value = own(metadata, alias)
    const fields = typeof value === 'string' ? parseJson5(value) : value
    return isJsonObject(fields) ? [{ path: ['metadata', alias], fields }] : []
  })
  return [...inAliases, { path: ['metadata'], fields: metadata }]
}

function isGating(key: string, value: JsonValue | undefined): boolean {
  if (key === 'install')
    return (
      Array.isArray(value) && value.some((item: JsonValue) => isJsonObject(item) && own(item, 'kind') !== undefined)
    )
  return isJsonObject(value) && ['bins', 'anyBins', 'env', 'config'].some((name) => Object.hasOwn(value, name))
}

/** `metadata` as a mapping: YAML, or JSON5 in a string. Anything else is reported and left out. */
function asMapping(front: Frontmatter, report: Report): JsonObject {
  const value = front.value('metadata')
  const empty = Object.create(null) as JsonObject
  if (value === undefined || value === null || value === '') return empty
  const parsed = typeof value === 'string' ? parseJson5(value) : value
  if (isJsonObject(parsed)) return parsed
  const what = Array.isArray(value) ? 'a list' : typeof value === 'string' ? 'text' : 'one value'
  const fault = typeof value === 'string' ? json5Fault(value) : undefined
  report.add(
    'metadata-not-mapping',
    fault === undefined
      ? `metadata is ${what}, not keys with values; it is kept and not used`
      : `metadata looks like JSON, but is none (${fault}); it is kept and not used`,
    {
      ...front.place('metadata'),
      fix:
        fault === undefined
          ? 'write keys below metadata:, indented by two spaces'
          : 'correct the JSON, or write keys below metadata:, indented by two spaces',
    },
  )
  return empty
}

/** What is wrong with a text that begins like a JSON object. */
function json5Fault(text: string): string | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    JSON5.parse(text)
    return undefined
  } catch (error) {
    return toSafeLine(error instanceof Error ? error.message : String(error))
      .replace(/^JSON5: /, '')
      .slice(0, 120)
  }
}

/** A JSON5 object as plain data without prototypes, or undefined when the text is none. */
export function parseJson5(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const value = plain(JSON5.parse(text), 0)
    return isJsonObject(value) ? value : undefined
  } catch {
    // Not JSON5, or nested too deep: the caller reports that metadata is plain text.
    return undefined
  }
}

function plain(value: unknown, depth: number): JsonValue {
  if (depth > FORMAT_LIMITS.maxDepth) throw new RangeError('too deep')
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1))
  if (typeof value === 'object' && value !== null) {
    const result = Object.create(null) as Record<string, JsonValue>
    for (const [key, item] of Object.entries(value)) result[key] = plain(item, depth + 1)
    return result
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}
