import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { z } from 'zod'
import { isNexusError, type Outcome, succeeded, type Tool } from '../../src/kernel/index.ts'
import { defineTool, executeTool, type StandardSchema, toolNameProblem } from '../../src/tools/index.ts'
import { contextOf, messageOf } from './rig.ts'

const run = (tool: Tool, args: unknown): Promise<Outcome> => executeTool(tool, args, contextOf())

describe('defineTool', () => {
  it('makes a tool from a JSON Schema', async () => {
    const tool = defineTool({
      name: 'my_tool',
      description: 'Does something useful.',
      parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
      execute: (args) => `Processed: ${String(args.input)}`,
    })
    assert.deepEqual(await run(tool, { input: 'x' }), succeeded('Processed: x'))
  })

  it('makes a tool from a zod schema, with its defaults and transforms', async () => {
    const tool = defineTool({
      name: 'add',
      description: 'Adds numbers.',
      parameters: z.object({
        a: z.number(),
        b: z.number().default(2),
        unit: z.string().transform((text) => text.toUpperCase()),
      }),
      execute: async ({ a, b, unit }) => succeeded(`${a + b} ${unit}`),
    })
    assert.deepEqual(Object.keys(tool.parameters), ['type', 'properties', 'required'])
    assert.equal(messageOf(await run(tool, { a: 1, unit: 'kg' })), '3 KG')
  })

  it('refuses what only the schema library can see, naming the place', async () => {
    const tool = defineTool({
      name: 'even',
      description: 'Takes even numbers.',
      parameters: z.object({ list: z.array(z.number().refine((n) => n % 2 === 0, 'must be even')) }),
      execute: () => 'done',
    })
    const outcome = await run(tool, { list: [2, 3] })
    assert.equal(messageOf(outcome), 'Invalid arguments for even: list.1: must be even')
  })

  it('takes valibot schemas that tell their JSON Schema', async () => {
    const tool = defineTool({
      name: 'greet',
      description: 'Greets.',
      parameters: toStandardJsonSchema(v.object({ name: v.string() })),
      execute: ({ name }) => `Hello ${name}`,
    })
    assert.equal(messageOf(await run(tool, { name: 'Ada' })), 'Hello Ada')
  })

  const definition = {
    name: 'fine',
    description: 'Fine.',
    parameters: { type: 'object' },
    execute: () => 'done',
  } as const
  const bad: readonly (readonly [string, () => Tool, RegExp])[] = [
    ['a name with a space', () => defineTool({ ...definition, name: 'my tool' }), /'my tool' may contain letters/],
    ['a reserved name', () => defineTool({ ...definition, name: 'Admin' }), /reserved word 'Admin'/],
    ['no description', () => defineTool({ ...definition, description: ' ' }), /no description/],
    [
      'parameters that are no object',
      () => defineTool({ ...definition, parameters: { type: 'string' } }),
      /not an object schema/,
    ],
    [
      'a schema without JSON Schema',
      () => defineTool({ ...definition, parameters: v.object({}) as unknown as StandardSchema<object> }),
      /valibot gives no JSON Schema/,
    ],
    [
      'a schema that JSON Schema cannot say',
      () => defineTool({ ...definition, parameters: z.object({ at: z.date() }) }),
      /cannot be written as JSON Schema/,
    ],
  ]
  for (const [what, make, message] of bad) {
    it(`throws INVALID_ARGUMENT for ${what}`, () => {
      assert.throws(
        make,
        (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT' && message.test(error.message),
      )
    })
  }
})

describe('toolNameProblem', () => {
  it('accepts the names of all documents', () => {
    for (const name of [
      'read_file',
      'Skill',
      'skills.run_cmd',
      'nexus_create',
      'mcp:github.create_issue',
      'mcp:a.b/c.d',
      '_x-1',
    ]) {
      assert.equal(toolNameProblem(name), undefined, name)
    }
  })

  it('refuses names that a provider, a policy or a reader would misread', () => {
    const names = [
      '',
      '1x',
      'a b',
      'a..b',
      '.a',
      'mcp:',
      'mcp:server',
      'mcp:a b.c',
      'NULL',
      'mcp',
      'nexus.x',
      'rеad',
      'x'.repeat(65),
      'a:b',
    ]
    for (const name of names) assert.notEqual(toolNameProblem(name), undefined, name)
  })
})
