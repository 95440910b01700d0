import {
  type InstallSpec,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nearest,
  ownValue,
  type SkillMetadata,
} from '../../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import type { Expected } from '../messages/fields.ts'
import { asBoolean } from './flags.ts'
import { TOP_LEVEL } from './metadata-keys.ts'
import { ANY_SYSTEM, isSystem, SYSTEM_NAMES, isVariable, isWebAddress, osNames } from './gating-values.ts'
import { type Notes, reportMisplaced, reportTwice } from './misplaced-keys.ts'
import { readRequirements, textsIn } from './requirements.ts'

const NONE: readonly never[] = Object.freeze([])
const FIELDS: ReadonlySet<string> = new Set([...TOP_LEVEL, 'always', 'restrict', 'skillKey'])
const OWN_KEYS: readonly string[] = ['id', 'kind', 'label', 'bins', 'os']

const NOTHING: SkillMetadata = Object.freeze({
  os: NONE,
  requires: Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, config: NONE }),
  install: NONE,
  always: false,
})

/** Each field with the first value that is given for it. One pass over the keys that are there: most skills have few. */
function fieldsIn(containers: readonly JsonObject[]): ReadonlyMap<string, JsonValue> {
  const fields = new Map<string, JsonValue>()
  for (const container of containers) {
    for (const key of Object.keys(container)) {
      const value = container[key]
      if (FIELDS.has(key) && value !== undefined && value !== null && !fields.has(key)) fields.set(key, value)
    }
  }
  return fields
}

/** One reading of all places; the last of `containers` is the top level of the frontmatter. */
export function normalizeMetadata(containers: readonly JsonObject[], notes: Notes): SkillMetadata {
  const clients = containers.slice(0, -2)
  const metadata = containers.at(-2) ?? {}
  const fields = fieldsIn(containers)
  // Beside `requires` or inside it: both places are accepted for these. Source: contracts §2.1.
  const given = fields.get('requires')
  const inside = isJsonObject(given) ? given : undefined
  reportMisplaced({ clients, metadata, requires: inside }, notes)
  if (fields.size === 0) return NOTHING
  const either = (key: string): JsonValue | undefined => {
    const beside = fields.get(key)
    const within = ownValue(inside, key)
    reportTwice(key, { beside, inside: within }, notes)
    return beside ?? within ?? undefined
  }
  const emoji = checked('emoji', fields.get('emoji'), notes)
  const homepage = webAddress(fields.get('homepage'), notes)
  const primaryEnv = checked('primaryEnv', either('primaryEnv'), notes)
  const skillKey = checked('skillKey', fields.get('skillKey'), notes)
  const os = systems(either('os'), notes)
  const { requires, unreadable } = readRequirements(given, either('anyBins'), notes)
  return {
    ...(emoji === undefined ? {} : { emoji }),
    ...(homepage === undefined ? {} : { homepage }),
    os,
    requires,
    ...(unreadable.length === 0 ? {} : { unreadable }),
    ...(primaryEnv === undefined ? {} : { primaryEnv }),
    install: installSpecs(either('install'), notes),
    always: flag('always', fields.get('always'), notes) ?? false,
    // What cannot be read restricts: the author wanted less than everything.
    ...((flag('restrict', fields.get('restrict'), notes) ?? fields.has('restrict')) ? { restrict: true as const } : {}),
    ...(skillKey === undefined ? {} : { skillKey }),
  }
}

/** The fields that are one text. */
const TEXTS: Readonly<Record<'emoji' | 'primaryEnv' | 'skillKey', Expected & { accepts: (text: string) => boolean }>> =
  {
    emoji: { wanted: 'one emoji', example: 'emoji: "🔧"', accepts: (value) => value.length <= 32 },
    primaryEnv: { wanted: 'the name of a variable', example: 'primaryEnv: MY_API_KEY', accepts: isVariable },
    skillKey: { wanted: 'text', example: 'skillKey: my-skill', accepts: () => true },
  }

