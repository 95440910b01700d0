import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  type Requirements,
  type UnreadableRequirement,
} from '../../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import { REQUIRED } from './gating-values.ts'
import type { Notes } from './misplaced-keys.ts'

const NONE: readonly never[] = Object.freeze([])

/** What an entry of each list is, for messages. */
const MEANINGS: Readonly<Record<keyof Requirements, string>> = {
  bins: 'names of programs',
  anyBins: 'names of programs',
  env: 'names of variables',
  config: 'paths of a setting such as tools.github.enabled',
}

export interface ReadRequirements {
  readonly requires: Requirements
  readonly unreadable: readonly UnreadableRequirement[]
}

/** The lists of `requires`; `anyBins` may also be beside it. What cannot be read is kept, so that the gate holds the skill. */
export function readRequirements(
  requires: JsonValue | undefined,
  anyBins: JsonValue | undefined,
  notes: Notes,
): ReadRequirements {
  const inside = isJsonObject(requires) ? requires : undefined
  const unreadable: UnreadableRequirement[] = []
  const fail = (path: KeyPath, key: string, fault: { wanted: string; example: string }): void => {
    const place = notes.place(path)
    notes.report.add('field-type', place, key, { ...fault, effect: 'Until you correct it, Nexus holds the skill.' })
    unreadable.push({ key, line: place.line, example: fault.example })
  }
  if (inside === undefined && !isEmpty(requires)) {
    const example = `requires: {bins: [${programsIn(requires).join(', ') || 'gh'}]}`
    fail(['requires'], 'requires', { wanted: 'a mapping of bins, anyBins, env and config', example })
  }
  const list = (key: keyof Requirements, value: JsonValue | undefined): readonly string[] => {
    if (value === undefined || value === null) return NONE
    const isPlain = typeof value === 'number' || typeof value === 'boolean'
    const { texts, isReadable } = isPlain ? { texts: NONE, isReadable: false } : textsIn(value, { named: true })
    const path = key === 'anyBins' ? [key] : ['requires', key]
    if (!isReadable) {
      const wanted = isPlain ? `a list of ${MEANINGS[key]}; it is ${String(value)}` : 'a list of texts'
      fail(path, `requires.${key}`, { wanted, example: `${key}: [${texts.join(', ') || 'name'}]` })
    }
    const wrong = texts.filter((text) => !REQUIRED[key].test(text))
    if (wrong.length > 0) notes.report.add('requires-invalid', notes.place(path), key, MEANINGS[key], wrong.slice(0, 5))
    return texts
  }
  return {
    requires: {
      bins: list('bins', ownValue(inside, 'bins')),
      anyBins: list('anyBins', anyBins),
      env: list('env', ownValue(inside, 'env')),
      config: list('config', ownValue(inside, 'config')),
    },
    unreadable,
  }
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Names that a requirement of the wrong form seems to give. */
function programsIn(value: JsonValue | undefined): readonly string[] {
  const { texts } = textsIn(value, { named: true })
  return texts
    .flatMap((text) => text.split(/\s+/))
    .filter((text) => REQUIRED.bins.test(text))
    .slice(0, 5)
}

/** A list of texts, or one text with commas; `named`: also of mappings with a `name`, but for those that say that they are optional. */
export function textsIn(
  value: JsonValue | undefined,
  { named }: { readonly named: boolean },
): { readonly texts: readonly string[]; readonly isReadable: boolean } {
  if (value === undefined || value === null) return { texts: NONE, isReadable: true }
  const items: readonly JsonValue[] = Array.isArray(value)
    ? (value as readonly JsonValue[]).map((item) => (named ? nameOf(item) : item))
    : typeof value === 'string'
      ? value.split(',')
      : [value as JsonValue]
  const texts = items
    .filter((item) => typeof item === 'string' || typeof item === 'number')
    .map((item) => String(item).trim())
  const isReadable = texts.length === items.length
  // One text is nearly all there is.
  if (texts.length === 1 && texts[0] !== '') return { texts, isReadable }
  return { texts: [...new Set(texts.filter((text) => text !== ''))], isReadable }
}

function nameOf(item: JsonValue): JsonValue {
  if (!isJsonObject(item)) return item
  const isOptional = ownValue(item, 'required') === false || ownValue(item, 'optional') === true
  return isOptional ? '' : (ownValue(item as JsonObject, 'name') ?? null)
}
