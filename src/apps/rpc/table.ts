/** Every method, by the route that it is called on. Checks, the document of `rpc.discover` and the tests come from these rows. */
import { z } from 'zod'
import type { JsonObject, JsonSchema, JsonValue } from '../../kernel/index.ts'
import { type AgentMethod, type GlobalMethod, globalMethod, scopeOf } from './method.ts'
import { AGENT_TREE_METHODS } from './methods/agents.ts'
import { APPROVAL_METHODS } from './methods/approvals.ts'
import { MESSAGE_METHODS } from './methods/messages.ts'
import { READ_METHODS } from './methods/reads.ts'
import { jsonObject, NONE } from './methods/schemas.ts'
import { SKILL_METHODS } from './methods/skills.ts'
import { tokenMethods } from './methods/tokens.ts'
import { TURN_METHODS } from './methods/turns.ts'

/** A Map: the name of a method comes from outside. */
export interface MethodTable {
  readonly global: ReadonlyMap<string, GlobalMethod>
  readonly agent: ReadonlyMap<string, AgentMethod>
  /** The document of `rpc.discover`. */
  readonly document: JsonObject
  /** Scopes that the token of an agent has when none are named: not the end of the server. */
  readonly usualScopes: readonly string[]
}

export function createTable(version: string): MethodTable {
  const agent: readonly AgentMethod[] = [...MESSAGE_METHODS, ...TURN_METHODS, ...READ_METHODS]
  const plain: readonly GlobalMethod[] = [...AGENT_TREE_METHODS, ...APPROVAL_METHODS, ...SKILL_METHODS]
  const scopes = [
    ...plain.filter(({ isForKeyOnly }) => !isForKeyOnly).map((row) => scopeOf('global', row)),
    ...agent.map((row) => scopeOf('agent', row)),
    'rpc:global:rpc.discover',
  ]
  const usual = scopes.filter((scope) => scope !== 'rpc:global:shutdown_server')
  const discover = globalMethod({
    name: 'rpc.discover',
    summary: 'This document.',
    params: NONE,
    result: jsonObject,
    run: async () => document,
  })
  const global = [...plain, ...tokenMethods({ scopes, usual }), discover]
  const document = openRpc(version, { global, agent })
  return {
    global: new Map(global.map((row) => [row.name, row])),
    agent: new Map(agent.map((row) => [row.name, row])),
    document,
    usualScopes: usual,
  }
}

interface Rows {
  readonly global: readonly GlobalMethod[]
  readonly agent: readonly AgentMethod[]
}

/** OpenRPC 1.3. Names of methods are unique over both routes; the route is in a tag. */
function openRpc(version: string, { global, agent }: Rows): JsonObject {
  const methods = [
    ...global.map((row) => toMethod(row, '/rpc')),
    ...agent.map((row) => toMethod(row, '/agent/{agent_id}')),
  ]
  return { openrpc: '1.3.2', info: { title: 'Nexus', version }, methods }
}

function toMethod({ name, summary, params, result }: GlobalMethod | AgentMethod, route: string): JsonObject {
  const schema = toSchema(params)
  const required = (schema['required'] ?? []) as readonly string[]
  const properties = (schema['properties'] ?? {}) as JsonObject
  return {
    name,
    summary,
    paramStructure: 'by-name',
    params: Object.entries(properties).map(([param, its]) => ({
      name: param,
      required: required.includes(param),
      schema: its,
    })),
    result: { name: 'result', schema: toSchema(result) },
    tags: [{ name: `POST ${route}` }],
  }
}

function toSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as unknown as Record<string, JsonValue>
  return rest
}
