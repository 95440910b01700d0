// Writes from the valibot schema that checks nexus.yaml: its JSON Schema schema/nexus.schema.json, src/config/schema/no-file.ts, and the
// table of settings in docs/config.md.
//   npm run schema            writes all three
//   … --check                 fails when a file is not what the source says
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toJsonSchema } from '@valibot/to-json-schema'
import { getDescription } from 'valibot'
import { POLICY_WORDS, PRESETS } from '../src/config/schema/agents.ts'
import { secret } from '../src/config/schema/parts.ts'
import { CONFIG_DEFAULTS } from '../src/config/schema/defaults.ts'
import { withDefaults } from '../src/config/layers/merge.ts'
import { CONFIG_SCHEMA } from '../src/config/schema/schema.ts'
import { choicesOf, rulesOf, unwrapped } from '../src/config/schema/walk.ts'

const FILE = join(dirname(fileURLToPath(import.meta.url)), '../schema/nexus.schema.json')
/** Where the file is once the package is published; editors may fetch it there. */
const ID = 'https://unpkg.com/nexus-skills/schema/nexus.schema.json'

/** What the metadata says of public values is no part of a JSON Schema. */
const OPTIONS = { typeMode: 'input', ignoreActions: ['metadata'] }

/** The text of the file. */
export function configSchema() {
  const { $schema, ...plain } = toJsonSchema(CONFIG_SCHEMA, OPTIONS)
  const { $schema: _, ...definition } = toJsonSchema(secret, OPTIONS)
  const schema = asChecked(referTo('secret', definition, plain))
  const whole = { $schema, $id: ID, ...schema, definitions: { secret: onlyForms(definition) } }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}

const NO_FILE = join(dirname(fileURLToPath(import.meta.url)), '../src/config/schema/no-file.ts')

/** JSON with one line for each section. */
function inSections(settings) {
  const lines = Object.entries(settings).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return `{\n${lines.join(',\n')}\n}`
}

/** The settings of a start without any file, and the maps whose keys may be shown: neither loads the schema. */
export function noFile() {
  const maps = openMaps(CONFIG_SCHEMA)
  const list = (isFree) =>
    JSON.stringify([...new Set(maps.filter((map) => map.isFree === isFree).map(({ at }) => at))], undefined, 2)
  const settings = withDefaults({ agents: [{ id: CONFIG_DEFAULTS.agentId }] })
  const words = '/** The settings without any file, written by `npm run schema`: the schema is not loaded for them. */'
  return `import type { JsonObject } from '../../kernel/index.ts'\n\n${words}\n// oxfmt-ignore\nexport const NO_FILE: JsonObject = ${inSections(settings)}

/** Maps whose keys are names that a person chooses. Variables and headers are not among them: their values are secrets. */
// oxfmt-ignore
export const NAMED_MAPS: readonly string[] = ${list(false)}

/** Settings of which the schema knows nothing, at any depth. */
// oxfmt-ignore
export const FREE_MAPS: readonly string[] = ${list(true)}
`
}

/** Maps with keys that the schema does not name; free ones with values that it does not know. */
function openMaps(outer, at = '') {
  const { type, entries = {}, item, value, options = [] } = unwrapped(outer)
  const isFree = type === 'object_with_rest' || (type === 'record' && value.type === 'unknown')
  const isNamed = type === 'record' && !isFree && rulesOf(value).holds !== 'secret'
  const below = [
    ...Object.entries(entries).flatMap(([key, inner]) => openMaps(inner, at === '' ? key : `${at}.${key}`)),
    ...[item, value].flatMap((inner) => (inner ? openMaps(inner, `${at}.*`) : [])),
    ...options.flatMap((inner) => (typeof inner === 'object' ? openMaps(inner, at) : [])),
  ]
  return [...(isFree || isNamed ? [{ at, isFree }] : []), ...below.filter((map) => !isFree || !map.isFree)]
}

const PAGE = join(dirname(fileURLToPath(import.meta.url)), '../docs/config.md')
const MARKERS = ['<!-- settings: written by `npm run schema` -->', '<!-- end of settings -->']

