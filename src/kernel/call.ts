import type { JsonObject } from './json.ts'
import type { Outcome } from './outcome.ts'

/** Someone wants a tool to run. Ids are unique within the project. */
export interface Call {
  readonly id: string
  readonly projectId: string
  /** The id of an agent of the configuration, or the key of one of the pool. */
  readonly agentId: string
  readonly sessionId?: string
  readonly turnId?: string
  /** Which front asked: the model, a person at the command line, library code … */
  readonly origin: 'model' | 'cli' | 'library' | 'rpc' | 'mcp'
  /** Policy name of the tool, such as `run_command` or `mcp:github.create_issue`. */
  readonly tool: string
  readonly arguments: JsonObject
  /** The model's own id of the call, which its answer in the history has. */
  readonly toolCallId?: string
}

/** The most that an allowed call may use. An absent field sets no limit; an empty list allows nothing. */
export interface CallLimits {
  /** Longest time of the call in milliseconds. */
  readonly timeoutMs?: number
  /** Absolute paths; the call may read only at and below them. `/` is every path. Absent: a tool that works on files keeps to the workspace. */
  readonly readPaths?: readonly string[]
  /** Absolute paths; the call may write only at and below them, as with `readPaths`. */
  readonly writePaths?: readonly string[]
  /** Absolute paths that stay closed although one of the lists above contains them. */
  readonly blockedPaths?: readonly string[]
  /** Host names that the call may reach: `example.com`, `*.example.com` for its subdomains, `*` for any. */
  readonly networkDomains?: readonly string[]
  /** Names of the secret variables that the call may be given. */
  readonly secrets?: readonly string[]
  /** Capabilities of the tool that are denied, in lower case, such as `network`. */
  readonly deniedCapabilities?: readonly string[]
  /** A person must confirm the call; a skill's pre-approval does not replace that. */
  readonly confirmation?: true
}

/** The part of one rule in a decision. */
export interface Ruling {
  /** The layer that the rule belongs to, such as `policy` or `trust`. */
  readonly layer: string
  readonly type: 'allow' | 'ask' | 'deny'
  /** The rule, such as `deny group:web`. */
  readonly rule: string
  /** Why, for the model; always given with `deny`. */
  readonly reason?: string
  readonly limits?: CallLimits
  /** The question of a preset itself, which `allowed-tools` of a trusted skill in use answers. */
  readonly isPresetOwn?: true
}

interface Decided {
  /** The rule that decided: the strictest, the first of equals. */
  readonly rule: string
  /** Every rule that had a part in it, in the order of the layers. */
  readonly chain: readonly Ruling[]
  /** Limits of the call: the strictest of all rules. */
  readonly limits: CallLimits
  /** Present where the agent has a shadow that says something else. */
  readonly shadow?: ShadowDecision
}

/** The decision of another agent's rules (`agents[].shadow`) about the same call. It has no effect. */
export interface ShadowDecision {
  /** Id of the agent that the rules belong to. */
  readonly agent: string
  /** Equal to `own` where only the limits differ. `failed`: the rules could not be evaluated. */
  readonly type: Decision['type'] | 'failed'
  /** The rule that would decide; why with `failed`. */
  readonly rule: string
  /** The decision of the agent's own rules, before a person answered. */
  readonly own: Decision['type']
  /** Where the call was made: `scope` of the runtime's parts, such as the real path of the workspace. */
  readonly scope: string
}

/** The answer of authorize: what happens with a call, by which rules, within which limits. */
export type Decision =
  | ({ readonly type: 'allow' } & Decided)
  /** `fix`: what can still be done, where the rule alone does not say it. */
  | ({ readonly type: 'deny'; readonly reason: string; readonly fix?: string } & Decided)
  | ({ readonly type: 'ask'; readonly question: string } & Decided)

/**
 * Where a call is: `asked` (a person is asked) → `answered` → `started` → closed. Closed calls are final: `interrupted` is
 * one whose process died after it started, so that the outcome is unknown, `not run` one that never started.
 */
export type CallState = 'asked' | 'answered' | 'started' | 'done' | 'failed' | 'denied' | 'interrupted' | 'not run'

/** One line of the ledger. It is written before anything runs and closed exactly once. */
export interface LedgerEntry {
  readonly call: Call
  readonly decision: Decision
  readonly state: CallState
  readonly outcome?: Outcome
  /** Epoch milliseconds. */
  readonly openedAt: number
  /** When it began to run: later than `openedAt` when a person was asked. */
  readonly startedAt?: number
  readonly closedAt?: number
  /** Name and tree digest of the skill the call was about, when there is one. */
  readonly skill?: { readonly name: string; readonly treeDigest?: string }
}
