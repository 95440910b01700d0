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
import { type CommandFinding, type CommandRun, hasFailed, linesOf } from '../findings/command-run.ts'

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
  /** `set`: the sandbox sets it already. `undeclared`: the skill does not say that it uses it. */
  readonly verdict: 'given' | 'set' | 'refused' | 'undeclared'
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
  const mayGive = (name: string): boolean => allowedSecrets?.includes(name) ?? true
  let names: ReadonlySet<string> | undefined

  const keyOf = (skill: Skill): string =>
    configKey(skill, (name) => (names ??= trustedNames(everyCopy(catalog), catalog.invalid)).has(nameKey(name)))

  /** Undefined for a copy that is not the one its name means: secrets go to the copy. */
  function entryOf(skill: Skill): SkillEntryValues | undefined {
    return allowedSecrets?.length === 0 ? undefined : ownEntry(skill)
  }

  /** Hosts go with the copy too, whether or not it gets secrets. */
  function ownEntry(skill: Skill): SkillEntryValues | undefined {
    return skill.origin.trusted && catalog.skills.includes(skill) ? entries?.(keyOf(skill)) : undefined
  }

  /** `apiKey` gives the `primaryEnv` and nothing else; `env` goes before it. Source: decisions, "env injection". */
  function verdictsOf(skill: Skill): readonly VariableVerdict[] {
    const entry = entryOf(skill)
    if (!entry) return []
    const { primaryEnv } = skill.metadata
    const declared = declaredVariables(skill)
    const judge = (name: string, from: 'apiKey' | 'env'): VariableVerdict => {
      const of = { name, from, key: keyOf(skill) }
      const refused = refusedVariable(name)
      if (refused !== undefined) return { ...of, verdict: 'refused', why: refused }
      if (!declared.includes(name)) return { ...of, verdict: 'undeclared', why: 'is not declared by the skill' }
      if (facts.hasEnv(name)) return { ...of, verdict: 'set', why: 'is set by the sandbox already' }
      return { ...of, verdict: 'given' }
    }
    const verdicts = Object.keys(entry.env).map((name) => judge(name, 'env'))
    if (!entry.apiKey || primaryEnv === undefined || Object.hasOwn(entry.env, primaryEnv)) return verdicts
    return [...verdicts, judge(primaryEnv, 'apiKey')]
  }

  async function valuesFor(skill: Skill, signal: AbortSignal): Promise<GivenVariables> {
    const entry = entryOf(skill)
    const masks: Mask[] = []
    const given = new Map<string, string>()
    for (const { name, from, verdict } of verdictsOf(skill)) {
      if (verdict !== 'given' || !mayGive(name)) continue
      const value = from === 'env' ? entry?.env[name] : await entry?.apiKey?.(signal)
      if (value === undefined) continue
      onSecret?.(value)
      given.set(name, value)
    }
    if (entry?.maskedFor) masks.push(...maskAll(given, entry.maskedFor, keyOf(skill)))
    return { env: Object.fromEntries(given), masks }
  }

  function givenTo(skill: Skill): readonly string[] {
    return verdictsOf(skill).flatMap(({ name, verdict }) => (verdict === 'given' ? [name] : []))
  }

  function isShadowed(skill: Skill): boolean {
    return entries !== undefined && allowedSecrets?.length !== 0 && !catalog.skills.includes(skill)
  }

  function gets(name: string, verdict: VariableVerdict['verdict'] | undefined): boolean {
    return verdict === undefined ? facts.hasEnv(name) : verdict === 'set' || (verdict === 'given' && mayGive(name))
  }

  /** Undefined for a variable that the command of the skill got. */
  function missing(name: string, skill: Skill): Words | undefined {
    const known = verdictsOf(skill).find((each) => each.name === name)
    const { verdict, from = name === skill.metadata.primaryEnv ? 'apiKey' : 'env' } = known ?? {}
    const setting = `skills.entries.${keyOf(skill)}.${from === 'env' ? `env.${name}` : from}`
    if (verdict === 'refused')
      return [
        'Nexus gives no command a variable that controls other programs.',
        `Remove it from ${setting}, or use another name.`,
      ]
    if (gets(name, verdict)) return undefined
    if (!declaredVariables(skill).includes(name))
      return [
        `the skill '${catalog.callName(skill)}' does not declare it.`,
        `Add ${name} to requires.env in its SKILL.md${known ? '' : `, and set ${setting} in nexus.yaml`}.`,
      ]
    if (known || allowedSecrets?.length === 0)
      return ['the policy of this agent denies run_command.secrets.', 'Ask the user to change it.']
    return unset(skill, setting)
  }

  function unset(skill: Skill, setting: string): Words {
    if (isShadowed(skill))
      return [
        `'${catalog.addressOf(skill)}' is not the active copy of its skill, and only that one gets variables of skills.entries.`,
        'Use the active copy.',
      ]
    return ['no configuration sets it.', `Set ${setting} in nexus.yaml.`]
  }

  function missingForNone(name: string, loaded: readonly Skill[]): Words | undefined {
    if (facts.hasEnv(name)) return undefined
    const owner = [...loaded, ...catalog.skills].find((skill) => givenTo(skill).includes(name))
    if (!owner)
      return [
        'commands get only what nexus.yaml sets for their skill.',
        'Write the value into the command if it is not a secret. Else the user adds it to a skill.',
      ]
    const own = catalog.callName(owner)
    const start = loaded.includes(owner) ? 'Call' : `Load '${own}', then call`
    return ['the call names no skill.', `${start} again with skill_name "${own}".`]
  }

  return {
    verdictsOf,
    setupFor: (skill) => ownEntry(skill)?.setup,
    hostsFor: (skill) => ({ hosts: ownEntry(skill)?.hosts ?? [], setting: `skills.entries.${keyOf(skill)}.network` }),
    valuesFor,
    notGiven({ isExplained, ...ended }, skill, loaded) {
      const known = skill ? declaredVariables(skill) : loaded.flatMap(givenTo)
      const refused = skill ? verdictsOf(skill).filter(({ verdict }) => /refused|undeclared/.test(verdict)) : []
      const wanted = [...refused.map(({ name }) => name), ...(skill && isShadowed(skill) ? known : [])]
      if (hasFailed(ended.result)) {
        const { requires, primaryEnv } = skill?.metadata ?? {}
        const { stdout, stderr } = ended.result
        const words = new Set(`${ended.command}\n${stderr}\n${stdout}`.split(/[^A-Za-z0-9_]+/))
        const isLikely = (name: string): boolean =>
          words.has(name) || (!isExplained && (name === primaryEnv || requires?.env.includes(name) === true))
        wanted.push(...known.filter(isLikely), ...unsetIn(ended))
      }
      return [...new Set(wanted)].flatMap((subject): CommandFinding[] => {
        const [why, fix] = (skill ? missing(subject, skill) : missingForNone(subject, loaded)) ?? []
        if (why === undefined || fix === undefined) return []
        const message = `The command did not get the variable ${subject}: ${why}`
        return [{ code: 'variable-not-given', subject, message, fix }]
      })
    },
  }
}

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

