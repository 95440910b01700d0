import {
  configKey,
  nameKey,
  type HostRule,
  type InvalidSkill,
  type Skill,
  skillAddress,
  type TargetFacts,
  toOsName,
  trustedNames,
  VARIABLE_NAME,
} from '../../kernel/index.ts'

export type Setting = readonly (string | number)[]

/** Facts and rules prepared for many skills: look-ups by key, and each program searched for once. */
export interface GateContext {
  readonly facts: TargetFacts
  readonly os: string
  readonly hasBin: (name: string) => boolean
  readonly rules: GateRules
  /** The setting that switches a skill off, by the key of the skill's name or entry. */
  readonly disabled: ReadonlyMap<string, Setting>
  readonly allowed: ReadonlySet<string> | undefined
  readonly hasBroken: boolean
  /** Whether a trusted skill has that name: what is configured for it goes to no other. */
  readonly isNameOfSkill: (name: string) => boolean
  /** Whether that is the address of a trusted skill: then it means no other one, whatever that is named. */
  readonly isAddress: (text: string) => boolean
}

export interface FoundSkills {
  readonly skills: readonly Skill[]
  readonly invalid: readonly InvalidSkill[]
}

export function prepare(facts: TargetFacts, rules: GateRules, { skills, invalid }: FoundSkills): GateContext {
  const bins = new Map<string, boolean>()
  const hasBin = (name: string): boolean => {
    const isThere = bins.get(name) ?? (isBinName(name) && facts.hasBin(name))
    bins.set(name, isThere)
    return isThere
  }
  // Few skills have a `skillKey` or a slash in their name, so these are gathered for the first one.
  let names: ReadonlySet<string> | undefined
  let addresses: ReadonlySet<string> | undefined
  return {
    facts,
    os: toOsName(facts.os),
    hasBin,
    rules,
    disabled: switchedOff(rules),
    allowed: rules.allowList && new Set(rules.allowList.map(nameKey)),
    hasBroken: [...rules.entries.values()].some(({ broken }) => broken !== undefined && broken.size > 0),
    isNameOfSkill: (name) => (names ??= trustedNames(skills, invalid)).has(nameKey(name)),
    isAddress: (text) => (addresses ??= trustedAddresses(skills)).has(nameKey(text)),
  }
}

function trustedAddresses(skills: readonly Skill[]): ReadonlySet<string> {
  return new Set(skills.filter(({ origin }) => origin.trusted).map((skill) => nameKey(skillAddress(skill))))
}

/** Compared by name key, so that a look-alike of a disabled name is disabled with it. */
function switchedOff({ disabledSkills, entries }: GateRules): ReadonlyMap<string, Setting> {
  const off = new Map<string, Setting>()
  for (const [index, name] of disabledSkills.entries()) off.set(nameKey(name), ['skills', 'disabled_skills', index])
  for (const [key, { enabled }] of entries) {
    if (enabled === false) off.set(nameKey(key), ['skills', 'entries', key, 'enabled'])
  }
  return off
}

/** The setting that switches a skill off; undefined when none does. */
export function switchOf(skill: Skill, { disabled }: GateContext): Setting | undefined {
  if (disabled.size === 0) return undefined
  return disabled.get(nameKey(configKey(skill))) ?? disabled.get(nameKey(skill.name))
}

/** The key of a skill under `skills.entries`, where secrets go along. */
export function entryKey(skill: Skill, { isNameOfSkill }: GateContext): string {
  return configKey(skill, isNameOfSkill)
}

/** Secrets go to the copy, not to the name: an entry gives nothing to a copy from an untrusted source. */
export function entryOf(skill: Skill, context: GateContext): EntryRules | undefined {
  const { entries } = context.rules
  return entries.size > 0 && skill.origin.trusted ? entries.get(entryKey(skill, context)) : undefined
}

/** Parts of the skill's entry that cannot be resolved: `apiKey`, `env.NAME`, `config.…`. */
export function brokenParts(skill: Skill, context: GateContext): readonly string[] {
  return context.hasBroken ? [...(entryOf(skill, context)?.broken?.keys() ?? [])] : []
}

/** A part of the skill's entry as keys of the configuration. */
export function settingAt(part: string, skill: Skill, context: GateContext): readonly string[] {
  const [section = '', ...rest] = part.split('.')
  return ['skills', 'entries', entryKey(skill, context), section, ...(rest.length > 0 ? [rest.join('.')] : [])]
}

/** True for a command's bare name: no path, no white space, nothing a shell would read. */
export function isBinName(name: string): boolean {
  // The first pattern is a part of the second, which V8 takes milliseconds to compile.
  return /^\w[\w.+@-]*$/.test(name) || /^[\p{L}\p{N}_][\p{L}\p{N}_.+@-]*$/u.test(name)
}

export function isEnvName(name: string): boolean {
  return VARIABLE_NAME.test(name)
}

/** An entry under `skills.entries.<key>`: names, never values. */
export interface EntryRules {
  /** `false` holds the skill, whatever its source; absent and `true` change nothing. */
  readonly enabled?: boolean
  /** Hosts that commands of the skill may reach. */
  readonly hosts?: readonly HostRule[]
  /** The command that installs what the skill needs. */
  readonly setup?: string
  /** True when an `apiKey` is configured; it gives the skill's `primaryEnv` a value, and no other variable. */
  readonly hasApiKey: boolean
  /** Names of the variables that `env:` would give to the skill's commands. */
  readonly env: ReadonlySet<string>
  /** Settings that cannot be read, by `apiKey`, `env.NAME` or `config.…`: the reference, what is wrong with it, and the fix. It holds the skill. */
  readonly broken?: ReadonlyMap<string, string>
}

/** The part of the configuration that gating reads. */
export interface GateRules {
  /** By configuration key: `skillKey` of a trusted skill, else its name. */
  readonly entries: ReadonlyMap<string, EntryRules>
  /** Names that are switched off (`disabled_skills`). */
  readonly disabledSkills: readonly string[]
  /** An agent's `skills:`: absent = all, a list = only these names or `source/name` addresses, `[]` = none. */
  readonly allowList?: readonly string[]
  /** Hosts that all commands may reach, and those that none may; absent = no host. */
  readonly network?: { readonly allowed: readonly HostRule[]; readonly denied: readonly HostRule[] }
  /** True when the configuration holds a truthy value at that dotted path. Own properties only. */
  readonly configTruthy: (path: string) => boolean
  /** The fault of the value at that path or around it, with its fix; undefined when it has none. Absent = no value has one. */
  readonly brokenSetting?: (path: string) => string | undefined
  /** Why no command may be given that variable, whatever is configured; undefined when it may. Absent = any may be given. */
  readonly refusedVariable?: (name: string) => string | undefined
  /** False when policy denies that group of tools (`group:web` or `web`); absent = every group is allowed. */
  readonly allowsToolGroup?: (group: string) => boolean
}

/** Rules that hold no skill: no entries, nothing disabled, no configuration value set. */
export const NO_GATE_RULES: GateRules = { entries: new Map(), disabledSkills: [], configTruthy: () => false }
