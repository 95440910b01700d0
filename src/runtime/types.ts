/** The parts of a runtime, and what it offers. */
import type { Explanation } from '../authorize/index.ts'
import type { Catalog, IndexStyle, PromptIndex, SnapshotDiff } from '../skills/catalog/index.ts'
import type { GateRules } from '../skills/gate/index.ts'
import type {
  Call,
  Clock,
  Decision,
  Diagnostic,
  JsonObject,
  JsonSchema,
  JsonValue,
  LedgerEntry,
  NexusError,
  Outcome,
  Services,
  StreamRedactor,
  TargetFacts,
} from '../kernel/index.ts'
import type { LoadedInSession } from '../skills/load/index.ts'
import type { Sandbox } from '../machine/sandbox/index.ts'
import type { SkillSource, Watcher, WatchOptions } from '../skills/sources/index.ts'
import type {
  Answer,
  Answered,
  Approval,
  Blobs,
  Lease,
  RememberedApproval,
  Retention,
  Store,
  StoredMessage,
  TurnStep,
} from '../store/index.ts'
import type {
  DefinitionForms,
  ExecutionSettings,
  FileSettings,
  Registry,
  SkillEntryValues,
  WebSettings,
} from '../tools/index.ts'
import type { AgentProfile, AgentSpec } from './agent-profile.ts'
import type { KeptLease } from './ownership.ts'

export type { AgentProfile, AgentSpec } from './agent-profile.ts'

/**
 * A person's answer: yes or no, also with who said it, by which kind of credential if not a person's, and what is remembered of a yes. Undefined: the question was closed without an
 * answer.
 */
export type ApprovalAnswer =
  | boolean
  | (Pick<Answer, 'isAllowed'> &
      Partial<Pick<Answer, 'by' | 'kind'>> & {
        /** `session`: only of a question about a host (`network.connect`), and in the session that asked. */
        readonly remember?: Answer['remember'] | 'session' | undefined
      })
  | undefined

/** A call that a person is asked about, without its secrets. */
export interface AskedCall extends Call {
  /** Ids of the agents from the oldest ancestor to the one that calls, with `/` between them. */
  readonly agentPath: string
}

/** The parts of a runtime. Only `sources` and `facts` are needed; everything else has a light default. */
export interface Parts {
  readonly sources: readonly SkillSource[]
  /** Facts for gating; without them the sandbox is asked. */
  readonly facts?: TargetFacts
  /** Where commands run. Without one there is no tool that runs commands. */
  readonly sandbox?: Sandbox
  /** Absolute path of the directory that commands and file tools work in. */
  readonly workspace?: string
  /** Where remembered answers apply and sessions belong, such as the real path of the workspace. Default: empty, one scope for all such runtimes of a store. */
  readonly scope?: string
  /** Where calls, sessions, questions and events of its project are kept; default: in memory, project `default`, gone with the process. The caller closes it. */
  readonly store?: Store
  /** In how many recent sessions each skill was loaded, by address; default: counted in `store` when the runtime is created. */
  readonly uses?: ReadonlyMap<string, number>
  /** Which events are kept; default 30 days and 100,000. Older ones go when the process first writes, and every hour. */
  readonly events?: { readonly maxAgeMs?: number; readonly maxRows?: number }
  /** Which sessions and calls are kept; default all. A part of the others goes when the process first writes, the rest every hour. */
  readonly retention?: Retention
  /** Where the whole of a cut output is kept for 7 days, with its rows in `store`; default: nowhere. */
  readonly blobs?: Blobs
  /** The first is the default agent; default: one agent `main` that may call every tool. */
  readonly agents?: readonly AgentProfile[]
  /** Rules that configuration adds to gating, without the agent's allow-list. */
  readonly gateRules?: Omit<GateRules, 'allowList'>
  /** Adds tools to an agent's registry, after the built-in ones: once for each opened agent, when it is first used. */
  readonly registerTools?: (registry: Registry, agentId: string) => void
  /** Asks a person about a call that policy wants confirmed; without it such a call is denied. `why`: it changes what Nexus would hold, so rules do not answer it. */
  readonly approve?: (call: AskedCall, question: string, signal: AbortSignal, why?: string) => Promise<ApprovalAnswer>
  /** Wait for an answer of another process where there is no `approve`, such as `nexus approvals answer`. Default false: such a call is denied. */
  readonly waitForAnswers?: boolean
  /** Whether that answer counts; default any but an agent's. `kind` is of the credential, `by` only a name. */
  readonly mayAnswer?: (answer: Answer, approval: Approval) => boolean
  /** How long a question may be answered: while a process waits for it (default 10 minutes), and after that process ended (7 days). */
  readonly approvals?: { readonly expiresMs?: number; readonly waitingExpiresMs?: number }
  /** Limits of one command. */
  readonly execution?: ExecutionSettings
  /** Settings of tools that work on files, besides `workspace`. */
  readonly files?: FileSettings
  /** How the web tools reach the web; without it there are none. */
  readonly web?: WebSettings
  /** Time limit of one tool call in milliseconds when the tool names none. */
  readonly toolTimeoutMs?: number
  /** Values that are blanked in the ledger and in outcomes. */
  readonly secrets?: readonly string[]
  /** Variables for commands of skills, by configuration key. Values that commands get are blanked like `secrets`. */
  readonly skillEntries?: (key: string) => SkillEntryValues | undefined
  /** Names of the skill tools that the model sees; default `load_skill` and `read_skill_file`. */
  readonly surface?: readonly string[]
  /** With `Skill` on the surface the style is `list`: the index is part of that tool's prompt. */
  readonly prompt?: { readonly style?: IndexStyle; readonly budgetChars?: number }
  /** Look at a skill's file at every call about it, so that an edit counts at once; a miss always looks again. Default true. */
  readonly refreshOnCall?: boolean
  readonly clock?: Clock
}

