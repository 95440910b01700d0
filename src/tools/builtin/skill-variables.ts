/** skill-variables: which variables the commands of a skill get, and why a command did not get one. */
import { type Catalog, everyCopy } from '../../skills/catalog/index.ts'
import {
  CLIENT_BLOCKS,
  configKey,
  type HostRule,
  isJsonObject,
  type JsonValue,
  MIN_SECRET_CHARS,
  nameKey,
  NexusError,
  ownValue,
  type Skill,
  type TargetFacts,
  trustedNames,
} from '../../kernel/index.ts'
import { type Mask, refusedVariable } from '../../machine/sandbox/index.ts'
import { type CommandFinding, type CommandRun, hasFailed } from '../findings/command-run.ts'
import { unsetIn } from '../findings/patterns.ts'

/** Variables under one key of `skills.entries`. Every value is a secret. */
export interface SkillEntryValues {
  readonly env: Readonly<Record<string, string>>
  /** Reads the value of `apiKey`; absent when there is none. A program may be run for it. Throws CONFIG_INVALID when it cannot be had. */
  readonly apiKey?: (signal?: AbortSignal) => Promise<string | undefined>
  /** Hosts that commands of the skill may reach. */
  readonly hosts?: readonly HostRule[]
  /** The command that installs what the skill needs. */
  readonly setup?: string | undefined
  /** Commands get placeholders, and only these hosts the values; absent: commands get the values. */
  readonly maskedFor?: readonly HostRule[] | undefined
}

export interface GivenVariables {
  readonly env: Readonly<Record<string, string>>
  /** The values of `env` that are placeholders. */
  readonly masks: readonly Mask[]
}

export interface VariableParts {
  readonly catalog: Catalog
  readonly facts: Pick<TargetFacts, 'hasEnv'>
  /** By configuration key; asked only for copies that an agent is offered. */
  readonly entries?: ((key: string) => SkillEntryValues | undefined) | undefined
  /** The names of secret variables that may be given; absent = all. Source: `CallLimits.secrets`. */
  readonly allowedSecrets?: readonly string[] | undefined
  /** Gets every value before a command does, so that it can be redacted from then on. */
  readonly onSecret?: (value: string) => void
}

export interface VariableVerdict {
  readonly name: string
  /** The key of the entry that contains its value. */
  readonly from: 'apiKey' | 'env'
  /** `set`: the sandbox sets it already. `undeclared`: the skill does not say that it uses it. `denied`: the policy takes it away. */
  readonly verdict: 'given' | 'set' | 'refused' | 'undeclared' | 'denied'
  /** Completes "the variable is not given: it …"; absent when it is given. */
  readonly why?: string
  /** The key under `skills.entries`. */
  readonly key: string
}

export interface EndedCommand extends Pick<CommandRun, 'command' | 'result'> {
  readonly isExplained: boolean
}

export interface SkillVariables {
  /** The variables that are configured for this skill. No value is read. */
  verdictsOf(skill: Skill): readonly VariableVerdict[]
  /** The command of its entry that installs what it needs. */
  setupFor(skill: Skill): string | undefined
  /** The hosts of its entry, and the setting that they are in. */
  hostsFor(skill: Skill): { readonly hosts: readonly HostRule[]; readonly setting: string }
  /** Throws CONFIG_INVALID for a value that cannot be had, or is too short to be masked. */
  valuesFor(skill: Skill, signal: AbortSignal): Promise<GivenVariables>
  /** Variables that a command of the skill, or of none, did not get: those refused, and those that may be why it failed. */
  notGiven(ended: EndedCommand, skill: Skill | undefined, loaded: readonly Skill[]): readonly CommandFinding[]
}

