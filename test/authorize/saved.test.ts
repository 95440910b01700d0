import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRules, saveRules } from '../../src/authorize/index.ts'
import type { JsonObject, JsonValue } from '../../src/kernel/index.ts'
import { ceilingOf, preset } from './permission-rig.ts'
import { rulesOf } from './sample.ts'

const RULES = {
  policy: rulesOf({ groups: new Map([['group:team', ['read_file']]]) }),
  permissions: { ...preset('sandboxed'), allowedPaths: [] },
  destructiveTools: ['deploy'],
  ceilings: [ceilingOf(preset('trusted'))],
}

/** Every copy of a JSON value with one part left out, or replaced. */
function* damaged(value: JsonValue): Generator<JsonValue> {
  for (const other of [null, 7, 'x', true, {}, [7]]) yield other
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [index, each] of (value as JsonValue[]).entries())
      for (const broken of damaged(each)) yield value.map((old: JsonValue, at) => (at === index ? broken : old))
    return
  }
  for (const [key, each] of Object.entries(value as JsonObject)) {
    const { [key]: _, ...rest } = value as JsonObject
    yield rest
    for (const broken of damaged(each)) yield { ...rest, [key]: broken }
  }
}

test('rules are read as they were saved: no path stays no path', () => {
  const saved = saveRules(RULES)
  assert.deepEqual(readRules(saved), RULES)
  assert.deepEqual(readRules(saved)?.permissions.allowedPaths, [])
})

test('saved rules with a part that is missing or of another form are refused, or at least as they are', () => {
  const saved = saveRules(RULES)
  let refused = 0
  for (const permissions of damaged(saved.permissions)) {
    const read = readRules({ ...saved, permissions: permissions as JsonObject })
    if (read) assert.deepEqual(saveRules(read).permissions, { destructiveTools: [], ...(permissions as JsonObject) })
    else refused += 1
  }
  assert.ok(refused > 100, `${refused} were refused`)
  for (const ceiling of [{}, { ceilings: [] }, { ceilings: [{ of: 'main' }] }, { ceilings: null }] as JsonObject[])
    assert.equal(readRules({ ...saved, ceiling }), undefined)
})