/** A call as its caller words it. Who calls is the agent that it is made through. */
export interface CallRequest {
  readonly tool: string
  readonly arguments: JsonObject
  readonly turnId?: string
  readonly callId?: string
  /** The model's own id of the call. */
  readonly toolCallId?: string
  readonly origin?: Call['origin']
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** The standard input of a command, read as far as the command reads. A stream is destroyed at its end. Absent: it is empty. */
  readonly input?: AsyncIterable<Uint8Array> | undefined
  /** Live output of a command; must not throw. */
  readonly onOutput?: (chunk: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void
  /** Most bytes of each stream given to `onOutput`; default `execution.maxOutputBytes`. They are passed on, not kept. */
  readonly maxLiveBytes?: number
  /** Called with the final decision before anything runs; must not throw. */
  readonly onDecision?: (decision: Decision) => void
  /** The message that answers the call in its session's history; both are written in one change. Only in a turn. */
  readonly toMessage?: (outcome: Outcome, decision: Decision) => Promise<StoredMessage>
  /** The answer of the model that asked for the call: it is kept in the same change as the record of the call. Only in a turn. */
  readonly step?: TurnStep | undefined
  /** Asks a person about this call, in place of the runtime's `approve`. */
  readonly approve?: NonNullable<Parts['approve']>
  /** A sentence that says why no person can be asked, for the denial; default that there is no terminal. */
  readonly whyNotAsked?: string
  /**
   * The entry of a call that an ended process recorded, when the owner of its turn goes on. With a question nobody is asked again: the
   * answer counts, and everything else is decided as it is now. Without one it is an idempotent call that began, which is made again.
   */
  readonly goesOn?: {
    readonly entry: LedgerEntry
    readonly approvalId?: string | undefined
    /** Ends the call, which cannot run any more. */
    readonly refusal?: Outcome
  }
  /** Called when a person is asked, and when that is over; must not throw. */
  readonly onAsked?: (asked: { readonly approvalId: string; readonly isOpen: boolean }) => void
}

export interface CallResult {
  readonly entry: LedgerEntry
  readonly decision: Decision
  readonly outcome: Outcome
}

/** A tool as a model gets it. */
export interface OfferedTool {
  /** The name for the provider: letters, digits, `_` and `-`. */
  readonly wireName: string
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** The difference for one agent. */
export interface AgentReload extends SnapshotDiff {
  readonly agentId: string
  /** The catalog's new version. */
  readonly version: string
}

/** `reloaded` only when what some agent's model reads changed; `failed` when the old catalogs stay; `notice` for polling and limits. */
export type ReloadEvent =
  | { readonly type: 'reloaded'; readonly agents: readonly AgentReload[] }
  | { readonly type: 'failed'; readonly error: NexusError }
  | { readonly type: 'notice'; readonly diagnostic: Diagnostic }

export interface ReloadOptions extends Omit<WatchOptions, 'onChange' | 'onDiagnostic'> {
  /** Must not throw. Never called after closing. */
  readonly onReload?: (event: ReloadEvent) => void
}

/**
 * One agent in one session. It owns its tools, services and permissions and makes every call of the agent; nothing is made before it is
 * first used. Agents with equal rules share one catalog.
 */
export interface AgentHandle {
  readonly id: string
  /** Its own for ever: its session, calls and answers refer to it. The id of an agent of the configuration. */
  readonly key: string
  readonly projectId: string
  /** Where its sessions belong: `scope` of the runtime's parts. */
  readonly scope: string
  readonly sessionId: string | undefined
  readonly services: Services
  /** Its tools; more can be registered at any time, and count from the next step of a turn. */
  readonly registry: Registry
  /** Tools that are left out, and why. */
  readonly diagnostics: readonly Diagnostic[]
  /** The skills it sees: those of its turn, outside a turn the newest. */
  catalog(): Catalog
  /** The prompt index within its budget. */
  index(): PromptIndex
  /** The skills section of a system prompt: rules and index, or rules and the prompt of `Skill`; empty when the agent sees no skill. */
  instructions(): string
  /** The tools that its model is offered; what policy denies is not shown. */
  definitions(): readonly OfferedTool[]
  /** The same tools in the form of OpenAI, Anthropic, the AI SDK, MCP, or plain JSON. */
  definitionsAs<F extends keyof DefinitionForms>(form: F): readonly DefinitionForms[F][]
  snapshot(): JsonObject
  /** The skills that it loaded in its session, as plain data that can be kept with the session. */
  loadedSkills(): readonly LoadedInSession[]
  /** Takes what `loadedSkills` gave in an earlier process, so that the session goes on with it. */
  recallSkills(loaded: readonly LoadedInSession[]): void
  /** Names of the skills whose files changed since it last loaded them in its session. */
  outdatedSkills(signal?: AbortSignal): Promise<readonly string[]>
  /** Finds skills again, then keeps its catalog as it is until the turn ends. A skill's text is still checked at each call. */
  beginTurn(turn?: { readonly lease?: Lease; readonly signal?: AbortSignal }): Promise<void>
  endTurn(): void
  /** The right to write about its calls: that of its session in a turn, else that of the process. */
  lease(): Promise<Lease>
  /** A write with that lease. That of the process is taken again when the write learns that it was lost. */
  write<T>(work: (lease: Lease) => Promise<T>): Promise<T>
  /** The same with the lease of the process, also in a turn: by it, messages that wait are known to have a living process. */
  writeAsProcess<T>(work: (lease: Lease) => Promise<T>): Promise<T>
  /** Takes another lease, which lasts as long as that of this process; undefined while another process has it. */
  keepLease(name: string): Promise<KeptLease | undefined>
  /** Blanks the secrets that the runtime knows, in any JSON value. */
  redact<T extends JsonValue>(value: T): T
  /** The same for one text that comes in pieces: a secret that is cut between two of them does not get through. */
  redactStream(): StreamRedactor
  /** Why a call would be decided as it is, by every layer; nothing runs or is recorded. A skill that its arguments name is not looked up. A tool of an MCP server need not exist (`mcp:server.tool`, `mcp:server`), and paths are not looked at. */
  explain(request: CallRequest): Explanation
  /** Decides, records, runs and records one call. Refusals and failures are outcomes; it throws only when the ledger fails. */
  call(request: CallRequest, options?: CallOptions): Promise<CallResult>
}

/** Questions about calls, and answers that are remembered. */
export interface ApprovalsBroker {
  /** The open questions, oldest first. */
  list(): Promise<readonly Approval[]>
  /**
   * Answers a question. A second answer, or one that comes too late, changes nothing: `isApplied` is false.
   * Throws CALL_DENIED for an answerer that may not answer, INVALID_ARGUMENT for an unknown id or what cannot be remembered.
   */
  answer(id: string, answer: Answer): Promise<Answered>
  /** The answers that are remembered, oldest first. */
  remembered(): Promise<readonly RememberedApproval[]>
  /** True when there was one. */
  forget(id: string): Promise<boolean>
  /**
   * For the end of a process: it waits for no answer any more. Questions stay open, and their calls never go on here: whoever takes
   * the session goes on from the answer. `onLeft` gets the key of the agent of each such call, those that ask later included.
   */
  leave(onLeft: (agentKey: string) => void): void
}

/** A running pipeline over one project: what all its agents share. */
export interface Runtime {
  readonly projectId: string
  /** The agents that it was given: those of the configuration. The first is the default one. */
  readonly agents: readonly AgentProfile[]
  /** The directory that commands and file tools work in. */
  readonly workspace: string | undefined
  readonly diagnostics: readonly Diagnostic[]
  readonly facts: TargetFacts
  /** Opens an agent. Throws INVALID_ARGUMENT for an id that the runtime does not know, without `policy`, and for a new id of another form; CONFLICT for one that ended; STORE_FAILED for rules that cannot be read. */
  openAgent(spec?: AgentSpec): AgentHandle
  /** Questions to people about calls of all agents. */
  readonly approvals: ApprovalsBroker
  readonly store: Store
  /** Blanks the secrets that the runtime knows, in any JSON value. */
  redact<T extends JsonValue>(value: T): T
  /** Finds and gates again; agents see the new catalogs from their next turn on. Calls at the same time share the work. */
  refresh(signal?: AbortSignal): Promise<void>
  /** Refreshes by itself when the sources' folders change, until the watcher or the runtime is closed or the signal aborts. */
  watch(options?: ReloadOptions): Promise<Watcher>
  close(): Promise<void>
}
