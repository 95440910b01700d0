import type { JsonObject } from './json.ts'
import type { Outcome } from './outcome.ts'

/** Someone wants a tool to run. Ids are unique within the project. */
export interface Call {
  readonly id: string
  readonly projectId: string
  readonly agentId: string
  readonly sessionId?: string
  readonly turnId?: string
  /** Which front asked: the model, a person at the command line, library code … */
  readonly origin: 'model' | 'cli' | 'library' | 'rpc' | 'mcp'
  /** Policy name of the tool, such as `run_command` or `mcp:github.create_issue`. */
  readonly tool: string
  readonly arguments: JsonObject
}

/** The answer of authorize: what happens with a call, which rule spoke, and why. */
export type Decision =
  | { readonly type: 'allow'; readonly rule: string }
  | { readonly type: 'deny'; readonly rule: string; readonly reason: string }
  | { readonly type: 'ask'; readonly rule: string; readonly question: string }

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
