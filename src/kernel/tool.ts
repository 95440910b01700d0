import type { Call, CallLimits } from './call.ts'
import type { HostPort } from './hosts.ts'
import type { JsonObject, JsonSchema } from './json.ts'
import type { Outcome } from './outcome.ts'
import type { OnOutput } from './redact.ts'

/** Names a service and carries its type. Two keys with the same name mean the same service, so choose a name of your own. */
export interface ServiceKey<T> {
  readonly name: string
  /** Only for the type checker; never set. */
  readonly type?: T
}

/** Makes the key of a service: `const PORT = serviceKey<number>('port')`. */
// The caller names the type: nothing at run time shows it.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function serviceKey<T>(name: string): ServiceKey<T> {
  return { name }
}

/** A typed container of shared services, one per agent. Source: seed 000, "ServiceContainer". */
export interface Services {
  /** Adds a service, or replaces the one with that key. */
  register<T>(key: ServiceKey<T>, service: NoInfer<T>): void
  /** The service, or undefined when none is registered. */
  get<T>(key: ServiceKey<T>): T | undefined
  /** The service; throws `NexusError` INVALID_ARGUMENT when none is registered. */
  require<T>(key: ServiceKey<T>): T
  has(key: ServiceKey<unknown>): boolean
  /** Names in the order of their registration. */
  names(): string[]
  /** Removes a service and returns it. */
  unregister<T>(key: ServiceKey<T>): T | undefined
  clear(): void
}

/** A skill that a command runs for: its address, and the tree digest of the revision in use. */
export interface SkillRevision {
  readonly name: string
  readonly treeDigest: string
}

/** Answers of people about the hosts of a command. Each question is a call `network.connect` of its own in the ledger. */
export interface Connecting {
  /** False where no person can be asked: then only `remembered` answers. */
  readonly canAsk: boolean
  /** Hosts that a person allowed before for this skill, or for commands of none: `host:port`. */
  remembered(skill: SkillRevision | undefined): Promise<readonly string[]>
  /** Waits for an answer, and ends as a no with the signal. */
  ask(to: HostPort, skill: SkillRevision | undefined, signal: AbortSignal): Promise<boolean>
}

/** The context of a call, besides its arguments. */
export interface ToolContext {
  readonly callId: string
  readonly projectId: string
  /** Its id, or its key where it is of the pool; the same as in the call. */
  readonly agentId: string
  readonly sessionId?: string | undefined
  readonly turnId?: string | undefined
  /** Which front asked; absent when a tool is run by itself. */
  readonly origin?: Call['origin']
  /** Aborts on cancel and on timeout; a tool must end soon after. */
  readonly signal: AbortSignal
  readonly services: Services
  /** Limits of this call; absent = none. A tool that reads files, dials or takes secrets keeps to them. */
  readonly limits?: CallLimits | undefined
  /** The revision of the skill that a person agreed to, as a tree digest; absent when no person was asked. Another one is not loaded. */
  readonly agreedRevision?: string | undefined
  /** A person agreed to a change that would be held if a command made it. */
  readonly mayChangeHeld?: boolean | undefined
  /** Asks a person about hosts for a command of this call; absent where a tool is run by itself. */
  readonly connecting?: Connecting | undefined
  /** The standard input of a command; absent: it is empty. */
  readonly input?: AsyncIterable<Uint8Array> | undefined
  /** Live output of a command, for display only; it must not throw. */
  readonly onOutput?: OnOutput | undefined
  /** Most bytes of each stream given to `onOutput`; default what is kept for the outcome. */
  readonly maxLiveBytes?: number | undefined
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
  /**
   * Calling it again with the same `callId` has the effect of calling it once. When its process ended while it ran, the turn waits, and
   * whoever goes on with it makes the call again with that id.
   */
  readonly isIdempotent?: boolean
}

/** One callable action. `execute` gets checked arguments and returns an outcome; what it throws becomes a failure. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly options?: ToolOptions
  execute(args: JsonObject, context: ToolContext): Promise<Outcome>
}
