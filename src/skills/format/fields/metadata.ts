import {
  CLIENT_BLOCKS,
  type InstallSpec,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  type Requirements,
  type SkillMetadata,
  type UnreadableRequirement,
  withoutPrototype,
} from '../../../kernel/index.ts'
import type { Frontmatter, KeyPath, KeyPlace } from '../front.ts'
import { readJson5 } from '../json5.ts'
import type { Report } from '../report.ts'
import { reportSlips } from './slips.ts'
import {
  CLIENT_BLOCK,
  type Field,
  FIELD_NAMES,
  FIELDS,
  type Form,
  type Holder,
  INSTALL_LIST,
  listIn,
  osNames,
  REQUIRED,
  REQUIRES,
  skillsIn,
  TEXTS,
  TOP_LEVEL,
} from './table.ts'

const OWN_KEYS: readonly string[] = ['id', 'kind', 'label', 'bins', 'os']
const NAMES_REQUIREMENTS = /(?<![\w-])(?:requires|anyBins|os)["']?\s*:/
const NONE: readonly never[] = Object.freeze([])
const NO_FIELDS: JsonObject = Object.freeze({})
const EMPTY: Requirements = { bins: NONE, anyBins: NONE, env: NONE, config: NONE, network: NONE }
const NO_REQUIREMENTS = Object.freeze(EMPTY)
const NOTHING: SkillMetadata = Object.freeze({ os: NONE, requires: NO_REQUIREMENTS, install: NONE, always: false })

interface Given {
  readonly path: KeyPath
  readonly value: JsonValue
}

/** Reads metadata of one frontmatter, and collects requirements that cannot be read: they hold the skill. */
interface Reading {
  readonly front: Frontmatter
  readonly report: Report
  readonly unreadable: UnreadableRequirement[]
}

/** The gating part of a skill from every accepted place. For each field the first place that gives it counts. */
export function readMetadata(front: Frontmatter, report: Report): SkillMetadata {
  const reading: Reading = { front, report, unreadable: [] }
  const metadata: Holder = { path: ['metadata'], fields: metadataOf(reading) }
  const clients = clientBlocks(metadata.fields, reading)
  const top: Holder = { path: [], fields: topFields(front) }
  const requires = find([...clients, metadata, top], 'requires')
  const inside = isJsonObject(requires?.value) ? { path: requires.path, fields: requires.value } : undefined
  const add = (path: KeyPath, right: string): void =>
    report.add('metadata-key', placeOf(front, path), String(path.at(-1)), right)
  const atTop = front.values['requires']
  const isOther = top.fields['requires'] === undefined && isJsonObject(atTop)
  const other = isOther ? { path: ['requires'], fields: atTop } : undefined
  reportSlips({ clients, metadata, requires: inside, other }, add)
  const all = [...clients, metadata, top]
  const read = all.some(hasField) ? normalize(all, inside, reading, add) : NOTHING
  return reading.unreadable.length === 0 ? read : { ...read, unreadable: reading.unreadable }
}

function placeOf(front: Frontmatter, [key = 'metadata', ...below]: KeyPath): KeyPlace {
  return front.place(String(key), below)
}

function hasField({ fields }: Holder): boolean {
  return FIELD_NAMES.some((field) => fields[field] !== undefined)
}

/** Reads all fields; the last of the holders is the top level of the frontmatter. */
function normalize(
  holders: readonly Holder[],
  inside: Holder | undefined,
  reading: Reading,
  add: (path: KeyPath, right: string) => void,
): SkillMetadata {
  const inMetadata = holders.slice(0, -1)
  // Beside `requires` or inside it: both places are accepted for these. Source: contracts §2.1.
  const either = (key: string): Given | undefined => {
    const beside = find(holders, key)
    const below = inside && find([inside], key)
    if (beside && below && JSON.stringify(beside.value) !== JSON.stringify(below.value))
      add(below.path, `${key}, beside requires only`)
    return beside ?? below
  }
  const places = {
    emoji: find(holders, 'emoji'),
    homepage: find(holders, 'homepage'),
    primaryEnv: either('primaryEnv'),
    skillKey: find(inMetadata, 'skillKey'),
  }
  const texts: { -readonly [key in keyof typeof TEXTS]?: string } = {}
  for (const key of ['emoji', 'homepage', 'primaryEnv', 'skillKey'] as const) {
    const read = places[key]?.value === '' ? undefined : readField(TEXTS[key], places[key], reading)
    if (read !== undefined) texts[key] = read
  }
  const system = either('os')
  const isSystemReadable = system === undefined || listIn(system.value).isReadable
  if (!isSystemReadable) hold(FIELDS.os, system.path, 'os', reading)
  const restrict = find(inMetadata, 'restrict')
  // An unreadable value restricts: the author wanted less than everything.
  const isRestricted = restrict !== undefined && readField(FIELDS.restrict, restrict, reading) !== false
  return {
    ...texts,
    os: (isSystemReadable && readField(FIELDS.os, system, reading)) || NONE,
    requires: readRequirements(find(holders, 'requires'), inside, either('anyBins'), reading),
    install: installSpecs(either('install'), reading),
    always: readField(FIELDS.always, find(inMetadata, 'always'), reading) ?? false,
    ...skillsIn(inside),
    ...(isRestricted && { restrict: true as const }),
  }
}

function find(holders: readonly Holder[], key: string): Given | undefined {
  for (const { path, fields } of holders) {
    const value = ownValue(fields, key)
    if (value !== undefined && value !== null) return { path: [...path, key], value }
  }
  return undefined
}

function readField<T>(field: Field<T>, given: Given | undefined, reading: Reading): T | undefined {
  if (given === undefined) return undefined
  if (!field.accepts(given.value)) addForm(field, given.path, reading)
  return field.read(given.value)
}

function addForm(form: Form, path: KeyPath, { front, report }: Reading): KeyPlace {
  const place = placeOf(front, path)
  report.add(form.code, place, place.subject, form)
  return place
}

/** The lists of `requires`; `anyBins` may also be beside it. */
function readRequirements(
  given: Given | undefined,
  inside: Holder | undefined,
  anyBins: Given | undefined,
  reading: Reading,
): Requirements {
  if (given !== undefined && inside === undefined && !isEmpty(given.value))
    hold(REQUIRES, given.path, 'requires', reading)
  const requires: { -readonly [key in keyof Requirements]: readonly string[] } = { ...NO_REQUIREMENTS }
  for (const key of Object.keys(REQUIRED) as (keyof Requirements)[]) {
    const entries = key === 'anyBins' ? anyBins : inside && find([inside], key)
    if (entries === undefined) continue
    const field = REQUIRED[key]
    if (!field.accepts(entries.value)) hold(field, entries.path, `requires.${key}`, reading)
    requires[key] = field.read(entries.value) ?? NONE
    const wrong = requires[key].filter((text) => !field.pattern.test(text))
    if (wrong.length > 0)
      reading.report.add(
        'requires-invalid',
        placeOf(reading.front, entries.path),
        key,
        field.entries,
        wrong.slice(0, 5),
      )
  }
  return requires
}

/** Reports a requirement that cannot be read, and keeps it for the gate. */
function hold(form: Form, path: KeyPath, key: string, reading: Reading): void {
  const { line } = addForm(form, path, reading)
  reading.unreadable.push({ key, line, example: form.example })
}

function isEmpty(value: JsonValue): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}

