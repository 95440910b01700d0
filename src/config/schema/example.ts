/** example: a value that fits a part of the schema, as it may be typed on one line of nexus.yaml. */
import { choicesOf, holdsOf, rulesOf, type Schema, unwrapped } from './walk.ts'

/** Maps within maps are not written out. */
const MAX_DEPTH = 2

const STRINGS = {
  path: './directory',
  address: 'https://example.com',
  secret: '"${API_KEY}"',
  name: 'name',
  text: 'text',
} as const

/** A number without a default. */
const NUMBER = 1_000

/** An example of a value; never one from a file. */
export function exampleOf(outer: Schema | undefined, depth = 0): string {
  if (outer === undefined) return 'value'
  const schema = unwrapped(outer)
  const { default: usual } = outer
  if (usual !== undefined && typeof usual !== 'object') return String(usual)
  if (holdsOf(schema) === 'secret') return STRINGS.secret
  return plainExample(schema) ?? nestedExample(schema, depth)
}

function plainExample(schema: Schema): string | undefined {
  switch (schema.type) {
    case 'picklist':
      return choicesOf(schema)[0]
    case 'number':
      return String(Math.max(NUMBER, leastOf(schema)))
    case 'boolean':
      return 'true'
    case 'literal':
      return String(schema.literal)
    case 'string':
      return rulesOf(schema).example ?? STRINGS[holdsOf(schema) ?? 'text']
    default:
      return undefined
  }
}

function nestedExample(schema: Schema, depth: number): string {
  const { type, item, options = [], key, value } = schema
  if (type === 'array') return `[${exampleOf(item, depth + 1)}]`
  if (type === 'record') return `{ ${rulesOf(key as Schema).example ?? 'name'}: ${exampleOf(value, depth + 1)} }`
  const [first] = options.filter((option) => typeof option === 'object')
  return first === undefined ? mapOf(schema, depth) : exampleOf(first, depth)
}

function mapOf({ entries }: Schema, depth: number): string {
  if (entries === undefined) return '{ key: value }'
  if (depth >= MAX_DEPTH) return '{ … }'
  const all = Object.entries(entries).filter(([, member]) => unwrapped(member).type !== 'never')
  const required = all.filter(([, member]) => member.type !== 'optional')
  const shown = required.length > 0 ? required : all.slice(0, 1)
  return `{ ${shown.map(([key, member]) => `${key}: ${exampleOf(member, depth + 1)}`).join(', ')} }`
}

function leastOf(schema: Schema): number {
  return Number(checksOf(schema).find(({ type }) => type === 'min_value')?.requirement ?? 1)
}

/** A pipe repeats the schema that it began with, which may be a pipe itself. */
function checksOf({ pipe = [] }: Pick<Schema, 'pipe'>): NonNullable<Schema['pipe']> {
  return pipe.flatMap((step) => [step, ...checksOf(step)])
}
