/** The interface of the pool. */
import type { Config } from '../../config/index.ts'
import type { JsonObject, NexusError, PermissionDelta } from '../../kernel/index.ts'
import type { AgentHandle, Runtime } from '../../runtime/index.ts'
import type { AgentRecord, Approval, StoredMessage, TurnUse } from '../../store/index.ts'
import type { Agent, AgentContext, AgentEvent, ModelChoice, TurnResult } from '../turns/index.ts'

/** The parts of a pool. `createPool({ ...local, model })` takes runtime and configuration of `openLocal`. */
export interface PoolOptions {
  /** Its store keeps the agents; its agents are those of the configuration. The caller closes it, after the pool. */
  readonly runtime: Runtime
  /** Asked by every agent that names no model of its own; a function is called when one is needed. */
  readonly model: ModelChoice | (() => ModelChoice | Promise<ModelChoice>)
  /** Another model, by its name (`openai/gpt-5.1`). Without it an agent cannot name one. */
  readonly openModel?: (name: string) => Promise<ModelChoice>
  /** Presets, limits, and instructions and budgets of the configured agents; default: the shipped presets and limits. */
  readonly config?: Pick<Config, 'agents' | 'permissions' | 'limits'>
  /** Where this pool is served. Without it, agents have no port and no key, and `nexus_shutdown` fails. */
  readonly serving?: Serving
  /** Other servers of the store, for `port` of the tools. Without it they are refused. */
  readonly others?: OtherServers
}

/** Other servers of the store. */
export interface OtherServers {
  /**
   * Calls a method as the agent of that key, with a token of its own. `agentId`: on the route of that agent. Throws INVALID_ARGUMENT
   * for a port without a server of this store, CALL_DENIED for an agent that has no token there, and the error of the method.
   */
  call(
    at: { readonly port: number; readonly agentKey: string; readonly signal?: AbortSignal },
    request: { readonly agentId?: string; readonly method: string; readonly params: JsonObject },
  ): Promise<JsonObject>
}

/** The server around a pool. */
export interface Serving {
  readonly port: number
  /** The credential of one agent, for its service `api_key`: never the key of the server. */
  readonly keyOf?: (agent: AgentRecord) => string
  /** Begins the end of the server; returns at once. */
  readonly shutdown?: () => void
}

/** The most that an agent and its descendants may use up together; what is absent has no limit of its own. */
export interface Budget {
  readonly maxTokens?: number
  readonly maxTurns?: number
  /** Milliseconds in turns, without the time in which a person is asked. */
  readonly maxTimeMs?: number
  /** Living and ended ones, at any depth. */
  readonly maxChildren?: number
  /** Levels below it. */
  readonly maxDepth?: number
  /** In the currency of `model.price`; without a price nothing counts. */
  readonly maxCost?: number
}

/** An agent that is to be made. */
export interface CreateRequest {
  /** 1 to 63 letters, digits, dots, underscores and hyphens; with a leading dot it is temporary. Default: the first of `.1`, `.2` … that is free. */
  readonly id?: string
  /**
   * The parent's id: an agent of the pool, or one of the configuration. Default: a root with the rights of the first agent of the
   * configuration. Through `as` the agent that acts, whatever is given.
   */
  readonly parent?: string
  /** Default: `sandboxed` for a child of the pool; for the others the permissions of the configured agent. */
  readonly preset?: string
  /** Differences from the preset. Paths may be relative to the workspace. */
  readonly permissions?: PermissionDelta
  /** `provider/name`; default the model of the pool. */
  readonly model?: string
  /** The first part of its system prompt. */
  readonly instructions?: string
  /** Names of the skills it may see, of those that its parent sees; default all of those. */
  readonly skills?: readonly string[]
  /** Default: what the parent has left. More than that is an error. */
  readonly budget?: Budget
  /** Title of its session. */
  readonly title?: string
  /** The caller's own id of the request: with the same one, the same parent makes the agent of this `id` once. */
  readonly requestId?: string
}

export interface Created {
  readonly agent: AgentInfo
  /** Sentences about what the preset brings along and the parent does not have. */
  readonly clipped: readonly string[]
}

/** `queued`: a message waits for its turn. `waiting`: a person is asked, or was when the process ended. */
export type AgentState = 'idle' | 'queued' | 'running' | 'waiting' | 'ended'

/** An agent in lists. */
export interface AgentInfo {
  readonly id: string
  /** Its own for ever; begins with `@`. */
  readonly key: string
  /** Ids of its ancestors and its own, with `/` between them. */
  readonly path: string
  /** Id of its parent; absent for a root. */
  readonly parent?: string
  readonly depth: number
  readonly sessionId: string
  readonly isTemporary: boolean
  readonly preset: string
  readonly level: string
  /** `pool`: the model of the pool, where that is found when it is first asked. */
  readonly model: string
  readonly state: AgentState
  /** Messages of its history. */
  readonly messageCount: number
  /** Living children. */
  readonly childCount: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly lastActionAt: number
  readonly endedAt?: number
}

/** An agent with its living descendants. */
export interface AgentTree extends AgentInfo {
  readonly children: readonly AgentTree[]
}

/** An agent and what it used up. */
export interface AgentStatus extends AgentInfo {
  /** Answers of the model and tokens: its own, and with its descendants. */
  readonly used: { readonly own: TurnUse; readonly subtree: TurnUse; readonly turns: number; readonly children: number }
  /** Its own limits; what it inherits is only in `left`. */
  readonly budget: Budget
  /** The rest that it may use by its own limits and those of its ancestors; absent members have no limit. */
  readonly left: Budget
  readonly context: { readonly messageCount: number; readonly systemPrompt: boolean }
  /** Open questions of it and its descendants. */
  readonly questions: readonly Approval[]
}

