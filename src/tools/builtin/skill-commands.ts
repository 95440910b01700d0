import { type Catalog, everyCopy } from '../../catalog/index.ts'
import {
  configKey,
  type Failed,
  failed,
  nameKey,
  redactText,
  serviceKey,
  type Services,
  type Skill,
  type TargetFacts,
  type ToolContext,
  toSafeLine,
  trustedNames,
} from '../../kernel/index.ts'
import { findSkill, type LoadedInSession, type LoadedSkill, type SkillStacks } from '../../load/index.ts'
import { refusedVariable, type Sandbox } from '../../sandbox/index.ts'
import { REDACT_TEXT, SANDBOX } from '../services.ts'
import { judgeVariables, type VariableVerdict } from './skill-variables.ts'

/** What configuration holds under one key of `skills.entries` for commands. Every value is a secret. */
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
  readonly facts: Pick<TargetFacts, 'hasEnv'>
  /** By configuration key; asked only for copies that an agent is offered. */
  readonly entries?: (key: string) => SkillEntryValues | undefined
  /** Told every value before a command gets it, so that it can be blanked from then on. */
  readonly onSecret?: (value: string) => void
}

/** What `provideCommands` needs. */
export interface CommandServices extends Omit<SkillCommandParts, 'onSecret'> {
  readonly sandbox: Sandbox
  /** Known secrets, and the list that grows with those that commands get. */
  readonly secrets: readonly [readonly string[], string[]]
}

/** Registers what `run_command` needs: `SANDBOX`, `REDACT_TEXT` and `SKILL_COMMANDS`. */
export function provideCommands(services: Services, { sandbox, secrets, ...parts }: CommandServices): void {
  const [, given] = secrets
  const onSecret = (value: string): void => {
    if (!given.includes(value)) given.push(value)
  }
  services.register(SANDBOX, sandbox)
  services.register(REDACT_TEXT, (text, isCut) => redactText(text, isCut, ...secrets))
  services.register(SKILL_COMMANDS, createSkillCommands({ ...parts, onSecret }))
}

/** A command with what it gets because it works for a skill. */
export interface OwnedCommand {
  readonly type: 'owned'
  /** Absent: the command is nobody's, and gets nothing. */
  readonly skill?: Skill
  /** Of the skill. */
  readonly address?: string
  /** Made for this command. */
  readonly env: Readonly<Record<string, string>>
  readonly notes: readonly string[]
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
   * Settles for which skill the command runs: the one it names, else the one whose directory its text names, else none.
   * Throws SKILL_NOT_FOUND and SKILL_INVALID for a name that means no skill, CONFIG_INVALID when a secret cannot be had.
   */
  own(
    command: { readonly text: string; readonly skillName?: string },
    context: ToolContext,
  ): Promise<OwnedCommand | Failed>
}

export const SKILL_COMMANDS = serviceKey<SkillCommands>('skillCommands')

const NOBODYS: OwnedCommand = { type: 'owned', env: {}, notes: [] }

