/** mask: what may be shown of settings. All keys are; of values only those that the schema marks as public. */
import { createRedactor, hostOf, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { HIDDEN, type Path } from '../document/path.ts'
import { shownKeys } from '../document/shown-key.ts'
import { holdsOf, memberOf, ROOT, type Schema, schemaFor } from '../schema/walk.ts'

/** A copy of a document in which everything that is not public is hidden, and known secrets are blanked wherever they are. */
export function maskDocument(document: JsonObject, secrets: readonly string[]): JsonObject {
  return createRedactor(secrets)(maskValue(document, ROOT, []) as JsonObject)
}

function maskValue(value: JsonValue, schema: Schema | undefined, at: Path): JsonValue {
  if (holdsOf(schema) === 'secret') return HIDDEN
  const form = schema && schemaFor(schema, value)
  if (Array.isArray(value)) return value.map((item, index) => maskValue(item, form?.item, [...at, index]))
  if (!isJsonObject(value)) return shownValue(value, schema)
  const entries = Object.entries(value)
  const keys = shownKeys(entries, at)
  const members = entries.map(([key, member], index): [string, JsonValue] => [
    keys[index] ?? HIDDEN,
    maskValue(member, memberOf(form, key), [...at, key]),
  ])
  return Object.fromEntries(members)
}

/** A value as it may be shown where `schema` applies: of an address only the host. */
export function shownValue(value: JsonValue, schema: Schema | undefined): JsonValue {
  if (holdsOf(schema) === 'secret') return HIDDEN
  if (typeof value === 'boolean' || value === null) return value
  const form = schema && schemaFor(schema, value)
  if (typeof value === 'number') return form?.type === 'number' || isPublicText(form) ? value : HIDDEN
  return typeof value === 'string' ? shownText(value, form) : HIDDEN
}

function shownText(text: string, form: Schema | undefined): string {
  if (holdsOf(form) === 'address') return shownAddress(text)
  // A URL has no business in any of these, and it may hold a password.
  return isPublicText(form) && !text.includes('://') ? text : HIDDEN
}

function isPublicText(form: Schema | undefined): boolean {
  const holds = holdsOf(form)
  return form?.type === 'picklist' || form?.type === 'literal' || holds === 'name' || holds === 'path'
}

/** The protocol, host and port of an address. The rest may hold passwords and tokens. */
function shownAddress(text: string): string {
  const host = hostOf(text)
  if (host === undefined) return HIDDEN
  return text === host || text === `${host}/` ? text : `${host}/${HIDDEN}`
}
