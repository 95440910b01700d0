import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject, JsonSchema, Outcome } from '../../src/kernel/index.ts'
import { executeTool, toModelText } from '../../src/tools/index.ts'
import { contextOf, DONE, messageOf, toolThat } from './rig.ts'

const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    mode: { enum: ['a', 'b'] },
    steps: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  },
  required: ['path'],
}

async function call(
  args: unknown,
  more: { schema?: JsonSchema; name?: string; outcome?: Outcome } = {},
): Promise<{ outcome: Outcome; given: JsonObject | undefined }> {
  let given: JsonObject | undefined
  const probe = toolThat(async (checked) => {
    given = checked
    return more.outcome ?? DONE
  })
  const tool = { ...probe, name: more.name ?? 'probe', parameters: more.schema ?? SCHEMA }
  return { outcome: await executeTool(tool, args, contextOf()), given }
}

describe('the arguments of a call', () => {
  const bad: readonly (readonly [unknown, string])[] = [
    [{}, 'path is required'],
    [{ path: 1 }, 'path must be string'],
    [{ path: 'x', mode: 'c' }, 'mode must be equal to one of the allowed values: "a", "b"'],
    [{ path: 'x', steps: [{}, { name: 'y' }] }, 'steps[0].name is required'],
    [null, 'the arguments must be one JSON object'],
    [['path'], 'the arguments must be one JSON object'],
    ['{"path":"x"}', 'the arguments must be one JSON object'],
    [{ path: 1, mode: 'c' }, 'path must be string; mode must be equal to one of the allowed values: "a", "b"'],
  ]
  for (const [args, problem] of bad) {
    it(`are refused before execute: ${problem}`, async () => {
      const { outcome, given } = await call(args)
      assert.deepEqual(outcome, {
        type: 'failed',
        code: 'INVALID_PARAM',
        message: `Invalid arguments for probe: ${problem}`,
      })
      assert.equal(given, undefined)
    })
  }

  it('lose unknown names, and the model is told', async () => {
    const { outcome, given } = await call({ path: 'x', pth: 1, frobnicate: 2 })
    assert.deepEqual(given, { path: 'x' })
    assert.match(
      messageOf(outcome),
      /Note: unknown argument 'pth' of probe \(did you mean 'path'\?\); it was ignored\./,
    )
    assert.match(toModelText(outcome), /unknown argument 'frobnicate' of probe \(it takes path, mode, steps\)/)
  })

  it('lose any number of unknown names at once, and the first are named', async () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))
    const { outcome, given } = await call({ path: 'x', ...many })
    assert.deepEqual(given, { path: 'x' })
    assert.match(messageOf(outcome), /The tool does not take 99995 more of the given arguments\./)
    assert.ok(messageOf(outcome).length < 2_000)
  })

  it('lose unknown names, and a failure keeps its message apart from that note', async () => {
    const failing = { type: 'failed', code: 'NOT_FOUND', message: 'no x' } as const
    const { outcome } = await call({ path: 'x', pth: 1 }, { outcome: failing })
    assert.equal(messageOf(outcome), 'no x')
    assert.match(toModelText(outcome), /^Error \(NOT_FOUND\): no x\nNote: unknown argument 'pth' of probe/)
  })

  it('name a misspelt argument when the right one is missing', async () => {
    const { outcome } = await call({ pth: 1 })
    assert.match(messageOf(outcome), /path is required; unknown argument 'pth' of probe \(did you mean 'path'\?\)$/)
  })

  it('lose _parallel without a word', async () => {
    const { outcome, given } = await call({ path: 'x', _parallel: true })
    assert.deepEqual(given, { path: 'x' })
    assert.deepEqual(outcome, DONE)
  })

  it('keep unknown names when the schema takes them', async () => {
    for (const schema of [
      { type: 'object' },
      { ...SCHEMA, additionalProperties: true },
      { ...SCHEMA, patternProperties: { '^x': {} } },
    ] as JsonSchema[]) {
      const { given } = await call({ path: 'x', xtra: 1 }, { schema })
      assert.deepEqual(given, { path: 'x', xtra: 1 })
    }
  })

  it('are refused with unknown names by the closed tools of the skills service', async () => {
    const { outcome, given } = await call(
      { path: 'x', pth: 1, _parallel: true },
      { name: 'skills.run_cmd', schema: { ...SCHEMA, additionalProperties: false } },
    )
    assert.equal(
      messageOf(outcome),
      `Invalid arguments for skills.run_cmd: unknown argument 'pth' of skills.run_cmd (did you mean 'path'?)`,
    )
    assert.equal(given, undefined)
  })

  it('of an ordinary tool with a closed schema lose unknown names like any other', async () => {
    const { outcome, given } = await call(
      { path: 'x', more: 1 },
      { schema: { ...SCHEMA, additionalProperties: false } },
    )
    assert.deepEqual(given, { path: 'x' })
    assert.equal(outcome.type, 'success')
  })

  it('cannot reach the prototype, nor be satisfied by it', async () => {
    const { given } = await call(JSON.parse('{"path":"x","__proto__":{"admin":true},"constructor":1}'))
    assert.deepEqual(given, { path: 'x' })
    assert.equal(Object.getPrototypeOf(given), Object.prototype)
    const { outcome } = await call(
      {},
      { schema: { type: 'object', properties: { constructor: {} }, required: ['constructor'] } },
    )
    assert.match(messageOf(outcome), /constructor is required/)
  })

  const POLLUTING = ['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"admin":true}}}', '{"prototype":{}}']

  it('that would reach a prototype are dropped as unknown, by name, by an ordinary tool, and refused by a closed one', async () => {
    for (const text of POLLUTING) {
      const name = Object.keys(JSON.parse(text) as object)[0] ?? ''
      const args: unknown = JSON.parse(`{"path":"x",${text.slice(1)}`)
      const { outcome, given } = await call(args)
      assert.deepEqual(given, { path: 'x' })
      assert.match(messageOf(outcome), new RegExp(`unknown argument '${name}' of probe .*; it was ignored\\.`))
      const closed = await call(args, {
        name: 'skills.run_cmd',
        schema: { ...SCHEMA, additionalProperties: false },
      })
      assert.match(
        messageOf(closed.outcome),
        new RegExp(`Invalid arguments for skills.run_cmd: unknown argument '${name}'`),
      )
      assert.equal(closed.given, undefined)
    }
  })

  it('that would reach a prototype where any name may stand are refused with the place and the fix', async () => {
    const open: JsonSchema = { type: 'object', properties: { path: { type: 'string' }, extra: { type: 'object' } } }
    const places: readonly (readonly [string, string])[] = [
      ['{"path":"x","extra":{"a":[1,{"__proto__":{"admin":true}}]}}', 'extra.a[1].__proto__'],
      ['{"path":"x","extra":{"constructor":{"prototype":{"admin":true}}}}', 'extra.constructor.prototype'],
    ]
    for (const [text, place] of places) {
      const { outcome, given } = await call(JSON.parse(text), { schema: open })
      assert.equal(
        messageOf(outcome),
        `Invalid arguments for probe: ${place} is a name that no argument can have; leave it out, or use another name`,
      )
      assert.equal(given, undefined)
    }
    assert.equal(({} as { admin?: boolean }).admin, undefined)
  })

  it('may use constructor and prototype as ordinary names of data', async () => {
    const data = { path: 'x', extra: { constructor: 'Smith & Sons', prototype: 1 } }
    const schema: JsonSchema = { type: 'object', properties: { path: {}, extra: { type: 'object' } } }
    assert.deepEqual((await call(data, { schema })).given, data)
  })

  it('cannot be checked by a broken schema, which is a fault of the tool', async () => {
    // The second one compiles: as a schema, `5` is a fault, and to the compiler it means anything.
    for (const x of [{ type: 'nothing' }, 5]) {
      const { outcome } = await call({}, { schema: { type: 'object', properties: { x } } })
      assert.equal(outcome.type === 'failed' && outcome.code, 'INTERNAL_ERROR')
      assert.match(messageOf(outcome), /'probe' cannot be called: its parameters are not a valid JSON Schema/)
    }
  })

  it('are checked by schemas that name another dialect, share an id, or claim to be asynchronous', async () => {
    const draft7 = { ...SCHEMA, $schema: 'http://json-schema.org/draft-07/schema#', $id: 'urn:same' }
    for (const schema of [draft7, { ...SCHEMA, $id: 'urn:same' }, { ...SCHEMA, $async: true }]) {
      assert.equal((await call({ path: 1 }, { schema })).outcome.type, 'failed')
      assert.equal((await call({ path: 'x' }, { schema })).outcome.type, 'success')
    }
  })

  it('bring hidden characters of a name into no message', async () => {
    const { outcome } = await call({ path: 'x', 'a\u202eb\u001b[2J': 1 })
    assert.match(messageOf(outcome), /unknown argument 'ab'/)
  })
})
