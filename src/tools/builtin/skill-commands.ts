import { type Catalog, everyCopy } from '../../skills/catalog/index.ts'
import {
  configKey,
  type Failed,
  nameKey,
  serviceKey,
  type Services,
  type Skill,
  type TargetFacts,
  type ToolContext,
  toSafeLine,
  trustedNames,
} from '../../kernel/index.ts'
import {
  findSkill,
  isOutdated,
  type LoadedInSession,
  type LoadedSkill,
  type SkillStacks,
} from '../../skills/load/index.ts'
import { refusedVariable } from '../../machine/sandbox/index.ts'
import type { CommandFinding, VariableReason } from '../findings/finding.ts'
import type { SkillDirectory } from '../findings/ran.ts'
import { namesDirectory, ownerProblem } from './command-owner.ts'
import { declaredVariables, judgeVariables, type VariableVerdict } from './skill-variables.ts'

/** What the configuration contains under one key of `skills.entries` for commands. Every value is a secret. */
export interface SkillEntryValues {
  readonly env: Readonly<Record<string, string>>
  /** Reads the value of `apiKey`; absent when there is none. A program may be run for it. Throws CONFIG_INVALID when it cannot be had. */
  readonly apiKey?: (signal?: AbortSignal) => Promise<string | undefined>
}

/** What decides about the commands of skills, for one agent. */
export interface SkillCommandParts {
  /** Of the agent. */
  readonly catalog: Catalog
  /** Which skills were loaded in which session. */
  readonly stacks: SkillStacks
  readonly facts: Pick<TargetFacts, 'hasEnv' | 'network' | 'os' | 'skillsDirectory'>
  /** By configuration key; asked only for copies that an agent is offered. */
  readonly entries?: (key: string) => SkillEntryValues | undefined
  /** The names of secret variables that may be given; absent = all. Source: `CallLimits.secrets`. */
  readonly allowedSecrets?: readonly string[] | undefined
  /** Gets every value before a command does, so that it can be redacted from then on. */
  readonly onSecret?: (value: string) => void
}

/** A command with what it gets because it works for a skill. */
export interface OwnedCommand {
  readonly type: 'owned'
  /** Absent: the command belongs to no skill, and gets nothing. */
  readonly skill?: Skill
  /** Of the skill. */
  readonly address?: string
  /** Made for this command. */
  readonly env: Readonly<Record<string, string>>
  /** Variables that it does not get although they are configured, and other things to report at any rate. */
  readonly findings: readonly CommandFinding[]
  /** Variables that may explain a failure. */
  readonly suspects: readonly Suspect[]
  /** Why the command did not get a variable that no skill declares for it; undefined when it got it. */
  readonly aboutUnset: (name: string) => CommandFinding | undefined
  /** Where the files of skills are that the agent loaded in this session. */
  readonly skillDirectories: readonly SkillDirectory[]
}

/** A variable that a command did not get. */
export interface Suspect {
  readonly finding: CommandFinding
  /** True when the command, or what it wrote, has to name the variable: else it has nothing to do with the failure. */
  readonly ifNamed: boolean
}

/** What becomes of one variable, with the key under `skills.entries` that it is configured under. */
export interface ConfiguredVerdict extends VariableVerdict {
  readonly key: string
}

/** For which skill a command runs, and what it is given for that. */
export interface SkillCommands {
  /** What becomes of the variables that are configured for this skill. No value is read. */
  variablesOf(skill: Skill): readonly ConfiguredVerdict[]
  /**
   * Decides for which skill the command runs: the one it names, else the one whose directory its text names, else none.
   * Throws SKILL_NOT_FOUND and SKILL_INVALID for a name that means no skill, CONFIG_INVALID when a secret cannot be had.
   */
  own(
    command: { readonly text: string; readonly skillName?: string },
    context: ToolContext,
  ): Promise<OwnedCommand | Failed>
}

export const SKILL_COMMANDS = serviceKey<SkillCommands>('skillCommands')

/** A command that runs for no skill. */
export const NO_SKILLS: OwnedCommand = {
  type: 'owned',
  env: {},
  findings: [],
  suspects: [],
  aboutUnset: () => undefined,
  skillDirectories: [],
}