function installSpecs(given: Given | undefined, reading: Reading): readonly InstallSpec[] {
  if (given === undefined) return NONE
  const { value, path } = given
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [value]
  return items.flatMap((item, index): InstallSpec[] => {
    const kind = isJsonObject(item) ? textOf(item, 'kind') : undefined
    const place = Array.isArray(value) ? [...path, index] : path
    if (isJsonObject(item) && kind !== undefined) return [installSpec(item, { kind, index, place }, reading)]
    reading.report.add('install-invalid', placeOf(reading.front, place), index + 1)
    return []
  })
}

function installSpec(
  item: JsonObject,
  { kind, index, place }: { readonly kind: string; readonly index: number; readonly place: KeyPath },
  reading: Reading,
): InstallSpec {
  const label = textOf(item, 'label')
  const list = (key: 'bins' | 'os'): readonly string[] => {
    const { texts, isReadable } = listIn(ownValue(item, key) ?? null)
    if (!isReadable) addForm(INSTALL_LIST, [...place, key], reading)
    return texts
  }
  return {
    id: textOf(item, 'id') ?? `${kind}-${index + 1}`,
    kind: kind.toLowerCase(),
    ...(label !== undefined && { label }),
    bins: list('bins'),
    os: osNames(list('os')),
    details: withoutPrototype(Object.fromEntries(Object.entries(item).filter(([key]) => !OWN_KEYS.includes(key)))),
  }
}

