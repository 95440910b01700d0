/** What went wrong, or may go wrong, with one command: data for code, from which `messages.ts` makes the notes. */
export type CommandFinding =
  /** The command reached no other machine. `line` is what it wrote about that; absent when it wrote nothing. */
  | { readonly code: 'no-network'; readonly subject: string; readonly line?: string; readonly isLocal?: boolean }
  /** A path that the command could not use. `hidden`: commands do not see it. `skill`: it is in the directory of a skill. */
  | {
      readonly code: 'outside-workspace'
      readonly subject: string
      readonly workspace: string
      readonly why: 'refused' | 'hidden' | 'home' | 'skill'
    }
  /** Files in the command's own home, which is removed at its end. */
  | { readonly code: 'home-discarded'; readonly subject: string; readonly others: number; readonly workspace: string }
  /** `packages` for pip; `typed` is the command of another installer; `lackedBy` where a program found no module of that name. */
  | {
      readonly code: 'install-refused'
      readonly subject: string
      readonly packages?: readonly string[]
      readonly lackedBy?: 'Python' | 'Node'
      readonly typed?: string
    }
  | { readonly code: 'resource-limit'; readonly subject: string; readonly setting: LimitSetting }
  | { readonly code: 'program-missing'; readonly subject: string; readonly onHost?: string }
  /** `subject` is as the command named it, or relative to `skill`, which has no such file. `near` are files of skills that may be meant. */
  | {
      readonly code: 'file-missing'
      readonly subject: string
      readonly directory: string
      readonly skill?: string
      readonly near: readonly SkillPath[]
      readonly isTyped: boolean
      /** The path begins with a ~ that the shell did not replace. */
      readonly isTilde?: boolean
    }
  /** The command looked in the workspace for a file of a skill. */
  | { readonly code: 'file-in-skill'; readonly subject: string; readonly path: SkillPath; readonly isTyped: boolean }
  | ({ readonly code: 'not-executable'; readonly isBinary: boolean; readonly interpreter?: string } & ScriptFile)
  | ({ readonly code: 'interpreter-missing'; readonly interpreter?: string } & ScriptFile)
  | ({ readonly code: 'interpreter-cr' } & ScriptFile)
  | {
      readonly code: 'variable-not-given'
      readonly subject: string
      readonly why: VariableReason
      /** Of the skill that declares it, or for which it is configured; empty for a command of no skill. */
      readonly skill: string
      /** Where it is configured, or would be. */
      readonly setting: string
      /** Other skills that get it. */
      readonly givenTo?: readonly string[]
    }
  | {
      readonly code: 'time-limit'
      readonly subject: string
      readonly maxSeconds: number
      readonly isTyped: boolean
      /** The file where `execution.timeoutMs` can be raised. */
      readonly file?: string
    }
  /** The command names files of a revision that is not the skill's present one. */
  | { readonly code: 'old-revision'; readonly subject: string }

/** A file of a skill: what commands use, and the same as a person types it after `--`. */
export interface SkillPath {
  readonly path: string
  readonly typed: string
}

/** A file that the command tried to start. */
export interface ScriptFile {
  readonly subject: string
  /** When it is in the placed copy of a skill: the user's own file, undefined when that is not known. */
  readonly inSkill?: { readonly original: string | undefined }
}

/** Names under `execution.limits`. */
export type LimitSetting = 'dataBytes' | 'fileSizeBytes' | 'processes' | 'openFiles'

export type VariableReason =
  | 'refused'
  | 'undeclared'
  | 'not-configured'
  | 'denied'
  | 'shadowed'
  | 'no-skill-named'
  | 'not-declared'
  | 'no-skill'

/** A finding as outcomes and the ledger keep it. */
export interface FindingRow {
  readonly code: CommandFinding['code']
  readonly subject: string
}
