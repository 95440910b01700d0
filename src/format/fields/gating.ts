import {
  type InstallSpec,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  type Requirements,
  type SkillMetadata,
} from '../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import { asBoolean } from './flags.ts'
import { TOP_LEVEL } from './metadata-keys.ts'
import { isWebAddress, osNames, REQUIRED } from './gating-values.ts'
import { type Notes, reportSlips, reportTwice } from './slips.ts'

const NONE: readonly never[] = Object.freeze([])
const FIELDS: readonly string[] = [...TOP_LEVEL, 'always', 'skillKey']
const OWN_KEYS: readonly string[] = ['id', 'kind', 'label', 'bins', 'os']

const NOTHING: SkillMetadata = Object.freeze({
  os: NONE,
  requires: Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, config: NONE }),
  install: NONE,
  always: false,
})

function hasField(container: JsonObject): boolean {
  return FIELDS.some((field) => container[field] !== undefined)
}

/** One reading of all places; the last of `containers` is the top level of the frontmatter. */
export function normalizeMetadata(containers: readonly JsonObject[], notes: Notes): SkillMetadata {
  const clients = containers.slice(0, -2)
  const metadata = containers.at(-2) ?? {}
  if (!containers.some(hasField)) {
    reportSlips({ clients, metadata, requires: undefined }, notes)
    return NOTHING
  }
  // Beside `requires` or inside it: both places are accepted for these. Source: contracts §2.1.
  const requires = first(containers, 'requires')
  const inside = isJsonObject(requires) ? requires : undefined
  reportSlips({ clients, metadata, requires: inside }, notes)
  const either = (key: string): JsonValue | undefined => {
    const beside = first(containers, key)
    reportTwice(key, { beside, inside: ownValue(inside, key) }, notes)
    return beside ?? first(inside ? [inside] : [], key)
  }
  const list = (key: string, value: JsonValue | undefined): readonly string[] => textList(value, key, notes)
  const emoji = text(first(containers, 'emoji'))
  const homepage = webAddress(first(containers, 'homepage'), notes)
  const primaryEnv = text(either('primaryEnv'))
  const skillKey = text(first(containers.slice(0, -1), 'skillKey'))
  return {
    ...(emoji === undefined ? {} : { emoji }),
    ...(homepage === undefined ? {} : { homepage }),
    os: osNames(list('os', either('os'))),
    requires: requirements(inside, { anyBins: either('anyBins'), list, notes, given: requires }),
    ...(primaryEnv === undefined ? {} : { primaryEnv }),
    install: installSpecs(either('install'), notes),
    always: asBoolean(first(containers.slice(0, -1), 'always')) ?? false,
    ...(skillKey === undefined ? {} : { skillKey }),
  }
}

interface RequirementParts {
  readonly anyBins: JsonValue | undefined
  readonly list: (key: string, value: JsonValue | undefined) => readonly string[]
  readonly notes: Notes
  readonly given: JsonValue | undefined
}

function requirements(inside: JsonObject | undefined, { anyBins, list, notes, given }: RequirementParts): Requirements {
  if (given !== undefined && given !== null && !inside) {
    notes.report.add('field-type', 'requires must be a mapping of bins, anyBins, env and config', {
      ...notes.place(['requires']),
      fix: `write: requires: {bins: [${namesIn(given).join(', ') || 'gh'}]}`,
    })
  }
  const result = {
    bins: list('requires.bins', ownValue(inside, 'bins')),
    anyBins: list('requires.anyBins', anyBins),
    env: list('requires.env', ownValue(inside, 'env')),
    config: list('requires.config', ownValue(inside, 'config')),
  }
  const check = (key: keyof typeof result, what: string): void => {
    if (result[key].length === 0) return
    const wrong = result[key].filter((entry) => !REQUIRED[key].test(entry))
    if (wrong.length === 0) return
    const names = wrong.slice(0, 5).map((entry) => JSON.stringify(entry.slice(0, 60).toWellFormed()))
    notes.report.add('requires-invalid', `requires.${key} has entries that are not ${what}: ${names.join(', ')}`, {
      ...notes.place(pathOf(`requires.${key}`)),
      fix: 'correct or remove them; until then the requirement is not met',
    })
  }
  check('bins', 'names of programs')
  check('anyBins', 'names of programs')
  check('env', 'names of variables')
  check('config', 'paths of a setting such as tools.github.enabled')
  return result
}

/** Names that a requirement of the wrong form seems to mean. */
function namesIn(value: JsonValue): readonly string[] {
  const items: readonly JsonValue[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value.split(/[\s,]+/)
      : []
  return items.filter((item) => typeof item === 'string' && REQUIRED.bins.test(item)).slice(0, 5) as string[]
}

function installSpecs(value: JsonValue | undefined, notes: Notes): readonly InstallSpec[] {
  if (value === undefined || value === null) return NONE
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [value as JsonValue]
  const specs: InstallSpec[] = []
  items.forEach((item, index) => {
    const kind = isJsonObject(item) ? text(ownValue(item, 'kind')) : undefined
    if (!isJsonObject(item) || kind === undefined) {
      notes.report.add('install-invalid', `install entry ${index + 1} has no kind; it is ignored`, {
        ...notes.place(Array.isArray(value) ? ['install', index] : ['install']),
        fix: 'write: {id: brew, kind: brew, formula: gh}',
      })
      return
    }
    const label = text(ownValue(item, 'label'))
    const details = Object.create(null) as Record<string, JsonValue>
    for (const [key, detail] of Object.entries(item)) {
      if (!OWN_KEYS.includes(key)) details[key] = detail
    }
    specs.push({
      id: text(ownValue(item, 'id')) ?? `${kind}-${index + 1}`,
      kind: kind.toLowerCase(),
      ...(label === undefined ? {} : { label }),
      bins: textList(ownValue(item, 'bins'), `install.${index}.bins`, notes),
      os: osNames(textList(ownValue(item, 'os'), `install.${index}.os`, notes)),
      details,
    })
  })
  return specs
}

/** A list of texts, or one text with commas; empty entries are dropped, other types reported. */
function textList(value: JsonValue | undefined, key: string, notes: Notes): readonly string[] {
  if (value === undefined || value === null) return NONE
  const items: readonly JsonValue[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value.split(',')
      : [value as JsonValue]
  const texts = items
    .filter((item) => typeof item === 'string' || typeof item === 'number')
    .map((item) => String(item).trim())
  if (texts.length < items.length)
    notes.report.add('field-type', `${key.replace(/\.\d+/, '')} must be a list of texts`, {
      ...notes.place(pathOf(key)),
      fix: `write: ${key.split('.').pop() ?? key}: [first, second]`,
    })
  if (texts.length === 1 && texts[0] !== '') return texts
  return [...new Set(texts.filter((item) => item !== ''))]
}

/** The keys and indexes of a dotted name. Programs of which any one will do may stand beside `requires`, which goes before. */
function pathOf(key: string): KeyPath {
  if (key === 'requires.anyBins') return ['anyBins']
  return key.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}

function webAddress(value: JsonValue | undefined, notes: Notes): string | undefined {
  const address = text(value)
  if (address === undefined) return undefined
  if (isWebAddress(address)) return address
  notes.report.add('field-type', 'homepage must be an address that begins with https:// or http://; it is ignored', {
    ...notes.place(['homepage']),
    fix: 'write: homepage: https://example.com',
  })
  return undefined
}

function text(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const trimmed = String(value).trim()
  return trimmed === '' ? undefined : trimmed
}

function first(containers: readonly JsonObject[], key: string): JsonValue | undefined {
  for (const container of containers) {
    const value = ownValue(container, key)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}