/** A message to an agent. */
export interface SendRequest {
  /** The sender's own id, unique in the session; default 16 hex digits. The same message with the same one runs once. */
  readonly requestId?: string
  /** Cancels the turn, and the turns of descendants that it waits for. */
  readonly signal?: AbortSignal
  /** Events of this turn. Those of all turns come to `listen`. */
  readonly onEvent?: (event: AgentEvent) => void
}

/**
 * The fate of a message. `answered`: the turn is over. `delivered`: to a parent whose turn runs, which reads it before its next step.
 * `queued`: to a parent without a turn; it reads it in its next one. A message upward is never waited for, so agents cannot wait in a circle.
 */
export type Sent =
  | { readonly type: 'answered'; readonly requestId: string; readonly result: TurnResult }
  | { readonly type: 'delivered' | 'queued'; readonly requestId: string }

/** A part of a history, oldest first. */
export interface Transcript {
  readonly sessionId: string
  readonly total: number
  readonly offset: number
  readonly messages: readonly StoredMessage[]
}

/** An event of a turn that runs in this process, or of an agent that was made or ended here. */
export interface PoolEvent {
  readonly agentId: string
  readonly key: string
  readonly path: string
  readonly event: AgentEvent | { readonly type: 'agent-created' } | { readonly type: 'agent-ended' }
}

/** Agents after a start. */
export interface Restored {
  /** Living agents whose rights were checked. */
  readonly agents: readonly AgentInfo[]
  /** Temporary agents of ended processes, which are ended now. */
  readonly ended: readonly string[]
  /** Agents that may do nothing, and why: rules that cannot be read, or a configured agent that is gone. */
  readonly failed: readonly { readonly id: string; readonly error: NexusError }[]
}

/**
 * The agents that one who acts may reach: the user all of them, an agent its descendants. Agents are named by id; an ended one by key.
 * Every method throws AGENT_NOT_FOUND for an agent that does not exist or is out of reach: the answer is the same.
 */
export interface PoolAccess {
  /**
   * Makes an agent with its session; nothing runs. Throws INVALID_ARGUMENT (id, unknown preset, model, depth), CALL_DENIED for
   * more than its parent's ceiling, LIMIT_EXCEEDED for more than its parent's budget, CONFLICT for the id of a living agent.
   */
  create(request?: CreateRequest): Promise<Created>
  /**
   * Sends a message and waits for the end of its turn, which waits for earlier ones. An agent may also send to its parent: see `Sent`.
   * Rejects as `Agent.send` does. A turn that failed, was cancelled or reached a budget is a result, not an error.
   */
  send(id: string, content: string, request?: SendRequest): Promise<Sent>
  /** Cancels a message by its sender's id, in whatever process it is: queued, at the model, in a tool, or asking a person. False when there is none or its turn is over. */
  cancel(id: string, requestId: string | number): Promise<boolean>
  /** Ends an agent with its descendants, and returns their ids. Turns stop, questions close, remembered answers go; histories stay. */
  destroy(id: string): Promise<readonly string[]>
  /** Living agents, oldest first; `isLiving: false` gives the ended ones. */
  list(filter?: { readonly parent?: string; readonly isLiving?: boolean }): Promise<readonly AgentInfo[]>
  status(id: string): Promise<AgentStatus>
  /** The agent with its descendants; without an id all that can be reached. */
  tree(id?: string): Promise<readonly AgentTree[]>
  /** The history of an agent; default the first 200 messages. */
  messages(id: string, part?: { readonly offset?: number; readonly limit?: number }): Promise<Transcript>
  /**
   * Goes on with the turn whose process ended while a person was asked, then runs the messages that ended processes left, in order.
   * Resolves when none is left.
   */
  resume(id: string, request?: Omit<SendRequest, 'requestId'>): Promise<readonly TurnResult[]>
  /** Lets the model sum up the history of an agent, in a turn of its own. The text of the result is the summary; the messages stay in the store. */
  compact(id: string, request?: SendRequest): Promise<TurnResult>
  /** How much of its context the agent uses, by estimate, and what of its history is cut. */
  context(id: string): Promise<AgentContext>
}

/** Agents of one runtime. Everything but `listen` works across processes: the store is the truth. */
export interface Pool extends PoolAccess {
  /** The same for an agent: its descendants, and its parent for `send`. Takes an opened agent, or its key with the session of a configured one. */
  as(agent: Pick<AgentHandle, 'key' | 'sessionId'>): PoolAccess
  /** An agent of the configuration in a session, with the tools of the pool and the pool's events: for a front such as `nexus run`. */
  configured(agent: { readonly id?: string; readonly sessionId: string }): Agent
  /** Ends temporary agents that died with their process and have no turn that waits, and checks the rights of all others. Runs no turn. */
  restore(): Promise<Restored>
  /** Live events of this process: of all agents, or of one and its descendants by its id. Must not throw. Returns the end of it. */
  listen(listener: (event: PoolEvent) => void, filter?: { readonly id: string }): () => void
  /**
   * Takes no more messages, cancels what runs here (or waits for it with `drain`), and ends temporary agents without a turn that waits.
   * With `leavesQuestions` a turn in which a person is asked is left as it is, with those of the agents that wait for it: whoever
   * serves the agent next goes on from the answer. Senders of such turns get no answer from this process.
   */
  close(options?: { readonly drain?: boolean; readonly leavesQuestions?: boolean }): Promise<void>
}
