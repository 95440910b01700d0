/** walk: finds the part of the schema that a part of a document has to fit. */
import { getMetadata } from 'valibot'
import { type Path, partAt } from '../document/path.ts'
import type { Holds, Rules } from './parts.ts'
import { CONFIG_SCHEMA } from './schema.ts'

/** The parts of a valibot schema that are used here. */
export interface Schema {
  readonly type: string
  readonly entries?: Readonly<Record<string, Schema>>
  readonly options?: readonly (Schema | string)[]
  readonly item?: Schema
  readonly value?: Schema
  readonly wrapped?: Schema
  readonly literal?: unknown
  /** In a variant: the key that chooses the option. */
  readonly key?: unknown
  readonly default?: unknown
  /** The checks of its value. */
  readonly pipe?: readonly Pick<Schema, 'type' | 'pipe' | 'requirement'>[]
  readonly requirement?: unknown
}

export const ROOT: Schema = CONFIG_SCHEMA

export function isMap({ type }: Schema): boolean {
  return type === 'strict_object' || type === 'object_with_rest' || type === 'record'
}

/** The schema behind `optional` and `nullable`. */
export function unwrapped(schema: Schema): Schema {
  return schema.wrapped ? unwrapped(schema.wrapped) : schema
}

export function rulesOf(schema: Schema | undefined): Rules {
  return schema === undefined ? {} : (getMetadata(unwrapped(schema) as never) as Rules)
}

export function holdsOf(schema: Schema | undefined): Holds | undefined {
  return rulesOf(schema).holds
}

/** The schema that applies to a value: of a union or variant the option that fits it. */
export function schemaFor(outer: Schema, value: unknown): Schema {
  const schema = unwrapped(outer)
  const options = optionsOf(schema)
  if (schema.type === 'union') {
    if (Array.isArray(value)) return options.find(({ type }) => type === 'array') ?? options.find(isMap) ?? schema
    return (
      options.find((option) => (typeof value === 'object' ? isMap(option) : option.type === typeof value)) ?? schema
    )
  }
  if (schema.type !== 'variant') return schema
  const kind = partAt(value, [String(schema.key)])
  return options.find((option) => option.entries?.[String(schema.key)]?.literal === kind) ?? schema
}

/** The schema of a member; undefined where the schema says nothing. */
export function memberOf(schema: Schema | undefined, key: string | number): Schema | undefined {
  if (schema === undefined) return undefined
  const { entries, type, item, value } = schema
  if (entries && Object.hasOwn(entries, key)) return entries[key]
  // The key that says which option is meant is the same in all.
  if (type === 'variant' && key === schema.key) return optionsOf(schema)[0]?.entries?.[key]
  return item ?? (type === 'record' ? value : undefined)
}

/** The schema of each part on the way to `path` in a document, the root's first; shorter when the schema knows no further. */
export function schemasAlong(document: unknown, path: Path): readonly Schema[] {
  const found = [schemaFor(ROOT, document)]
  for (const [index, key] of path.entries()) {
    const next = memberOf(found.at(-1), key)
    if (!next) break
    found.push(schemaFor(next, partAt(document, path.slice(0, index + 1))))
  }
  return found
}

/** Whether a secret is at `path`, as text or as a reference. */
export function isSecret(path: Path): boolean {
  return schemasAt(path).some((form) => holdsOf(form) === 'secret')
}

/** Whether some nexus.yaml may have a setting at these keys. An item of a list has no key. */
export function isSetting(keys: readonly string[]): boolean {
  return schemasAt(keys, ({ type }) => type !== 'array').length > 0
}

/** The setting at `path` with its default, which the schema of its value does not have. */
export function settingAt(path: Path, schema: Schema | undefined): Schema | undefined {
  return schemasAt(path).find((each) => each === schema || unwrapped(each) === schema) ?? schema
}

/** The schemas of every form that a document may have at `path`. */
function schemasAt(path: Path, isEntered: (form: Schema) => boolean = () => true): Schema[] {
  return levelsAlong(path, isEntered).at(-1) ?? []
}

function levelsAlong(path: Path, isEntered: (form: Schema) => boolean = () => true): Schema[][] {
  const levels = [[ROOT]]
  for (const key of path) {
    const forms = (levels.at(-1) ?? []).flatMap(formsOf).filter(isEntered)
    levels.push(forms.flatMap((form) => memberOf(form, key) ?? []))
  }
  return levels
}

/** The rules of each part on the way to `path`, whatever form the document has; the root's first. `*` is any item or name. */
export function rulesAlong(path: Path): Rules[] {
  return levelsAlong(path).map((schemas) => Object.assign({}, ...schemas.map(rulesOf)) as Rules)
}

export function rulesAt(path: Path): Rules {
  return rulesAlong(path).at(-1) ?? {}
}

/** The value that holds where no file sets `path`. */
export function defaultAt(path: Path): unknown {
  return schemasAt(path).find((schema) => schema.default !== undefined)?.default
}

/** Whether an untrusted file may set something below `path`. */
export function holdsTightening(path: Path): boolean {
  return schemasAt(path).some((schema) => membersOf(schema).some(mayTighten))
}

function mayTighten(schema: Schema): boolean {
  return rulesOf(schema).untrusted !== undefined || membersOf(schema).some(mayTighten)
}

function membersOf(schema: Schema): Schema[] {
  return formsOf(schema).flatMap(({ entries = {}, item, value }) =>
    [...Object.values(entries), item, value].filter((member) => member !== undefined),
  )
}

/** Whether the value at `path` of a document is an address. */
export function isAddress(document: unknown, path: Path): boolean {
  return holdsOf(schemasAlong(document, path)[path.length]) === 'address'
}

/** The values that a schema allows when they can be counted. */
export function choicesOf(schema: Schema | undefined): readonly string[] {
  if (schema?.type === 'picklist') return (schema.options ?? []).map(String)
  if (schema?.type !== 'variant') return []
  return optionsOf(schema).map((option) => String(option.entries?.[String(schema.key)]?.literal))
}

/** The dotted paths of all settings in maps with known keys, the shortest first. */
export function knownPaths(schema: Schema = ROOT, above = ''): string[] {
  const entries = formsOf(schema).flatMap((form) =>
    Object.entries(form.entries ?? {}).filter(([, inner]) => unwrapped(inner).type !== 'never'),
  )
  const here = entries.map(([key]) => above + key)
  return [...new Set([...here, ...entries.flatMap(([key, inner]) => knownPaths(inner, `${above}${key}.`))])]
}

/** All forms that a value may have. */
function formsOf(outer: Schema): Schema[] {
  const schema = unwrapped(outer)
  return schema.type === 'union' || schema.type === 'variant' ? optionsOf(schema).flatMap(formsOf) : [schema]
}

function optionsOf({ options = [] }: Schema): Schema[] {
  return options.filter((option) => typeof option === 'object')
}
