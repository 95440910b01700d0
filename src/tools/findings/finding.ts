/** What went wrong, or may go wrong, with one command: data for code, from which `words.ts` makes the notes. */
export type CommandFinding =
  /** The command reached no other machine. `line` is what it wrote about that; absent when it wrote nothing. */
  | { readonly code: 'no-network'; readonly subject: string; readonly line?: string; readonly isLocal?: boolean }
  /** A path outside the workspace was refused (`isHidden`: commands do not see it), or one in a skill's own directory. */
  | {
      readonly code: 'outside-workspace'
      readonly subject: string
      readonly workspace: string
      readonly why: 'refused' | 'hidden' | 'skill'
    }
  /** Files in the command's own home, which is removed at its end. */
  | { readonly code: 'home-discarded'; readonly subject: string; readonly others: number }
  | { readonly code: 'program-missing'; readonly subject: string; readonly onHost?: string }
  | { readonly code: 'file-missing'; readonly subject: string; readonly directory: string }
  /** The command looked in the workspace for a file of a skill. */
  | { readonly code: 'file-in-skill'; readonly subject: string; readonly path: string }
  | { readonly code: 'not-executable'; readonly subject: string; readonly isBinary: boolean }
  | { readonly code: 'interpreter-missing'; readonly subject: string; readonly interpreter?: string }
  | { readonly code: 'interpreter-cr'; readonly subject: string; readonly isInSkill: boolean }
  | {
      readonly code: 'variable-not-given'
      readonly subject: string
      readonly why: VariableReason
      /** Of the skill that declares it, or for which it is configured. */
      readonly skill: string
      /** Where it is configured, or would be. */
      readonly setting: string
    }
  | {
      readonly code: 'time-limit'
      readonly subject: string
      readonly maxSeconds: number
      /** The file where `execution.timeoutMs` can be raised. */
      readonly file?: string
    }
  /** The command names files of a revision that is not the skill's present one. */
  | { readonly code: 'old-revision'; readonly subject: string }

export type VariableReason = 'refused' | 'undeclared' | 'not-configured' | 'denied' | 'shadowed' | 'no-skill-named'

/** A finding as outcomes and the ledger keep it. */
export interface FindingRow {
  readonly code: CommandFinding['code']
  readonly subject: string
}
