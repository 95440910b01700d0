/** What configuration says under `skills.entries.<key>`, as far as gating needs it: names, never values. */
export interface EntryRules {
  /** `false` holds the skill, whatever its source; absent and `true` change nothing. */
  readonly enabled?: boolean
  /** True when an `apiKey` is configured; it gives the skill's `primaryEnv` a value, and no other variable. */
  readonly hasApiKey: boolean
  /** Names of the variables that `env:` would give to the skill's commands. */
  readonly env: ReadonlySet<string>
  /** What is configured and cannot be read, by `apiKey`, `env.NAME` or `config.…`: the reference, what is wrong with it, and the fix. It holds the skill. */
  readonly broken?: ReadonlyMap<string, string>
}

/** What configuration adds to the facts of the target. Plain data and look-ups; gating reads nothing else. */
export interface GateRules {
  /** By configuration key: `skillKey` of a trusted skill, else its name. */
  readonly entries: ReadonlyMap<string, EntryRules>
  /** Names that are switched off (`disabled_skills`). */
  readonly disabledSkills: readonly string[]
  /** An agent's `skills:`: absent = all, a list = only these names or `source/name` addresses, `[]` = none. */
  readonly allowList?: readonly string[]
  /** True when the configuration holds a truthy value at that dotted path. Own properties only. */
  readonly configTruthy: (path: string) => boolean
  /** What is wrong with the value that is configured at that path or around it, and what to do; undefined when nothing is. Absent = nothing is wrong anywhere. */
  readonly brokenSetting?: (path: string) => string | undefined
  /** Why no command may be given that variable, whatever is configured; undefined when it may. Absent = any may be given. */
  readonly refusedVariable?: (name: string) => string | undefined
  /** False when policy denies that group of tools (`group:web` or `web`); absent = every group is allowed. */
  readonly allowsToolGroup?: (group: string) => boolean
}

/** Rules that hold no skill: no entries, nothing disabled, no configuration value set. */
export const NO_GATE_RULES: GateRules = { entries: new Map(), disabledSkills: [], configTruthy: () => false }
