/** example: a value that fits a part of the schema, as it may be typed on one line of nexus.yaml. */
import { choicesOf, holdsOf, marksOf, type Schema, unwrapped } from './walk.ts'

/** Maps within maps are not written out. */
const MAX_DEPTH = 2

/** What a string may be, by what the schema says that it is. */
const STRINGS = {
  path: './directory',
  address: 'https://example.com',
  secret: '"${API_KEY}"',
  name: 'name',
} as const

/** An example of a value; never one from a file. */
export function exampleOf(outer: Schema | undefined, depth = 0): string {
  if (outer === undefined) return 'value'
  const schema = unwrapped(outer)
  if (outer.default !== undefined && typeof outer.default !== 'object') return String(outer.default)
  const [choice] = choicesOf(schema)
  if (choice !== undefined && schema.type === 'picklist') return choice
  const holds = holdsOf(schema)
  switch (schema.type) {
    case 'array':
      return `[${exampleOf(schema.item, depth + 1)}]`
    case 'number':
      return String(
        Math.max(
          1,
          ...checksOf(schema).flatMap(({ type, requirement }) => (type === 'min_value' ? [Number(requirement)] : [])),
        ),
      )
    case 'boolean':
      return 'true'
    case 'literal':
      return String(schema.literal)
    case 'string':
      return marksOf(schema).example ?? (holds === undefined ? 'text' : STRINGS[holds])
    case 'union':
    case 'variant':
      if (holds === 'secret') return STRINGS.secret
      return exampleOf(
        (schema.options ?? []).find((option) => typeof option === 'object'),
        depth,
      )
    case 'record':
      return `{ ${marksOf(schema.key as Schema).example ?? 'name'}: ${exampleOf(schema.value, depth + 1)} }`
    default:
      return mapOf(schema, depth)
  }
}

function mapOf({ entries }: Schema, depth: number): string {
  if (entries === undefined) return '{ key: value }'
  if (depth >= MAX_DEPTH) return '{ … }'
  const all = Object.entries(entries).filter(([, member]) => unwrapped(member).type !== 'never')
  const required = all.filter(([, member]) => member.type !== 'optional')
  const shown = required.length > 0 ? required : all.slice(0, 1)
  return `{ ${shown.map(([key, member]) => `${key}: ${exampleOf(member, depth + 1)}`).join(', ')} }`
}

/** A pipe repeats the schema that it began with, which may be a pipe itself. */
function checksOf({ pipe = [] }: Pick<Schema, 'pipe'>): NonNullable<Schema['pipe']> {
  return pipe.flatMap((step) => [step, ...checksOf(step)])
}