/** Decides over one catalog. No variable of this process is read or set. */
export function createSkillCommands(parts: SkillCommandParts): SkillCommands {
  const { catalog, stacks, facts, entries, onSecret } = parts
  const ground = { isSet: facts.hasEnv, refused: refusedVariable }
  let names: ReadonlySet<string> | undefined

  /** Nothing for a copy that is not the one its name means: secrets go to the copy. */
  function entryFor(skill: Skill): { readonly key: string; readonly entry: SkillEntryValues } | undefined {
    if (!entries || !skill.origin.trusted) return undefined
    const key = configKey(skill, (name) =>
      (names ??= trustedNames(everyCopy(catalog), catalog.rejected)).has(nameKey(name)),
    )
    const entry = entries(key)
    return entry && catalog.skills.includes(skill) ? { key, entry } : undefined
  }

  function verdictsFor(skill: Skill, { env, apiKey }: SkillEntryValues): readonly VariableVerdict[] {
    return judgeVariables(skill, { env: Object.keys(env), hasApiKey: apiKey !== undefined }, ground)
  }

  async function give(skill: Skill, signal: AbortSignal): Promise<OwnedCommand> {
    const address = catalog.addressOf(skill)
    const found = entryFor(skill)
    if (!found) return { type: 'owned', skill, address, env: {}, notes: notTheCopy(skill, parts) }
    const { key, entry } = found
    const verdicts = verdictsFor(skill, entry)
    const given = new Map<string, string>()
    for (const { name, from } of verdicts.filter(({ verdict }) => verdict === 'given')) {
      const value = from === 'env' ? entry.env[name] : await entry.apiKey?.(signal)
      if (value === undefined) continue
      onSecret?.(value)
      given.set(name, value)
    }
    const notes = verdicts
      .filter(({ verdict }) => verdict === 'refused' || verdict === 'undeclared')
      .map(({ name, from, why }) => `skills.entries.${key}.${from}: ${name} is not given to the command: it ${why}`)
    return { type: 'owned', skill, address, env: Object.fromEntries(given), notes }
  }

  return {
    variablesOf(skill) {
      const found = entryFor(skill)
      if (!found) return []
      const { key, entry } = found
      return verdictsFor(skill, entry).map((verdict) => ({ ...verdict, key }))
    },
    async own({ text, skillName = '' }, context) {
      const { signal } = context
      const loaded = stacks.loadedIn(context)
      const named = loaded.filter(({ baseDir }) => namesDirectory(text, baseDir))
      if (skillName.trim() !== '') {
        const skill = findSkill(catalog, skillName)
        return problemOf(skill, { catalog, loaded, named, context }) ?? give(skill, signal)
      }
      const [owner, ...others] = new Set(named.map(({ address }) => address))
      if (owner === undefined || others.length > 0) return NOBODYS
      const skill = catalog.skills.find((candidate) => catalog.addressOf(candidate) === owner)
      return skill ? give(skill, signal) : NOBODYS
    },
  }
}

/** For the model that loads a skill: how its commands get what is configured for it. Empty when nothing is, or no command can run. */
export function commandsHint(services: Services, { skill, callName }: Pick<LoadedSkill, 'skill' | 'callName'>): string {
  const verdicts = services.get(SKILL_COMMANDS)?.variablesOf(skill) ?? []
  const names = verdicts.filter(({ verdict }) => verdict === 'given').map(({ name }) => toSafeLine(name))
  if (names.length === 0) return ''
  return `\nCommands for this skill: give run_command skill_name "${callName}"; then ${names.join(', ')} is set for them.`
}

/** Why the command is not run for the skill that it names. People and programs name outright; a model has to have read the instructions. */
function problemOf(
  skill: Skill,
  about: {
    readonly catalog: Catalog
    readonly loaded: readonly LoadedInSession[]
    readonly named: readonly LoadedInSession[]
    readonly context: ToolContext
  },
): Failed | undefined {
  const { catalog, loaded, named, context } = about
  const address = catalog.addressOf(skill)
  const name = catalog.callName(skill)
  const isTaken = context.origin === 'cli' || context.origin === 'library'
  if (!isTaken && !loaded.some((each) => each.address === address))
    return failed('INVALID_PARAM', `The skill '${name}' was not loaded in this session, so no command runs for it.`, {
      fix: `Load '${name}' first, or leave skill_name out.`,
    })
  const other = named.find((each) => each.address !== address)
  if (other)
    return failed('INVALID_PARAM', `The command is for '${name}', but it names files of '${other.name}'.`, {
      fix: `Leave skill_name out to run it without the variables of '${name}', or run two commands.`,
    })
  return undefined
}

/** A copy that another one hides can be run by its address; what is configured for the name is not for it. */
function notTheCopy(skill: Skill, { catalog, entries }: SkillCommandParts): readonly string[] {
  if (!entries || catalog.skills.includes(skill)) return []
  return [
    `${toSafeLine(catalog.addressOf(skill))} is not the copy that its name means: it gets no variables of skills.entries`,
  ]
}

/** True when the text holds the path of the directory, or of something in it, and not merely of a neighbour. */
function namesDirectory(text: string, directory: string): boolean {
  for (let at = text.indexOf(directory); at >= 0; at = text.indexOf(directory, at + 1)) {
    const before = text[at - 1] ?? ' '
    const after = text[at + directory.length] ?? ' '
    if (!/[\w./-]/.test(before) && !/[\w.-]/.test(after)) return true
  }
  return false
}
