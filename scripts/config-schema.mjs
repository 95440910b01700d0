// Writes schema/nexus.schema.json, the JSON Schema of nexus.yaml, from the valibot schema that checks it, and src/config/schema/no-file.ts.
//   npm run schema            writes both files
//   … --check                 fails when a file is not what the source says
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toJsonSchema } from '@valibot/to-json-schema'
import { POLICY_WORDS, PRESETS } from '../src/config/schema/agents.ts'
import { secret } from '../src/config/schema/parts.ts'
import { CONFIG_DEFAULTS } from '../src/config/schema/defaults.ts'
import { withDefaults } from '../src/config/layers/with-defaults.ts'
import { CONFIG_SCHEMA } from '../src/config/schema/schema.ts'

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

/** The settings of a start without any file: then the schema is not loaded. */
export function noFile() {
  const settings = withDefaults({ agents: [{ id: CONFIG_DEFAULTS.agentId }] })
  const words = '/** The settings without any file, written by `npm run schema`: the schema is not loaded for them. */'
  return `import type { JsonObject } from '../../kernel/index.ts'\n\n${words}\n// oxfmt-ignore\nexport const NO_FILE: JsonObject = ${JSON.stringify(settings, undefined, 2)}\n`
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
