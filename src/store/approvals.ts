/** The interface of approvals: questions to people about calls, and answers that are remembered. */

export type ApprovalState = 'open' | 'allowed' | 'denied' | 'expired' | 'not run'

export interface NewApproval {
  /** Default: a new id. */
  readonly id?: string
  /** The agent and its ancestors, such as `main/worker-1`. */
  readonly agentPath: string
  /** Exactly what would run, as it is shown; secrets already blanked. */
  readonly command: string
  /** The beginning of the command that may be remembered instead of the whole, as it is shown. */
  readonly prefix?: string
  readonly ttlMs: number
}

/** A question to a person about one call. */
export interface Approval {
  readonly id: string
  readonly callId: string
  readonly sessionId?: string
  readonly agentPath: string
  readonly tool: string
  readonly command: string
  readonly prefix?: string
  /** Tree digest of the skill the call is about. */
  readonly skillDigest?: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly state: ApprovalState
  readonly answeredBy?: string
  readonly answeredAt?: number
}

/** An answer that holds for later calls of the same agent path, tool and skill revision. */
export interface RememberedApproval {
  readonly id: string
  readonly agentPath: string
  readonly tool: string
  /** `exact`: the command is `text`. `prefix`: it begins with `text`; whether it matches is decided in `authorize`. */
  readonly match: 'exact' | 'prefix'
  readonly text: string
  readonly skillDigest?: string
  readonly createdAt: number
  readonly answeredBy: string
}

export interface Answer {
  readonly isAllowed: boolean
  /** Who answers. */
  readonly by: string
  /** Remembers an allowed answer, for the exact command or for the prefix shown. */
  readonly remember?: 'exact' | 'prefix'
}

/** What came of an answer. `isApplied` is false when it came second or too late: then nothing was changed. */
export interface Answered {
  readonly isApplied: boolean
  readonly approval: Approval
}

export interface Approvals {
  /** Answers an open approval, once; its call becomes `answered`, and its owner decides again. */
  answer(id: string, answer: Answer): Promise<Answered>
  /** Sets the open ones whose time is over to `expired`; returns how many. */
  expire(): Promise<number>
  get(id: string): Promise<Approval | undefined>
  /** Oldest first. */
  list(filter?: { readonly states?: readonly ApprovalState[]; readonly limit?: number }): Promise<readonly Approval[]>
  /** Oldest first. Only those of the same skill revision apply to a call; a filter names agent path and tool. */
  remembered(filter?: {
    readonly agentPath: string
    readonly tool: string
    readonly skillDigest?: string
  }): Promise<readonly RememberedApproval[]>
  /** True when there was one. */
  forget(id: string): Promise<boolean>
}
