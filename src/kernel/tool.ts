import type { Call } from './call.ts'
import type { JsonObject, JsonSchema } from './json.ts'
import type { Outcome } from './outcome.ts'

/** A typed bag of shared parts, one per agent. Source: seed 000, "ServiceContainer". */
export interface Services {
  register(name: string, service: unknown): void
  /** The service, or undefined when nothing has that name. */
  get<T = unknown>(name: string): T | undefined
  /** The service; throws `NexusError` INVALID_ARGUMENT when nothing has that name. */
  require<T = unknown>(name: string): T
  has(name: string): boolean
  /** Names in the order of their registration. */
  names(): string[]
  /** Removes a service and returns it. */
  unregister(name: string): unknown
  clear(): void
}

/** What a tool is given besides its arguments. */
export interface ToolContext {
  readonly callId: string
  readonly projectId: string
  readonly agentId: string
  readonly sessionId?: string
  readonly turnId?: string
  /** Which front asked; absent when a tool is run by itself. */
  readonly origin?: Call['origin']
  /** Aborts on cancel and on timeout; a tool must end soon after. */
  readonly signal: AbortSignal
  readonly services: Services
  /** Live output of a command, for display only; it must not throw. */
  readonly onOutput?: (chunk: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void
  /** Most bytes of each stream given to `onOutput`; default what is kept for the outcome. */
  readonly maxLiveBytes?: number
}

/** How a tool is treated by the runtime. */
export interface ToolOptions {
  /** Time limit of one call in milliseconds; 0 = none. Default 30,000. Source: contracts §1.9. */
  readonly timeoutMs?: number
  /** Ask a person each time, whatever policy says. */
  readonly requiresConfirmation?: boolean
  /** Variants that policy may deny by `tool.capability`, such as `network`. */
  readonly capabilities?: readonly string[]
  /** Name of the argument that names a skill, so that trust and ledger can speak of it. */
  readonly skillArgument?: string
}

/** One callable action. `execute` gets checked arguments and returns an outcome; what it throws becomes a failure. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly options?: ToolOptions
  execute(args: JsonObject, context: ToolContext): Promise<Outcome>
}
