import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { parse } from 'yaml'
import { exampleOf } from '../../src/config/schema/example.ts'
import { CONFIG_SCHEMA } from '../../src/config/schema/schema.ts'
import { type Schema, unwrapped } from '../../src/config/schema/walk.ts'

/** Every part of the schema with its path: settings, items, values of maps, and the forms of a union. */
function partsOf(outer: Schema, path: string): [string, Schema][] {
  const schema = unwrapped(outer)
  const inner: [string, Schema][] = [
    ...Object.entries(schema.entries ?? {}).map(([key, member]): [string, Schema] => [`${path}.${key}`, member]),
    ...(schema.item ? [[`${path}[]`, schema.item] as [string, Schema]] : []),
    ...(schema.value ? [[`${path}.*`, schema.value] as [string, Schema]] : []),
    ...(schema.options ?? []).flatMap((option, index): [string, Schema][] =>
      typeof option === 'object' ? [[`${path}|${index}`, option]] : [],
    ),
  ]
  return [[path, outer], ...inner.flatMap(([name, member]) => partsOf(member, name))]
}

test('the example of every setting fits the schema as it is typed', () => {
  const parts = partsOf(CONFIG_SCHEMA as unknown as Schema, '').filter(([, part]) => unwrapped(part).type !== 'never')
  assert.ok(parts.length > 150, `only ${parts.length} parts seen`)
  const misfits = parts.flatMap(([path, part]) => {
    const example = exampleOf(part)
    if (example.includes('…')) return []
    const { success } = v.safeParse(part as never, parse(example))
    return success ? [] : [`${path}: ${example}`]
  })
  assert.deepEqual(misfits, [])
})
