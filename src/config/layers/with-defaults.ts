import { isJsonObject, type JsonValue } from '../../kernel/index.ts'
import { memberOf, ROOT, type Schema, schemaFor } from '../schema/walk.ts'

/**
 * A document with the defaults of the schema. They are laid last: before the layers, an untrusted file would widen what an agent
 * inherits. Where `isBrief`, lists and maps that are empty by default are left out.
 */
export function withDefaults(value: JsonValue, schema: Schema = ROOT, isBrief = false): JsonValue {
  const form = schemaFor(schema, value)
  const { entries = {}, item } = form
  if (Array.isArray(value)) return item ? value.map((each) => withDefaults(each, item, isBrief)) : value
  if (!isJsonObject(value)) return value
  const absent = Object.entries(entries)
    .filter(([key]) => !Object.hasOwn(value, key))
    .map(([key, inner]) => [key, defaultOf(inner, isBrief)] as const)
  const present = Object.entries(value).map(([key, part]) => {
    const inner = memberOf(form, key)
    return [key, inner ? withDefaults(part, inner, isBrief) : part] as const
  })
  const filled = new Map([...absent.filter(([, part]) => part !== undefined), ...present])
  const order = [...Object.keys(entries), ...Object.keys(value)].filter((key) => filled.has(key))
  return Object.fromEntries(order.map((key) => [key, filled.get(key) as JsonValue]))
}

function defaultOf(schema: Schema, isBrief: boolean): JsonValue | undefined {
  if (schema.default === undefined) return undefined
  const usual = withDefaults(schema.default as JsonValue, schema, isBrief)
  return isBrief && typeof usual === 'object' && usual !== null && Object.keys(usual).length === 0 ? undefined : usual
}