/** Completes "The command did not get the variable NAME:", and one next step. */
type Words = readonly [why: string, fix: string]

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

/** A name with an underscore: other words in capitals are rarely variables. Git reports its own where none is missing. */
const NAME = '(?!GIT_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+'
const UNSET: readonly RegExp[] = [
  // sh: `set -u` and `${NAME:?}`
  /\b([A-Z][A-Z0-9_]{2,}): (?:unbound variable|parameter (?:null or )?not set)/,
  // python
  new RegExp(`KeyError: ['"](${NAME})['"]`),
  new RegExp(
    `\\b(${NAME})\\b.{0,60}\\b(?:[Nn]ot (?:set|defined|found)|[Uu]nset|[Mm]issing|[Rr]equired|[Uu]ndefined)\\b`,
  ),
  new RegExp(`\\b(?:[Mm]issing|[Uu]nset|[Rr]equires?|[Uu]ndefined|[Ss]et|[Ee]xport|variable)\\b.{0,60}\\b(${NAME})\\b`),
]
const MAX_NAMES = 3

/** Names of variables that the command says it lacks. */
function unsetIn(run: Pick<CommandRun, 'command' | 'result'>): readonly string[] {
  const names = linesOf(run).map((line) => UNSET.map((pattern) => pattern.exec(line)?.[1]).find(Boolean))
  return [...new Set(names)].filter((name) => name !== undefined).slice(0, MAX_NAMES)
}
