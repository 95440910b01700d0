import { type Tool, sha256 } from '../kernel/index.ts'

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

/** Names of functions that providers accept. Source: decisions, "wire names of tools". */
const WIRE = /^[A-Za-z0-9_-]{1,64}$/
const MAX_WIRE_CHARS = 64
const HASH_CHARS = 8

/** A reversible map between policy names (`mcp:github.create_issue`) and names on the wire (`mcp__github__create_issue`). */
export interface WireNames {
  /** Also answers for a name outside the map, by `toWireName`. */
  toWire(name: string): string
  /** The policy name; also for a policy name that a model used unchanged. Undefined when nothing has that name. */
  toName(wireName: string): string | undefined
}

/**
 * Names on the wire for all tools of one agent; different names never share one. It depends on the set of names and
 * not on their order: a name that providers accept stays, of others that collide each gets a hash of its name.
 */
export function createWireNames(names: Iterable<string>): WireNames {
  const all = [...new Set(names)].toSorted()
  const rivals = Map.groupBy(all, toWireName)
  const back = new Map(all.filter((name) => WIRE.test(name)).map((name) => [name, name] as const))
  for (const name of all.filter((other) => !back.has(other))) {
    const wish = toWireName(name)
    let wire = rivals.get(wish)?.length === 1 ? wish : hashed(wish, name)
    while (back.has(wire)) wire = hashed(wish, wire + name)
    back.set(wire, name)
  }
  const wires = new Map([...back].map(([wire, name]) => [name, wire] as const))
  return {
    toWire: (name) => wires.get(name) ?? toWireName(name),
    toName: (wireName) => back.get(wireName) ?? (wires.has(wireName) ? wireName : undefined),
  }
}

/** The name on the wire of one tool that has no rival: `:` and `.` become `__`, all else that is refused `_`. Pure. */
export function toWireName(name: string): string {
  if (WIRE.test(name)) return name
  const wire = name.replace(/[:.]/g, '__').replace(/[^A-Za-z0-9_-]/g, '_')
  return wire.length <= MAX_WIRE_CHARS && wire !== '' ? wire : hashed(wire, name)
}

function hashed(wire: string, name: string): string {
  const hash = sha256(name).slice(0, HASH_CHARS)
  return `${wire.slice(0, MAX_WIRE_CHARS - HASH_CHARS - 1)}_${hash}`
}
