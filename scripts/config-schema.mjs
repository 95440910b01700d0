// Writes schema/nexus.schema.json, the JSON Schema of nexus.yaml, from the valibot schema that checks it.
//   npm run schema            writes the file
//   … --check                 fails when the file is not what the source says
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toJsonSchema } from '@valibot/to-json-schema'
import { secret } from '../src/config/schema/parts.ts'
import { CONFIG_SCHEMA } from '../src/config/schema/schema.ts'

const FILE = join(dirname(fileURLToPath(import.meta.url)), '../schema/nexus.schema.json')
/** Where the file is once the package is published; editors may fetch it there. */
const ID = 'https://unpkg.com/nexus-skills/schema/nexus.schema.json'

/** The text of the file. */
export function configSchema() {
  const { $schema, ...schema } = toJsonSchema(CONFIG_SCHEMA, { typeMode: 'input' })
  const { $schema: _, ...definition } = toJsonSchema(secret, { typeMode: 'input' })
  const whole = { $schema, $id: ID, ...referTo('secret', definition, schema), definitions: { secret: definition } }
  return `${JSON.stringify(whole, undefined, 2)}\n`
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
  const text = configSchema()
  if (process.argv[2] === '--check') {
    if (readFileSync(FILE, 'utf8') === text) return
    process.stderr.write('schema/nexus.schema.json is not what the source says. To repair: npm run schema\n')
    process.exitCode = 1
    return
  }
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
