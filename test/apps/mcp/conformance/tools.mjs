/** The tools of the suite that a tool of Nexus can be: a module of custom tools, as users write them. */
import { setTimeout as delay } from 'node:timers/promises'

const parameters = { type: 'object', properties: {} }

export const tools = [
  {
    name: 'test_simple_text',
    description: 'Returns a simple text.',
    parameters,
    execute: async () => 'This is a simple text response for testing.',
  },
  {
    name: 'test_error_handling',
    description: 'Fails.',
    parameters,
    execute: async () => {
      throw new Error('This tool intentionally returns an error for testing')
    },
  },
  {
    name: 'test_tool_with_progress',
    description: 'Takes a moment, and reports progress.',
    parameters,
    execute: async (_args, context) => {
      for (const step of [0, 50, 100]) {
        context.onOutput?.({ stream: 'stdout', text: `${step} of 100\n` })
        await delay(1_100)
      }
      return 'done'
    },
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Has a schema of JSON Schema 2020-12.',
    parameters: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    execute: async () => 'done',
  },
]
