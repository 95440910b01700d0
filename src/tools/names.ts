import type { Tool } from '../kernel/index.ts'

/** One part of a name; providers and policies of all documents can contain it. Source: contracts §1.8, "tool-name rule". */
const PART = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
/** `mcp:server.tool`; servers choose their tool names more freely than we do. */
const MCP_NAME = /^mcp:[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_./-]{1,128}$/
const MAX_NAME_CHARS = 128
/** Source: contracts §1.8. */
const RESERVED: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'none',
  'system',
  'admin',
  'root',
  'mcp',
  'nexus',
])

/** The fault of a tool's name, as the end of a sentence; undefined when it is fine. */
export function toolNameProblem(name: string): string | undefined {
  if (MCP_NAME.test(name)) return undefined
  if (name.length > MAX_NAME_CHARS) return `is longer than ${MAX_NAME_CHARS} characters`
  const parts = name.split('.')
  if (!parts.every((part) => PART.test(part))) {
    return 'may contain letters, digits, _ and - only, starts with a letter or _, and may have parts joined by dots'
  }
  return RESERVED.has((parts[0] ?? '').toLowerCase()) ? `starts with the reserved word '${parts[0] ?? ''}'` : undefined
}

const MCP_SERVER = /^mcp:[A-Za-z0-9_-]{1,64}(?:\.\*)?$/

/**
 * A tool of an MCP server as rules see it, whether or not the server is connected; undefined for other names.
 * `mcp:server` is every tool of that server that no rule names by itself.
 */
export function serverTool(name: string): Tool | undefined {
  const isServer = MCP_SERVER.test(name)
  if (!isServer && !MCP_NAME.test(name)) return undefined
  return {
    name: isServer && !name.endsWith('.*') ? `${name}.*` : name,
    description: '',
    parameters: { type: 'object' },
    execute: () => Promise.reject(new Error(`${name} is only explained, never called`)),
  }
}