function textOf(item: JsonObject, key: string): string | undefined {
  const value = ownValue(item, key)
  const trimmed = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  return trimmed === '' ? undefined : trimmed
}

/** The fields below the names of clients. */
function clientBlocks(metadata: JsonObject, reading: Reading): Holder[] {
  return CLIENT_BLOCKS.flatMap((alias): Holder[] => {
    const value = ownValue(metadata, alias)
    const path = ['metadata', alias]
    if (value === undefined || value === null || value === '') return []
    if (isJsonObject(value)) return [{ path, fields: value }]
    if (isJsonText(value)) {
      const fields = fromText(value, path, reading)
      return fields === undefined ? [] : [{ path, fields }]
    }
    addForm(CLIENT_BLOCK, path, reading)
    holdIfRequires(value, path, reading)
    return []
  })
}

/** Gating fields at the top level. A `requires` there may name other skills or servers; only the gating form is ours. */
function topFields(front: Frontmatter): JsonObject {
  const top: Record<string, JsonValue> = {}
  for (const key of TOP_LEVEL) {
    const value = front.values[key]
    const isOurs = key === 'requires' || key === 'install' ? isGating(key, value) : value !== undefined
    if (isOurs && value !== undefined) top[key] = value
  }
  return top
}

function isGating(key: string, value: JsonValue | undefined): boolean {
  if (key === 'install')
    return (
      Array.isArray(value) &&
      (value as readonly JsonValue[]).some((item) => isJsonObject(item) && ownValue(item, 'kind') !== undefined)
    )
  // One text may be the program that the skill needs, so it holds the skill. A list names other skills in corpora.
  if (typeof value === 'string') return value.trim() !== ''
  return isJsonObject(value) && Object.keys(REQUIRED).some((name) => Object.hasOwn(value, name))
}

/** `metadata` as a mapping: YAML, or JSON5 in a string. Anything else is reported and left out. */
function metadataOf(reading: Reading): JsonObject {
  const value = reading.front.values['metadata']
  if (value === undefined || value === null || value === '') return NO_FIELDS
  if (isJsonObject(value)) return value
  if (isJsonText(value)) return fromText(value, ['metadata'], reading) ?? NO_FIELDS
  const single = typeof value === 'string' ? 'text' : 'one value'
  const kind = Array.isArray(value) ? 'a list' : single
  reading.report.add('metadata-not-mapping', reading.front.place('metadata'), 'metadata', { kind })
  holdIfRequires(value, ['metadata'], reading)
  return NO_FIELDS
}

/** Holds the skill where a value that cannot be read as a mapping names requirements. */
function holdIfRequires(value: JsonValue, path: KeyPath, { front, unreadable }: Reading): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (!NAMES_REQUIREMENTS.test(text)) return
  unreadable.push({ key: path.join('.'), line: placeOf(front, path).line, example: REQUIRES.example })
}

function isJsonText(value: JsonValue): value is string {
  return typeof value === 'string' && value.trimStart().startsWith('{')
}

/** The mapping in a text. A key given twice is the fault that it is in YAML: no value may get lost without a word. */
function fromText(text: string, path: KeyPath, reading: Reading): JsonObject | undefined {
  const { front, report } = reading
  const read = readJson5(text)
  if (read && 'value' in read) return read.value
  holdIfRequires(text, path, reading)
  if (read === undefined) return undefined
  const place = placeOf(front, path)
  const key = path.join('.')
  if ('twice' in read) report.add('yaml-duplicate-key', place, read.twice, { json: key, isLine: false })
  else report.add('metadata-not-mapping', place, key, read)
  return undefined
}