/** Decides over one catalog. No variable of this process is read or set. */
export function createSkillVariables(parts: VariableParts): SkillVariables {
  const { catalog, facts, entries, allowedSecrets, onSecret } = parts
  let names: ReadonlySet<string> | undefined

  const keyOf = (skill: Skill): string =>
    configKey(skill, (name) => (names ??= trustedNames(everyCopy(catalog), catalog.invalid)).has(nameKey(name)))

  /** Undefined for a copy that is not the one its name means: secrets and hosts go to the copy. */
  const entryOf = (skill: Skill): SkillEntryValues | undefined =>
    skill.origin.trusted && catalog.skills.includes(skill) ? entries?.(keyOf(skill)) : undefined

  function judge(name: string, skill: Skill): Pick<VariableVerdict, 'verdict' | 'why'> {
    const refused = refusedVariable(name)
    if (refused !== undefined) return { verdict: 'refused', why: refused }
    if (!declaredVariables(skill).includes(name)) return { verdict: 'undeclared', why: 'is not declared by the skill' }
    if (facts.hasEnv(name)) return { verdict: 'set', why: 'is set by the sandbox already' }
    const mayGive = allowedSecrets?.includes(name) ?? true
    return mayGive ? { verdict: 'given' } : { verdict: 'denied', why: 'is denied by the policy of the agent' }
  }

  /** `apiKey` gives the `primaryEnv` and nothing else; `env` goes before it. Source: decisions, "env injection". */
  function verdictsOf(skill: Skill): readonly VariableVerdict[] {
    const { env = {}, apiKey } = entryOf(skill) ?? {}
    const { primaryEnv } = skill.metadata
    const found = Object.keys(env).map((name) => ({ name, from: 'env' as const }))
    const own = apiKey && primaryEnv !== undefined && !Object.hasOwn(env, primaryEnv) ? [primaryEnv] : []
    const all = [...found, ...own.map((name) => ({ name, from: 'apiKey' as const }))]
    return all.map((each) => ({ ...each, key: keyOf(skill), ...judge(each.name, skill) }))
  }

  async function valuesFor(skill: Skill, signal: AbortSignal): Promise<GivenVariables> {
    const entry = entryOf(skill)
    const given = new Map<string, string>()
    for (const { name, from, verdict } of verdictsOf(skill)) {
      if (verdict !== 'given') continue
      const value = from === 'env' ? entry?.env[name] : await entry?.apiKey?.(signal)
      if (value === undefined) continue
      onSecret?.(value)
      given.set(name, value)
    }
    const masks = entry?.maskedFor ? maskAll(given, entry.maskedFor, keyOf(skill)) : []
    return { env: Object.fromEntries(given), masks }
  }

  const namesOf = (skill: Skill, verdicts: readonly VariableVerdict['verdict'][]): readonly string[] =>
    verdictsOf(skill).flatMap(({ name, verdict }) => (verdicts.includes(verdict) ? [name] : []))

  const isShadowed = (skill: Skill): boolean => entries !== undefined && !catalog.skills.includes(skill)

  const isGiven = (name: string, known: VariableVerdict | undefined): boolean =>
    known ? known.verdict === 'given' || known.verdict === 'set' : facts.hasEnv(name)

  function missing(name: string, skill: Skill): Words | undefined {
    const known = verdictsOf(skill).find((each) => each.name === name)
    if (isGiven(name, known)) return undefined
    const from = known?.from ?? (name === skill.metadata.primaryEnv ? 'apiKey' : 'env')
    const setting = `skills.entries.${keyOf(skill)}.${from === 'env' ? `env.${name}` : from}`
    if (known?.verdict === 'refused') return NOT_GIVEN.refused(setting)
    if (known?.verdict === 'denied') return NOT_GIVEN.denied()
    if (isShadowed(skill)) return NOT_GIVEN.shadowed(catalog.addressOf(skill))
    if (declaredVariables(skill).includes(name)) return NOT_GIVEN.unset(setting)
    return NOT_GIVEN.undeclared({ name, skill: catalog.callName(skill), setting })
  }

  function missingForNone(name: string, loaded: readonly Skill[]): Words | undefined {
    if (facts.hasEnv(name)) return undefined
    const owner = [...loaded, ...catalog.skills].find((skill) => namesOf(skill, ['given']).includes(name))
    return owner ? NOT_GIVEN.unnamed(catalog.callName(owner), loaded.includes(owner)) : NOT_GIVEN.unknown()
  }

  return {
    verdictsOf,
    setupFor: (skill) => entryOf(skill)?.setup,
    hostsFor: (skill) => ({ hosts: entryOf(skill)?.hosts ?? [], setting: `skills.entries.${keyOf(skill)}.network` }),
    valuesFor,
    notGiven({ isExplained, ...ended }, skill, loaded) {
      const known = skill ? declaredVariables(skill) : loaded.flatMap((each) => namesOf(each, ['given']))
      const wanted = skill ? [...namesOf(skill, ['refused', 'undeclared']), ...(isShadowed(skill) ? known : [])] : []
      if (hasFailed(ended.result)) {
        const { stdout, stderr } = ended.result
        const words = new Set(`${ended.command}\n${stderr}\n${stdout}`.split(/[^A-Za-z0-9_]+/))
        const needed = isExplained || !skill ? [] : [skill.metadata.primaryEnv, ...skill.metadata.requires.env]
        wanted.push(...known.filter((name) => words.has(name) || needed.includes(name)), ...unsetIn(ended))
      }
      return [...new Set(wanted)].flatMap((subject): CommandFinding[] => {
        const words = skill ? missing(subject, skill) : missingForNone(subject, loaded)
        if (!words) return []
        const message = `The command did not get the variable ${subject}: ${words.message}`
        return [{ code: 'variable-not-given', subject, message, fix: words.fix }]
      })
    },
  }
}

