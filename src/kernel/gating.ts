import type { Skill } from './skill.ts'

/** Platform names as skills write them in `os`. */
export type OsName = 'linux' | 'darwin' | 'windows' | (string & {})

/**
 * What is true where commands would run. For the local sandbox these are derived from its profile
 * without starting one, so that gating speaks of the target and not of the host.
 */
export interface TargetFacts {
  /** For people: "local sandbox (uid 200000)", "e2b template base". */
  readonly target: string
  readonly os: OsName
  /** True when an executable of that name is on the target's PATH. */
  readonly hasBin: (name: string) => boolean
  /** True when that variable would be set and not empty. */
  readonly hasEnv: (name: string) => boolean
}

/** The gates in their order. Source: decisions, "gate order". */
export type HeldCode =
  | 'missing-description'
  | 'untrusted'
  | 'disabled'
  | 'not-allowed'
  | 'os'
  | 'bin'
  | 'any-bins'
  | 'env'
  | 'config'
  | 'tool-group'

/** One reason why a skill cannot run there. `text` is fixed by seed 001; `fix` says what to do. */
export interface HeldReason {
  readonly code: HeldCode
  readonly text: string
  readonly fix?: string
}

/** A skill that is kept back, with every reason, never only the first. */
export interface HeldSkill {
  readonly skill: Skill
  readonly reasons: readonly HeldReason[]
}

/** The outcome of gating: every skill is in exactly one of the two lists, in the order found. */
export interface Gated {
  readonly ready: readonly Skill[]
  readonly held: readonly HeldSkill[]
}
