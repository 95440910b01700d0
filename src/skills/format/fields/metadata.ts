import {
  CLIENT_BLOCKS,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  type SkillMetadata,
  type UnreadableRequirement,
} from '../../../kernel/index.ts'
import type { Frontmatter, KeyPath, KeyPlace } from '../front.ts'
import type { Report } from '../report.ts'
import { normalizeMetadata } from './gating.ts'
import type { Notes } from './misplaced-keys.ts'
import { parseJson5, readJson5 } from '../json5.ts'
import { type Holder, placeOfField } from './metadata-place.ts'
import { similarRequirement, TOP_LEVEL } from './metadata-keys.ts'
import { reportRequirements } from './misplaced-keys.ts'

/** The gating part of a skill from every accepted place. For each field the first place that gives it counts. */
export function readMetadata(front: Frontmatter, report: Report): SkillMetadata {
  const lost: UnreadableRequirement[] = []
  const metadata = asMapping({ front, report, lost })
  const containers = clientBlocks(metadata, { front, report, lost })
  containers.push(metadata)
  const top: Record<string, JsonValue> = {}
  for (const key of TOP_LEVEL) {
    const value = front.values[key]
    // A top-level `requires` also names other skills or servers in corpora; only the gating form is ours.
    if (value !== undefined && ((key !== 'requires' && key !== 'install') || isGating(key, value))) top[key] = value
  }
  containers.push(top)
  const notes: Notes = {
    place: (path) => placeOfField(front, [...holdersIn(metadata), { path: [], fields: top }], path),
    report,
  }
  const other = ownValue(top, 'requires') === undefined ? front.values['requires'] : undefined
  // With a key of another client it is that client's.
  if (isJsonObject(other) && Object.keys(other).every((key) => similarRequirement(key) !== undefined)) {
    const place = (path: KeyPath): KeyPlace => front.place(String(path[0]), path.slice(1))
    reportRequirements(other, { notes: { report, place }, isOurs: false })
  }
  const read = normalizeMetadata(containers, notes)
  return lost.length === 0 ? read : { ...read, unreadable: [...(read.unreadable ?? []), ...lost] }
}

/** The fields below the names of clients. */
function clientBlocks(metadata: JsonObject, { front, report, lost }: Reading): JsonObject[] {
  const containers: JsonObject[] = []
  for (const alias of CLIENT_BLOCKS) {
    const value = ownValue(metadata, alias)
    const isJson = typeof value === 'string' && value.trimStart().startsWith('{')
    const inner = isJson ? fromText(value, ['metadata', alias], { front, report, lost }) : value
    if (isJsonObject(inner)) containers.push(inner)
    else if (inner !== undefined && inner !== null && inner !== '')
      report.add('metadata-field', front.place('metadata', [alias]), `metadata.${alias}`, {
        wanted: 'a mapping',
        example: `${alias}: {emoji: "🔧"}`,
        fix: `Remove it, or write its keys below it, one a line, for example: emoji: "🔧"`,
      })
  }
  return containers
}

/** The containers of `metadata`, with the way to each. */
function holdersIn(metadata: JsonObject): Holder[] {
  const inAliases = CLIENT_BLOCKS.flatMap((alias): Holder[] => {
    const value = ownValue(metadata, alias)
    const fields = typeof value === 'string' ? parseJson5(value) : value
    return isJsonObject(fields) ? [{ path: ['metadata', alias], fields }] : []
  })
  return [...inAliases, { path: ['metadata'], fields: metadata }]
}

function isGating(key: string, value: JsonValue): boolean {
  if (key === 'install')
    return (
      Array.isArray(value) &&
      value.some((item: JsonValue) => isJsonObject(item) && ownValue(item, 'kind') !== undefined)
    )
  // One text may be the program that the skill needs, so it holds the skill. A list names other skills in corpora.
  if (typeof value === 'string') return value.trim() !== ''
  return isJsonObject(value) && ['bins', 'anyBins', 'env', 'config'].some((name) => Object.hasOwn(value, name))
}

interface Reading {
  readonly front: Frontmatter
  readonly report: Report
  /** Texts that may name requirements and cannot be read: they hold the skill. */
  readonly lost: UnreadableRequirement[]
}

const NAMES_REQUIREMENTS = /(?:requires|anyBins|os)["']?\s*:/

/** The mapping in a text. A key given twice is the fault that it is in YAML: no value may get lost without a word. */
function fromText(text: string, path: KeyPath, { front, report, lost }: Reading): JsonObject | undefined {
  const read = readJson5(text)
  if (read === undefined) return undefined
  if ('value' in read) return read.value
  const place = front.place(String(path[0]), path.slice(1))
  if (NAMES_REQUIREMENTS.test(text)) {
    lost.push({ key: path.join('.'), line: place.line, example: 'requires: {bins: [gh]}' })
  }
  if (!('twice' in read)) {
    report.add('metadata-not-mapping', place, path.join('.'), read)
    return undefined
  }
  report.add('yaml-duplicate-key', place, read.twice, { json: path.join('.'), isLine: false })
  return undefined
}

/** `metadata` as a mapping: YAML, or JSON5 in a string. Anything else is reported and left out. */
function asMapping(reading: Reading): JsonObject {
  const { front, report } = reading
  const value = front.values['metadata']
  if (value === undefined || value === null || value === '') return {}
  if (isJsonObject(value)) return value
  if (typeof value === 'string' && value.trimStart().startsWith('{')) {
    return fromText(value, ['metadata'], reading) ?? {}
  }
  const what = Array.isArray(value) ? 'a list' : typeof value === 'string' ? 'text' : 'one value'
  report.add('metadata-not-mapping', front.place('metadata'), 'metadata', { kind: what })
  return {}
}
