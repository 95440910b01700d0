/** What every tool returns over MCP: text for the model, and the envelope of seed 003 as data. Source: contracts §4.1. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { CallResult } from '../runtime/index.ts'
import { toEnvelope, toModelText } from '../tools/index.ts'
import type { Opened } from './opened.ts'

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

/** The outcome as text for the model, and as the envelope; the first result also carries what is said once. */
export function toResult({ outcome, entry }: CallResult, { local, takeNotice }: Opened): CallToolResult {
  const timeMs = (entry.closedAt ?? entry.openedAt) - entry.openedAt
  const envelope = toEnvelope(outcome, {
    ...{ timeMs, cwd: '.', input: entry.call.arguments },
    root: local.workspace.directory,
  })
  const notice = takeNotice()
  return {
    content: [
      { type: 'text', text: toModelText(outcome) },
      ...(notice === undefined ? [] : [{ type: 'text' as const, text: notice }]),
    ],
    structuredContent: { ...envelope },
    ...(outcome.type === 'failed' && { isError: true }),
  }
}
