/** The JSON Schema of what every tool returns: the envelope of seed 003. Source: contracts §4.1. */
import type { Tool } from '@modelcontextprotocol/server'

export const OUTPUT_SCHEMA: NonNullable<Tool['outputSchema']> = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['success', 'partial', 'error'] },
    data: { type: 'object', description: 'What came out, as data' },
    text: { type: 'string', description: 'What was done and what came out, in words' },
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
    },
    stats: { type: 'object', properties: { time_ms: { type: 'number' } }, required: ['time_ms'] },
    context: {
      type: 'object',
      properties: { cwd: { type: 'string' }, params_input: { type: 'object' }, path_resolved: { type: 'string' } },
      required: ['cwd', 'params_input'],
    },
  },
  required: ['status', 'data', 'text', 'stats', 'context'],
}
