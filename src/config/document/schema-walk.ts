import { POLICY_WORDS } from '../schema/agents.ts'
import { CONFIG_SCHEMA } from '../schema/schema.ts'
import type { PathKey } from './read-yaml.ts'

/** The parts of a valibot schema that are looked into here. */
export interface Schema {
  readonly type: string
  readonly entries?: Readonly<Record<string, Schema>>
  readonly options?: readonly (Schema | string)[]
  readonly item?: Schema
  readonly value?: Schema
  readonly wrapped?: Schema
  readonly literal?: unknown
  /** Of a variant: the key that tells which option is meant. */
  readonly key?: unknown
  readonly default?: unknown
}

const ROOT: Schema = CONFIG_SCHEMA

/** What valibot lets pass: a list in place of a map, all unknown keys but the first, and names of object internals. */
export interface Misfit {
  readonly keys: readonly PathKey[]
  readonly type: 'list-for-map' | 'list-for-text-or-map' | 'unknown-key' | 'reserved-name' | 'misplaced-policy'
}

const RESERVED = ['__proto__', 'constructor', 'prototype']

/** Finds every misfit of a value. */
export function findMisfits(value: unknown, keys: readonly PathKey[] = [], schema = ROOT): Misfit[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = schemaFor(schema, value)
  if (Array.isArray(value)) {
    if (isMap(inner))
      return [{ keys, type: behindOptional(schema).type === 'union' ? 'list-for-text-or-map' : 'list-for-map' }]
    return value.flatMap((item, index) => (inner.item ? findMisfits(item, [...keys, index], inner.item) : []))
  }
  return Object.entries(value).flatMap(([key, member]): Misfit[] => {
    const here = [...keys, key]
    const next = step(inner, key)
    if (inner.type === 'object_with_rest' && policyWord(key)) return [{ keys: here, type: 'misplaced-policy' }]
    if (inner.type === 'strict_object' && !next) return [{ keys: here, type: 'unknown-key' }]
    if (isMap(inner) && RESERVED.includes(key)) return [{ keys: here, type: 'reserved-name' }]
    return next ? findMisfits(member, here, next) : []
  })
}

/** The word of an agent's policy that a key means, however it is capitalised. */
export function policyWord(key: string): string | undefined {
  return POLICY_WORDS.find((word) => word === key.trim().toLowerCase())
}

/** The keys that the schema names at a place of a value. */
export function knownKeys(value: unknown, keys: readonly PathKey[]): string[] {
  const last = trace(value, keys).at(-1)
  return Object.keys(last?.schema.entries ?? {})
}

/** The keys that a map of the value needs and has not. */
export function lackingKeys(value: unknown, keys: readonly PathKey[]): string[] {
  const holder = trace(value, keys).at(-1)?.schema
  const map = keys.reduce<unknown>(memberOf, value)
  return Object.entries(holder?.entries ?? {})
    .filter(([key, member]) => member.type !== 'optional' && memberOf(map, key) === undefined)
    .map(([key]) => key)
}

/** Whether a plain text or number, or a list of them, may stand at `keys` in some form of the settings. */
export function takesPlainValue(keys: readonly PathKey[]): boolean {
  const found = formsAt(keys)
  return found.some((form) => isPlain(form) || (form.item !== undefined && formsOf(form.item).some(isPlain)))
}

/** Whether names of the user's own choice stand directly below `keys`. */
export function takesAnyName(keys: readonly PathKey[]): boolean {
  return formsAt(keys).some(({ type }) => type === 'record')
}

/** The dotted paths of all settings that lie in maps with known keys, the shortest first. */
export function knownPaths(schema: Schema = ROOT, above = ''): string[] {
  const entries = formsOf(schema).flatMap((form) =>
    Object.entries(form.entries ?? {}).filter(([, inner]) => behindOptional(inner).type !== 'never'),
  )
  const here = entries.map(([key]) => above + key)
  return [...new Set([...here, ...entries.flatMap(([key, inner]) => knownPaths(inner, `${above}${key}.`))])]
}

/** Every key that the schema names anywhere. */
export function knownWords(schema: Schema = ROOT): ReadonlySet<string> {
  const below = formsOf(schema).flatMap((form) => [
    ...Object.keys(form.entries ?? {}),
    ...[...Object.values(form.entries ?? {}), form.item, form.value].flatMap((inner) =>
      inner ? [...knownWords(inner)] : [],
    ),
  ])
  return new Set(below)
}

function isPlain({ type }: Schema): boolean {
  return ['string', 'number', 'boolean', 'picklist', 'literal'].includes(type)
}

/** All forms that a value at `keys` may have. */
function formsAt(keys: readonly PathKey[]): Schema[] {
  return keys.reduce<Schema[]>(
    (forms, key) => forms.flatMap((form) => (step(form, key) ? formsOf(step(form, key) as Schema) : [])),
    formsOf(ROOT),
  )
}

function formsOf(outer: Schema): Schema[] {
  const schema = behindOptional(outer)
  const options = (schema.options ?? []).filter((option) => typeof option === 'object')
  return schema.type === 'union' || schema.type === 'variant' ? options.flatMap(formsOf) : [schema]
}

/** What must go when the part at `keys` cannot be used: the part, or what needs it. */
export function partToRemove(value: unknown, keys: readonly PathKey[]): readonly PathKey[] {
  const steps = trace(value, keys)
  let length = keys.length
  while (length > 0) {
    const holder = steps[length - 1]?.schema
    const key = keys[length - 1] ?? 0
    const member = holder?.entries && Object.hasOwn(holder.entries, key) ? holder.entries[key] : undefined
    const isNeeded = holder?.type === 'variant' || (member !== undefined && member.type !== 'optional')
    if (!isNeeded) break
    length -= 1
  }
  return keys.slice(0, length)
}

/** The schema of each value on the way, the root's first; shorter when the schema knows no further. */
function trace(value: unknown, keys: readonly PathKey[]): { schema: Schema }[] {
  let current = value
  let schema: Schema | undefined = schemaFor(ROOT, value)
  const steps = [{ schema }]
  for (const key of keys) {
    const next: Schema | undefined = step(schema, key)
    if (!next) break
    current = memberOf(current, key)
    schema = schemaFor(next, current)
    steps.push({ schema })
  }
  return steps
}

function step(schema: Schema | undefined, key: PathKey): Schema | undefined {
  if (schema?.entries && Object.hasOwn(schema.entries, key)) return schema.entries[key]
  return schema?.item ?? (schema?.type === 'record' ? schema.value : undefined)
}

function memberOf(value: unknown, key: PathKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Record<PathKey, unknown>)[key]
}

function isMap({ type }: Schema): boolean {
  return type === 'strict_object' || type === 'object_with_rest' || type === 'record'
}

/** The schema that applies to a value: behind `optional`, and the fitting member of a union or variant. */
export function schemaFor(outer: Schema, value: unknown): Schema {
  const schema = behindOptional(outer)
  const options = (schema.options ?? []).filter((option) => typeof option === 'object')
  if (schema.type === 'union' && typeof value === 'object') return options.find(isMap) ?? schema
  if (schema.type !== 'variant' || typeof schema.key !== 'string') return schema
  const { key } = schema
  const kind = memberOf(value, key)
  return options.find((option) => option.entries?.[key]?.literal === kind) ?? schema
}

function behindOptional(schema: Schema): Schema {
  return schema.wrapped ? behindOptional(schema.wrapped) : schema
}