/** The page with the settings between its markers. */
export function withSettings(page) {
  const [from, to] = MARKERS.map((marker) => page.indexOf(marker))
  if (from === -1 || to < from) throw new Error(`docs/config.md lacks the lines ${MARKERS.join(' and ')}`)
  const all = settingsBelow(CONFIG_SCHEMA, '', {})
  const tables = [
    ['**Used by this version**', all.filter(({ unused }) => !unused)],
    [
      '**Checked, but not used yet.** `nexus config check` reports each section with `config-not-used`: a warning where you could rely on it, else information.',
      all.filter(({ unused }) => unused),
    ],
  ].map(([title, rows]) => [title, '', '| key | default | meaning |', '|---|---|---|', ...rows.map(rowOf)].join('\n'))
  return `${page.slice(0, from)}${MARKERS[0]}\n\n${tables.join('\n\n')}\n\n${page.slice(to)}`
}

function rowOf({ path, schema, usersOnly, kind }) {
  const { default: usual } = schema
  const isShown = usual !== undefined && (typeof usual !== 'object' || Array.isArray(usual))
  const { item } = unwrapped(schema)
  const choices = [...choicesOf(unwrapped(schema)), ...choicesOf(item)].map((choice) => `\`${choice}\``)
  const meaning = [
    kind && `With \`${kind}\`:`,
    wordsOf(schema),
    choices.length > 0 && `${item ? 'Any' : 'One'} of ${choices.join(', ')}.`,
    rulesOf(schema).holds === 'secret' && 'A [secret](#variables-and-secrets).',
    usersOnly === true && '[Never from a workspace](#never-from-a-workspace).',
  ]
  const words = meaning.filter(Boolean).join(' ').replaceAll('|', '\\|').replace(/[<>]/g, '\\$&')
  return `| \`${path}\` | ${isShown ? `\`${JSON.stringify(usual).replaceAll('"', '')}\`` : ''} | ${words} |`
}

/** Every setting at and below `path`; maps with known keys only by their members. */
function settingsBelow(outer, path, { unused: unusedAbove, usersOnly: usersOnlyAbove, kind }) {
  const schema = unwrapped(outer)
  if (schema.type === 'never') return []
  const rules = rulesOf(schema)
  const unused = unusedAbove || (rules.unused !== undefined && rules.unused.value === undefined)
  const above = { unused, usersOnly: usersOnlyAbove ?? rules.usersOnly }
  const row = { path, schema: outer, ...above, kind }
  if (rules.holds === 'secret') return [row]
  const isContainer = schema.entries !== undefined && (schema.type === 'strict_object' || wordsOf(outer) === undefined)
  return [...(isContainer ? [] : [row]), ...membersBelow(schema, path, above)]
}

/** The words may be outside of `nullable`. */
function wordsOf(schema) {
  return getDescription(schema) ?? (schema.wrapped && wordsOf(schema.wrapped))
}

function membersBelow({ type, entries = {}, item, value, options = [], key: chooser }, path, above) {
  const below = Object.entries(entries).flatMap(([key, member]) =>
    settingsBelow(member, path === '' ? key : `${path}.${key}`, above),
  )
  if (type === 'array') return settingsBelow(item, `${path}[]`, above).filter((row) => row.path !== `${path}[]`)
  if (type === 'record')
    return settingsBelow(value, `${path}.<name>`, above).filter((row) => row.path !== `${path}.<name>`)
  if (type === 'union')
    return options.flatMap((option) => settingsBelow(option, path, above).filter((row) => row.path !== path))
  if (type === 'variant')
    return options.flatMap((option) => {
      const kind = `${chooser}: ${option.entries[chooser].literal}`
      const isUnused = above.unused || rulesOf(option.entries[chooser]).unused !== undefined
      return settingsBelow(option, path, { ...above, unused: isUnused })
        .filter((row) => row.path !== `${path}.${chooser}`)
        .map((row) => ({ ...row, kind }))
    })
  return below
}

/** What `config check` knows besides the valibot schema; test/config/schema-verdicts.test.ts holds the two together. */
function asChecked(schema) {
  const checked = orNothing(mapValues(schema, (value) => withoutReserved(value)))
  const { permissions, tools } = checked.properties
  const presets = permissions.properties.presets.propertyNames
  presets.not = { enum: [...presets.not.enum, ...PRESETS] }
  for (const word of POLICY_WORDS) delete tools.properties[word]
  tools.patternProperties = {
    [POLICY]: { not: {}, description: 'Policy belongs to an agent: agents[].tools.' },
  }
  return checked
}

/** The words of a policy, however they are capitalised; the sign for Kelvin is a capital k to whoever compares names. */
const POLICY = `^\\s*(?:${POLICY_WORDS.map((word) =>
  [...word].map((letter) => `[${letter}${letter.toUpperCase()}${letter === 'k' ? '\\u212a' : ''}]`).join(''),
).join('|')})\\s*$`

const RESERVED = ['__proto__', 'constructor', 'prototype']

/** Maps whose names are the user's own take no name of the insides of objects. */
function withoutReserved(schema) {
  const isOpen = typeof schema.additionalProperties === 'object' && schema.type === 'object'
  return isOpen ? { ...schema, propertyNames: { ...schema.propertyNames, not: { enum: RESERVED } } } : schema
}

/** A section with nothing below it is an empty one. In a list, or where a text may stand as well, nothing is nothing. */
function orNothing(schema, isSection = true) {
  const { properties, additionalProperties: open, items, anyOf, oneOf } = schema
  const isMap = schema.type === 'object'
  return {
    ...schema,
    ...(isMap && isSection && { type: ['object', 'null'] }),
    ...(properties && { properties: mapEach(properties, (member) => orNothing(member)) }),
    ...(typeof open === 'object' && { additionalProperties: orNothing(open) }),
    ...(items && { items: orNothing(items, false) }),
    ...(anyOf && { anyOf: anyOf.map((member) => orNothing(member, false)) }),
    ...(oneOf && { oneOf: oneOf.map((member) => orNothing(member, false)) }),
  }
}

function mapEach(map, change) {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]))
}

/** Every map of the schema, from the inside out. */
function mapValues(value, change) {
  if (Array.isArray(value)) return value.map((item) => mapValues(item, change))
  if (typeof value !== 'object' || value === null) return value
  return change(mapEach(value, (member) => mapValues(member, change)))
}

/** Which keys of a reference go together. Source: src/config/secrets/reference.ts. */
function onlyForms({ anyOf, ...definition }) {
  const [text, map] = anyOf
  const [line, list] = map.properties.command.anyOf
  const command = {
    ...map.properties.command,
    // A relative path would depend on where Nexus was started.
    anyOf: [
      { ...line, pattern: '^(?:[^/]*|~?/[\\s\\S]*)$' },
      { ...list, minItems: 1 },
    ],
  }
  return { ...definition, anyOf: [text, { ...map, properties: { ...map.properties, command }, anyOf: FORMS }] }
}

/** There is no shell: a command that is one text has no arguments in it. */
const COMMAND = [
  { properties: { command: { type: 'array' } } },
  { properties: { args: { minItems: 1 } }, required: ['args'] },
  { properties: { command: { pattern: '^\\S+$' } } },
]
/** OpenClaw's name for no provider. */
const NO_PROVIDER = { const: 'default' }
const FORMS = [
  form(['env']),
  form(['file']),
  { ...form(['command'], { args: {} }), anyOf: COMMAND },
  form(['source', 'id'], { source: { const: 'env' }, provider: {} }),
  form(['source', 'provider', 'id']),
  ...['path', 'file'].map((key) => form(['source', key], { source: { const: 'file' }, id: {}, provider: NO_PROVIDER })),
  {
    ...form(['source', 'command'], { source: { const: 'exec' }, args: {}, provider: NO_PROVIDER }),
    anyOf: COMMAND,
  },
]

/** A map with the required keys, perhaps the others, and no more. */
function form(required, more = {}) {
  const properties = { ...Object.fromEntries(required.map((key) => [key, {}])), ...more }
  return { properties, required, additionalProperties: false }
}

/** Writes a definition out once; places that use it keep their own descriptions. */
function referTo(name, definition, value) {
  if (Array.isArray(value)) return value.map((item) => referTo(name, definition, item))
  if (typeof value !== 'object' || value === null) return value
  const { anyOf, ...rest } = value
  const isIt = anyOf !== undefined && JSON.stringify(anyOf) === JSON.stringify(definition.anyOf)
  const own = isIt ? { ...rest, allOf: [{ $ref: `#/definitions/${name}` }] } : value
  return Object.fromEntries(Object.entries(own).map(([key, member]) => [key, referTo(name, definition, member)]))
}

function main() {
  const files = [
    [FILE, configSchema()],
    [NO_FILE, noFile()],
    [PAGE, withSettings(readFileSync(PAGE, 'utf8'))],
  ]
  for (const [file, text] of files) {
    if (process.argv[2] !== '--check') {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    } else if (readFileSync(file, 'utf8') !== text) {
      process.stderr.write(`${file} is not what the source says. To repair: npm run schema\n`)
      process.exitCode = 1
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
