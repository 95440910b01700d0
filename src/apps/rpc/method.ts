/** A method: one row with its name, its schemas, and what it does. */
import type { z } from 'zod'
import type { Pool, PoolAccess } from '../../agents/pool/index.ts'
import type { Config } from '../../config/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { AgentRecord } from '../../store/index.ts'
import type { AgentMethods, GlobalMethods } from '../client/index.ts'

/** The caller: the holder of the key of the server, or of a capability token of one agent. */
export type Caller =
  | { readonly type: 'key' }
  | { readonly type: 'agent'; readonly agent: AgentRecord; readonly scopes: ReadonlySet<string> }

/** The agents of one configuration, which a reload replaces. */
export interface Served {
  readonly pool: Pool
  readonly runtime: Runtime
  readonly config: Config
  /** Absolute. */
  readonly workspace: string
}

/** The parts of the server that methods use. */
export interface ServerControls {
  /** Keys of agents that take no more messages here. */
  readonly shutDown: Set<string>
  issueToken(
    agent: AgentRecord,
    wants: { readonly scopes: readonly string[]; readonly expiresMs: number },
  ): { readonly token: string; readonly expiresAt: number }
  /** Begins the end of the server; returns at once. */
  shutdown(): void
  /** Work that goes on after its answer; its failure is logged. */
  background(work: Promise<unknown>): void
}

export interface MethodContext {
  readonly served: Served
  readonly server: ServerControls
  readonly caller: Caller
  /** The agents that the caller reaches. */
  readonly access: PoolAccess
}

/** On `POST /agent/{id}`. The caller reaches the agent, which may be its own. */
export interface AgentContext extends MethodContext {
  readonly agent: AgentRecord
}

interface Described {
  readonly name: string
  /** One line for the document of `rpc.discover`. */
  readonly summary: string
  readonly params: z.ZodObject
  readonly result: z.ZodType
  /** Only for the key of the server. */
  readonly isForKeyOnly?: true
  /** It may wait for as long as an agent works, so it does not count as a request that is answered. */
  readonly isWaiting?: (params: object) => boolean
  /** Params that the log and the trace may have. */
  readonly notes?: (params: object) => Readonly<Record<string, string>>
}

export interface GlobalMethod extends Described {
  readonly run: (params: never, context: MethodContext) => Promise<unknown>
}

export interface AgentMethod extends Described {
  readonly run: (params: never, context: AgentContext) => Promise<unknown>
}

type Typed<Names, Context, P, R> = Omit<Described, 'params' | 'result'> & {
  readonly name: Names
  readonly params: z.ZodObject & z.ZodType<P>
  readonly result: z.ZodType<R>
  readonly run: (params: P, context: Context) => Promise<R>
}

/** A row whose schemas and function have the types that the client has. */
export function globalMethod<N extends keyof GlobalMethods>(
  row: Typed<N, MethodContext, GlobalMethods[N]['params'], GlobalMethods[N]['result']>,
): GlobalMethod {
  return row as GlobalMethod
}

export function agentMethod<N extends keyof AgentMethods>(
  row: Typed<N, AgentContext, AgentMethods[N]['params'], AgentMethods[N]['result']>,
): AgentMethod {
  return row as AgentMethod
}

/** The scope of a capability token that lets it call the method. */
export const scopeOf = (route: 'global' | 'agent', { name }: Pick<Described, 'name'>): string => `rpc:${route}:${name}`
