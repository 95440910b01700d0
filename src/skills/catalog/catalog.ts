import type { Diagnostic, HeldReason, HeldSkill, InvalidSkill, Skill } from '../../kernel/index.ts'

/** A skill that another copy of the same name hides. It stays addressable, see `Catalog.addressOf`. */
export interface ShadowedSkill {
  readonly skill: Skill
  readonly by: Skill
  /** `duplicate`: the same files. `lower`: other files, of a lower tier or a later source. */
  readonly why: 'duplicate' | 'lower'
  /** Why it could not run even if it were not hidden; empty when it could. */
  readonly reasons: readonly HeldReason[]
}

/**
 * The skills an agent sees, and every other candidate with the reason why it is not among them. Immutable.
 * Every gated copy is in exactly one of `skills`, `held` and `shadowed`.
 */
export interface Catalog {
  /** Ready, not shadowed, allowed; sorted by name (byte order), so that the prompt is stable. */
  readonly skills: readonly Skill[]
  /** Copies that cannot run or be used here, and that no other copy hides; sorted like `skills`. */
  readonly held: readonly HeldSkill[]
  readonly shadowed: readonly ShadowedSkill[]
  readonly invalid: readonly InvalidSkill[]
  readonly diagnostics: readonly Diagnostic[]
  /** Hex sha256 over addresses, descriptions and sizes of `skills`: changes when what the model sees changes. */
  readonly version: string
  /**
   * Finds an offered skill by name or `$name`, or any copy that is neither held nor untrusted by its address (also as
   * `skill://source/name/SKILL.md`). An address wins over a label that looks like it; nothing but `$` is taken off a text.
   */
  find(nameOrAddress: string): Skill | undefined
  /** The address of one copy: `source/name`, and `source/name~2` for the second copy of that name in one source. */
  addressOf(skill: Skill): string
  /** The name by which `find` finds a ready copy: its shown name when that means this copy, else its address. */
  callName(skill: Skill): string
}

/** The prompt index: what the model reads about skills before it loads one. */
export interface PromptIndex {
  /** Empty when there is no skill. */
  readonly text: string
  /** Code points of `text`. */
  readonly characters: number
  /** Estimate, see `estimateTokens`. */
  readonly tokens: number
  /** Per skill, in order: how it is shown and what it costs. */
  readonly items: readonly {
    readonly name: string
    readonly shown: 'full' | 'shortened' | 'name' | 'omitted'
    readonly tokens: number
  }[]
  /** Present when skills are shortened or left out. */
  readonly overBudget?: OverBudget
}

/** How many skills the budget cuts, and what would show them all. */
export interface OverBudget {
  readonly shortened: number
  readonly nameOnly: number
  readonly omitted: number
  /** `skills.prompt.budgetChars`. */
  readonly budgetChars: number
  /** Code points that all skills with whole descriptions need, without locations. */
  readonly neededChars: number
}