/** Decides over one catalog. No variable of this process is read or set. */
export function createSkillCommands(parts: SkillCommandParts): SkillCommands {
  const { catalog, stacks, facts, entries, allowedSecrets, onSecret } = parts
  const mayGive = (name: string): boolean => allowedSecrets?.includes(name) ?? true
  const areSecretsDenied = allowedSecrets?.length === 0
  const ground = { isSet: facts.hasEnv, refused: refusedVariable }
  let names: ReadonlySet<string> | undefined

  const keyOf = (skill: Skill): string =>
    configKey(skill, (name) => (names ??= trustedNames(everyCopy(catalog), catalog.invalid)).has(nameKey(name)))

  /** Nothing for a copy that is not the one its name means: secrets go to the copy. */
  function entryFor(skill: Skill): { readonly key: string; readonly entry: SkillEntryValues } | undefined {
    if (!entries || areSecretsDenied || !skill.origin.trusted) return undefined
    const key = keyOf(skill)
    const entry = entries(key)
    return entry && catalog.skills.includes(skill) ? { key, entry } : undefined
  }

  function verdictsFor(skill: Skill, { env, apiKey }: SkillEntryValues): readonly VariableVerdict[] {
    return judgeVariables(skill, { env: Object.keys(env), hasApiKey: apiKey !== undefined }, ground)
  }

  async function give(skill: Skill, signal: AbortSignal): Promise<OwnedCommand> {
    const address = catalog.addressOf(skill)
    const found = entryFor(skill)
    const owned = { ...NO_SKILLS, skill, address }
    if (!found) return { ...owned, ...notTheCopy(skill) }
    const { key, entry } = found
    const verdicts = verdictsFor(skill, entry)
    const given = new Map<string, string>()
    for (const { name, from } of verdicts.filter(({ name: each, verdict }) => verdict === 'given' && mayGive(each))) {
      const value = from === 'env' ? entry.env[name] : await entry.apiKey?.(signal)
      if (value === undefined) continue
      onSecret?.(value)
      given.set(name, value)
    }
    const findings = verdicts.flatMap(({ name, from, verdict }) =>
      verdict === 'refused' || verdict === 'undeclared'
        ? [notGiven(skill, name, { why: verdict, setting: settingOf(key, name, from) })]
        : [],
    )
    const known = new Set(verdicts.map(({ name }) => name))
    return {
      ...owned,
      env: Object.fromEntries(given),
      findings,
      suspects: [
        ...missingOf(skill, 'not-configured').filter(({ finding }) => !known.has(finding.subject)),
        ...missingOf(skill, 'denied').filter(({ finding }) => known.has(finding.subject) && !mayGive(finding.subject)),
      ],
    }
  }

  /** Declared variables that neither the sandbox nor the configuration sets. */
  function missingOf(skill: Skill, why: VariableReason): Suspect[] {
    const needed = new Set([...skill.metadata.requires.env, skill.metadata.primaryEnv])
    const key = keyOf(skill)
    return declaredVariables(skill)
      .filter((name) => !facts.hasEnv(name))
      .map((name) => {
        const from = name === skill.metadata.primaryEnv ? 'apiKey' : 'env'
        return {
          finding: notGiven(skill, name, { why, setting: settingOf(key, name, from) }),
          ifNamed: !needed.has(name),
        }
      })
  }

  /** A copy that another one hides can be run by its address; what is configured for the name is not for it. */
  function notTheCopy(skill: Skill): Pick<OwnedCommand, 'findings' | 'suspects'> {
    if (areSecretsDenied) return { findings: [], suspects: missingOf(skill, 'denied') }
    if (!entries) return { findings: [], suspects: missingOf(skill, 'not-configured') }
    if (catalog.skills.includes(skill)) return { findings: [], suspects: missingOf(skill, 'not-configured') }
    return { findings: missingOf(skill, 'shadowed').map(({ finding }) => finding), suspects: [] }
  }

  /** Variables of loaded skills that a command gets only when it says for which skill it runs. */
  function unnamed(loaded: readonly LoadedInSession[]): Suspect[] {
    const addresses = new Set(loaded.map(({ address }) => address))
    return catalog.skills
      .filter((skill) => addresses.has(catalog.addressOf(skill)))
      .flatMap((skill) => {
        const found = entryFor(skill)
        const verdicts = found ? verdictsFor(skill, found.entry) : []
        return verdicts
          .filter(({ verdict }) => verdict === 'given')
          .map(({ name, from }) => ({
            finding: notGiven(skill, name, { why: 'no-skill-named', setting: settingOf(found?.key ?? '', name, from) }),
            ifNamed: true,
          }))
      })
  }

  function notGiven(
    skill: Skill,
    name: string,
    { why, setting }: { readonly why: VariableReason; readonly setting: string },
  ): CommandFinding {
    const of = why === 'shadowed' ? catalog.addressOf(skill) : catalog.callName(skill)
    return { code: 'variable-not-given', subject: name, why, skill: of, setting }
  }

  /** A variable that the command says it lacks, and which skills of the agent get it. */
  function aboutUnset({ skill, env }: Pick<OwnedCommand, 'skill' | 'env'>, name: string): CommandFinding | undefined {
    if (Object.hasOwn(env, name) || facts.hasEnv(name)) return undefined
    const others = catalog.skills.filter((each) => each !== skill && givenTo(each).includes(name))
    const of = { code: 'variable-not-given', subject: name, givenTo: others.map(catalog.callName) } as const
    if (!skill) return { ...of, why: 'no-skill', skill: '', setting: '' }
    const setting = settingOf(keyOf(skill), name, 'env')
    return { ...of, why: 'not-declared', skill: catalog.callName(skill), setting }
  }

  function givenTo(skill: Skill): readonly string[] {
    const found = entryFor(skill)
    const verdicts = found ? verdictsFor(skill, found.entry) : []
    return verdicts.filter(({ verdict }) => verdict === 'given').map(({ name }) => name)
  }

  /** Skills whose directory the text names, of a revision that is not the present one. */
  async function oldRevisions(text: string, loaded: readonly LoadedInSession[]): Promise<CommandFinding[]> {
    const found: CommandFinding[] = []
    for (const { address, baseDir, treeDigest } of loaded.filter((each) => namesDirectory(text, each.baseDir))) {
      const skill = catalog.skills.find((candidate) => catalog.addressOf(candidate) === address)
      // Where skills are not placed, commands see the files as they are.
      if (!skill || baseDir === skill.directory || !(await isOutdated(skill, treeDigest))) continue
      found.push({ code: 'old-revision', subject: catalog.callName(skill) })
    }
    return found
  }

  async function ownerOf(
    { text, skillName }: { readonly text: string; readonly skillName: string },
    loaded: readonly LoadedInSession[],
    context: ToolContext,
  ): Promise<OwnedCommand | Failed> {
    const named = loaded.filter(({ baseDir }) => namesDirectory(text, baseDir))
    if (skillName.trim() !== '') {
      const skill = findSkill(catalog, skillName)
      return ownerProblem(skill, { catalog, loaded, named, context }) ?? give(skill, context.signal)
    }
    const [owner, ...others] = new Set(named.map(({ address }) => address))
    const isClear = owner !== undefined && others.length === 0
    const skill = isClear ? catalog.skills.find((candidate) => catalog.addressOf(candidate) === owner) : undefined
    return skill ? give(skill, context.signal) : { ...NO_SKILLS, suspects: unnamed(loaded) }
  }

  return {
    variablesOf(skill) {
      const found = entryFor(skill)
      if (!found) return []
      const { key, entry } = found
      return verdictsFor(skill, entry).map((verdict) => ({ ...verdict, key }))
    },
    async own({ text, skillName = '' }, context) {
      const loaded = stacks.loadedIn(context)
      const owned = await ownerOf({ text, skillName }, loaded, context)
      const skillDirectories = loaded.map(({ address, baseDir }) => {
        const skill = catalog.skills.find((candidate) => catalog.addressOf(candidate) === address)
        return { path: baseDir, ...(skill && { name: catalog.callName(skill), original: skill.directory }) }
      })
      if (owned.type === 'failed') return owned
      return {
        ...owned,
        aboutUnset: (name) => aboutUnset(owned, name),
        skillDirectories,
        findings: [...(await oldRevisions(text, loaded)), ...owned.findings],
      }
    },
  }
}

function settingOf(key: string, name: string, from: 'apiKey' | 'env'): string {
  return `skills.entries.${key}.${from === 'env' ? `env.${name}` : from}`
}

/** For the model that loads a skill: how its commands get what is configured for it. Empty when nothing is, or no command can run. */
export function commandsHint(services: Services, { skill, callName }: Pick<LoadedSkill, 'skill' | 'callName'>): string {
  const verdicts = services.get(SKILL_COMMANDS)?.variablesOf(skill) ?? []
  const names = verdicts.filter(({ verdict }) => verdict === 'given').map(({ name }) => toSafeLine(name))
  if (names.length === 0) return ''
  return `\nCommands for this skill: give run_command skill_name "${callName}"; then ${names.join(', ')} is set for them.`
}
