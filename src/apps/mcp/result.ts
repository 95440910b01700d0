/** What every tool returns over MCP: text for the model. Clients that get data beside it show the model the data, or both. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { CallResult } from '../../runtime/index.ts'
import { toModelText } from '../../tools/index.ts'
import type { Opened } from './opened.ts'

/** The outcome as text for the model; the first result also carries what is said once. */
export function toResult({ outcome }: CallResult, { takeNotice }: Opened): CallToolResult {
  const notice = takeNotice()
  return {
    content: [
      { type: 'text', text: toModelText(outcome) },
      ...(notice === undefined ? [] : [{ type: 'text' as const, text: notice }]),
    ],
    ...(outcome.type === 'failed' && { isError: true }),
  }
}
