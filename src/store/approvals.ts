/** The interface of approvals: questions to people about calls, and answers that are remembered. */

export type ApprovalState = 'open' | 'allowed' | 'denied' | 'expired' | 'not run'

export interface NewApproval {
  /** Default: a new id. */
  readonly id?: string
  /** Exactly what would run, as it is shown; secrets already blanked. */
  readonly command: string
  /** The beginning of the command that may be remembered instead of the whole, as it is shown. */
  readonly prefix?: string
  /** Where an answer applies when it is remembered, such as the real path of a workspace. Default: empty. */
  readonly scope?: string
  /** Whether an answer may be remembered. Default false: a person is asked each time. */
  readonly canRemember?: boolean
  /** How long it may be answered while a process waits for it. */
  readonly ttlMs: number
  /** How long after that process ended, when its turn waits; default 7 days. */
  readonly waitingTtlMs?: number
}

/** A question to a person about one call. */
export interface Approval {
  readonly id: string
  readonly callId: string
  readonly sessionId?: string
  /** The agent of the call. */
  readonly agentId: string
  /** The agent and its ancestors, such as `main/worker-1`. For people: ids are used again. */
  readonly agentPath: string
  readonly tool: string
  readonly command: string
  readonly prefix?: string
  /** Where an answer applies when it is remembered; empty when the call was made without one. */
  readonly scope: string
  /** Whether an answer may be remembered. */
  readonly canRemember: boolean
  /** Tree digest of the skill the call is about. */
  readonly skillDigest?: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly state: ApprovalState
  readonly answeredBy?: string
  readonly answeredKind?: AnswererKind
  readonly answeredAt?: number
}

/** An answer that applies to later calls of the same scope, agent, tool and skill revision. */
export interface RememberedApproval {
  readonly id: string
  readonly agentId: string
  readonly agentPath: string
  readonly tool: string
  /** `exact`: the command is `text`. `prefix`: it begins with `text`; whether it matches is decided in `authorize`. */
  readonly match: 'exact' | 'prefix'
  readonly text: string
  /** Where it applies; empty when the call was made without a scope. */
  readonly scope: string
  readonly skillDigest?: string
  readonly createdAt: number
  readonly answeredBy: string
}

/** Chooses the answers that apply to a call. */
export interface RememberedFilter {
  readonly agentId: string
  readonly tool: string
  /** Default: empty. */
  readonly scope?: string
  readonly skillDigest?: string
}

/** The kind of credential that the answer came with. */
export type AnswererKind = 'person' | 'key' | 'agent'

export interface Answer {
  readonly isAllowed: boolean
  /** The name of who answers. It proves nothing. */
  readonly by: string
  readonly kind: AnswererKind
  /** Remembers an allowed answer, for the exact command or for the prefix shown. */
  readonly remember?: 'exact' | 'prefix'
}

/** `isApplied` is false for an answer that came second or too late: it changed nothing. */
export interface Answered {
  readonly isApplied: boolean
  readonly approval: Approval
}

export interface Approvals {
  /**
   * Answers an open approval, once; its call becomes `answered`, and its owner decides again.
   * Throws INVALID_ARGUMENT for `remember` where `canRemember` is false or no prefix was shown; the question stays open.
   */
  answer(id: string, answer: Answer): Promise<Answered>
  /** Sets the open ones whose time is over to `expired`, after `reclaim`; returns how many. */
  expire(): Promise<number>
  get(id: string): Promise<Approval | undefined>
  /** Oldest first. */
  list(filter?: {
    readonly states?: readonly ApprovalState[]
    readonly sessionId?: string
    readonly limit?: number
    /** Only earlier ones than the row of this id; none when it is gone. */
    readonly before?: string
  }): Promise<readonly Approval[]>
  /** Oldest first. Only those of the same scope and skill revision apply to a call; a filter names agent and tool. */
  remembered(filter?: RememberedFilter): Promise<readonly RememberedApproval[]>
  /** True when there was one. */
  forget(id: string): Promise<boolean>
}