function checked(key: keyof typeof TEXTS, value: JsonValue | undefined, notes: Notes): string | undefined {
  if (value === undefined) return undefined
  const { accepts, wanted, example } = TEXTS[key]
  const found = typeof value === 'string' ? text(value) : undefined
  if (value === '' || (found !== undefined && accepts(found))) return found
  notes.report.add('metadata-field', notes.place([key]), key, { wanted, example })
  return undefined
}

function flag(key: 'always' | 'restrict', value: JsonValue | undefined, notes: Notes): boolean | undefined {
  const read = asBoolean(value)
  if (value !== undefined && read === undefined)
    notes.report.add('metadata-field', notes.place([key]), key, { wanted: 'true or false', example: `${key}: true` })
  return read
}

const SYSTEMS: Expected = { wanted: 'a list of linux, darwin and windows', example: 'os: [linux, darwin]' }

/** The systems that a skill is for; words for any system are none of them. */
function systems(value: JsonValue | undefined, notes: Notes): readonly string[] {
  if (value === undefined) return NONE
  const { texts, isReadable } = textsIn(value, { named: false })
  const names = texts.filter((name) => !ANY_SYSTEM.has(name.toLowerCase()))
  const unknown = names.find((name) => !isSystem(name))
  if (!isReadable || unknown !== undefined || names.length < texts.length) {
    const near = unknown === undefined ? undefined : nearest(unknown, SYSTEM_NAMES)
    const example = `os: [${names.map((name) => (name === unknown ? near : (osNames([name])[0] ?? name))).join(', ')}]`
    const effect = unknown === undefined ? undefined : `Nexus does not know the system '${unknown}'.`
    notes.report.add('metadata-field', notes.place(['os']), 'os', {
      ...SYSTEMS,
      ...(near !== undefined && { example }),
      ...(effect !== undefined && { effect }),
      ...(names.length < texts.length && { fix: 'Remove os: from here. A skill without it is for every system.' }),
    })
  }
  return names.length < texts.length ? NONE : osNames(names)
}

function installSpecs(value: JsonValue | undefined, notes: Notes): readonly InstallSpec[] {
  if (value === undefined || value === null) return NONE
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [value as JsonValue]
  const specs: InstallSpec[] = []
  items.forEach((item, index) => {
    const kind = isJsonObject(item) ? text(ownValue(item, 'kind')) : undefined
    if (!isJsonObject(item) || kind === undefined) {
      notes.report.add(
        'install-invalid',
        notes.place(Array.isArray(value) ? ['install', index] : ['install']),
        index + 1,
      )
      return
    }
    const label = text(ownValue(item, 'label'))
    const details = Object.create(null) as Record<string, JsonValue>
    for (const [key, detail] of Object.entries(item)) {
      if (!OWN_KEYS.includes(key)) details[key] = detail
    }
    const list = (key: 'bins' | 'os'): readonly string[] =>
      installList(ownValue(item, key), ['install', index, key], notes)
    specs.push({
      id: text(ownValue(item, 'id')) ?? `${kind}-${index + 1}`,
      kind: kind.toLowerCase(),
      ...(label === undefined ? {} : { label }),
      bins: list('bins'),
      os: osNames(list('os')),
      details,
    })
  })
  return specs
}

function installList(value: JsonValue | undefined, path: KeyPath, notes: Notes): readonly string[] {
  const { texts, isReadable } = textsIn(value, { named: false })
  const key = String(path.at(-1))
  if (!isReadable)
    notes.report.add('field-type', notes.place(path), path.join('.'), {
      wanted: 'a list of texts',
      example: `${key}: [first, second]`,
      effect: 'Nexus ignores the other entries.',
    })
  return texts
}

function webAddress(value: JsonValue | undefined, notes: Notes): string | undefined {
  const address = text(value)
  if (address === undefined || isWebAddress(address)) return address
  notes.report.add('field-type', notes.place(['homepage']), 'homepage', {
    wanted: 'an address that begins with https:// or http://',
    example: 'homepage: https://example.com',
  })
  return undefined
}

function text(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const trimmed = String(value).trim()
  return trimmed === '' ? undefined : trimmed
}