/** Completes "The command did not get the variable NAME:". */
const NOT_GIVEN = {
  refused: (setting: string) => ({
    message: 'Nexus gives no command a variable that controls other programs.',
    fix: `Remove it from ${setting}, or use another name.`,
  }),
  denied: () => ({
    message: 'the policy of this agent denies run_command.secrets.',
    fix: 'Ask the user to change it.',
  }),
  shadowed: (address: string) => ({
    message: `'${address}' is not the active copy of its skill, and only that one gets variables of skills.entries.`,
    fix: 'Use the active copy.',
  }),
  unset: (setting: string) => ({ message: 'no configuration sets it.', fix: `Set ${setting} in nexus.yaml.` }),
  undeclared: ({ name, skill, setting }: Record<'name' | 'skill' | 'setting', string>) => ({
    message: `the skill '${skill}' does not declare it.`,
    fix: `Add ${name} to requires.env in its SKILL.md, and set ${setting} in nexus.yaml.`,
  }),
  unnamed: (skill: string, isLoaded: boolean) => ({
    message: 'the call names no skill.',
    fix: `${isLoaded ? 'Call' : `Load '${skill}', then call`} again with skill_name "${skill}".`,
  }),
  unknown: () => ({
    message: 'commands get only what nexus.yaml sets for their skill.',
    fix: 'Write the value into the command if it is not a secret. Else the user adds it to a skill.',
  }),
} as const

/** Puts placeholders in the place of values, other ones for each command. */
function maskAll(given: Map<string, string>, hosts: readonly HostRule[], key: string): readonly Mask[] {
  return [...given]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => {
      // In an answer it could not be told from other text, so the command would read it.
      if (value.length < MIN_SECRET_CHARS) throw tooShort(name, key)
      const placeholder = `nexus_masked_${crypto.getRandomValues(Buffer.alloc(16)).toString('hex')}`
      given.set(name, placeholder)
      return { placeholder, value, hosts }
    })
}

function tooShort(name: string, key: string): NexusError {
  const message = `The value of ${name} is masked and has fewer than ${MIN_SECRET_CHARS} characters, which answers of servers would show.`
  const fix = `Use a longer one, or remove credentials: mask from skills.entries.${key} in ~/.nexus/nexus.yaml.`
  return new NexusError('CONFIG_INVALID', message, { fix })
}

type Words = Pick<CommandFinding, 'message' | 'fix'>

/** The variables that a skill says it uses: `primaryEnv`, `requires.env`, and `envVars` (names, or maps with a `name`) of its metadata. */
function declaredVariables({ metadata, frontmatter }: Skill): readonly string[] {
  const { primaryEnv, requires } = metadata
  const block = ownValue(frontmatter, 'metadata')
  const places = isJsonObject(block) ? [block, ...CLIENT_BLOCKS.map((name) => ownValue(block, name))] : []
  const optional = places.flatMap((place) => (isJsonObject(place) ? namesIn(ownValue(place, 'envVars')) : []))
  return [...new Set([...(primaryEnv === undefined ? [] : [primaryEnv]), ...requires.env, ...optional])]
}

function namesIn(value: JsonValue | undefined): string[] {
  const items: readonly JsonValue[] = Array.isArray(value) ? value : []
  return items
    .map((item) => (isJsonObject(item) ? ownValue(item, 'name') : item))
    .filter((name) => typeof name === 'string')
    .map((name) => name.trim())
}
