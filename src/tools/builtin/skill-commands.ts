/** skill-commands: for which skill a command runs, and what it gets for that. */
import type { Catalog } from '../../skills/catalog/index.ts'
import {
  type CallLimits,
  type Failed,
  type HostRule,
  serviceKey,
  type Services,
  shownRule,
  type Skill,
  type SkillRevision,
  type TargetFacts,
  type ToolContext,
  toSafeLine,
} from '../../kernel/index.ts'
import {
  currentRevision,
  findSkill,
  isOutdated,
  type LoadedInSession,
  type LoadedSkill,
  type SkillStacks,
} from '../../skills/load/index.ts'
import type { Mask, Sandbox } from '../../machine/sandbox/index.ts'
import type { CommandFinding } from '../findings/command-run.ts'
import { COMMANDS, failedBy } from '../messages.ts'
import { SANDBOX, TARGET } from '../services.ts'
import {
  createSkillVariables,
  type EndedCommand,
  type SkillEntryValues,
  type SkillVariables,
} from './skill-variables.ts'

export interface OwnedCommand {
  readonly type: 'owned'
  /** The address of the skill; absent: the command belongs to none, and gets nothing. */
  readonly address?: string
  /** A skill from a source that is not trusted gets no command at all. */
  readonly cache: 'trusted' | 'untrusted'
  readonly env: Readonly<Record<string, string>>
  readonly masks: readonly Mask[]
  /** The hosts of the skills that are loaded, the one it runs for, and where a host for it would be written. */
  readonly network: {
    readonly hosts: readonly HostRule[]
    readonly skill?: SkillRevision
    readonly setting?: string
  }
  /** The setup that its skill has in its entry. */
  readonly setup?: { readonly skill: Skill; readonly callName: string; readonly command: string } | undefined
  readonly findings: readonly CommandFinding[]
  /** Variables that it did not get, once it ended. */
  readonly notGiven: (ended: EndedCommand) => readonly CommandFinding[]
  /** Where the files of skills are that the agent loaded in this session. */
  readonly skillDirectories: readonly string[]
}

export interface SkillCommands {
  readonly verdictsOf: SkillVariables['verdictsOf']
  readonly hostsOf: SkillVariables['hostsFor']
  /**
   * Decides for which skill the command runs: the one it names, else the one whose directory its text names, else none.
   * Throws SKILL_NOT_FOUND and SKILL_INVALID for a name that means no skill, CONFIG_INVALID when a secret cannot be had.
   */
  own(text: string, skillName: string, context: ToolContext): Promise<OwnedCommand | Failed>
}

export const SKILL_COMMANDS = serviceKey<SkillCommands>('skillCommands')

export const NO_SKILLS: OwnedCommand = {
  type: 'owned',
  cache: 'untrusted',
  env: {},
  masks: [],
  network: { hosts: [] },
  findings: [],
  notGiven: () => [],
  skillDirectories: [],
}

export interface CommandServices {
  readonly sandbox: Sandbox
  readonly facts: Pick<TargetFacts, 'hasEnv' | 'network' | 'os' | 'skillsDirectory'>
  readonly catalog: () => Catalog
  readonly stacks: SkillStacks
  readonly entries?: ((key: string) => SkillEntryValues | undefined) | undefined
  /** The limits of a command, for the hint that is shown before it is called. */
  readonly limits: () => CallLimits
  /** Known secrets, and the list that grows with those that commands get. */
  readonly secrets: readonly [readonly string[], string[]]
}

/** Registers `SANDBOX`, `TARGET` and `SKILL_COMMANDS` for one agent. */
export function provideCommands(services: Services, parts: CommandServices): void {
  const { sandbox, facts, stacks, entries, limits, secrets } = parts
  const [, given] = secrets
  const onSecret = (value: string): void => {
    if (!given.includes(value)) given.push(value)
  }
  const variablesFor = ({ secrets: allowedSecrets }: CallLimits): SkillVariables =>
    createSkillVariables({ catalog: parts.catalog(), facts, entries, allowedSecrets, onSecret })
  const forSkill = async (skill: Skill, variables: SkillVariables, signal: AbortSignal) => {
    const [catalog, command] = [parts.catalog(), variables.setupFor(skill)]
    const setup = command === undefined ? undefined : { skill, callName: catalog.callName(skill), command }
    const values = await variables.valuesFor(skill, signal)
    return { address: catalog.addressOf(skill), cache: 'trusted' as const, setup, ...values }
  }
  services.register(SANDBOX, sandbox)
  services.register(TARGET, facts)
  services.register(SKILL_COMMANDS, {
    verdictsOf: (skill) => variablesFor(limits()).verdictsOf(skill),
    hostsOf: (skill) => variablesFor(limits()).hostsFor(skill),
    async own(text, skillName, context) {
      const catalog = parts.catalog()
      const variables = variablesFor(context.limits ?? {})
      const loaded = stacks.loadedIn(context)
      const skillOf = (address: string | undefined): Skill | undefined =>
        catalog.skills.find((skill) => catalog.addressOf(skill) === address)
      const named = loaded.filter(({ baseDir }) => namesDirectory(text, baseDir))
      const isNamed = skillName.trim() !== ''
      const skill = isNamed ? findSkill(catalog, skillName) : skillOf(onlyOne(named.map(({ address }) => address)))
      const problem = isNamed && skill ? ownerProblem(skill, catalog, context.origin, { loaded, named }) : undefined
      if (problem) return problem
      const skills = loaded.map(({ address }) => skillOf(address)).filter((each) => each !== undefined)
      // With several and no named one, nobody can say whose host is missing.
      const asking = skill ?? onlyOne(skills)
      const hosts = [...new Set(skill ? [skill, ...skills] : skills)].map((each) => variables.hostsFor(each))
      return {
        ...NO_SKILLS,
        ...(skill && (await forSkill(skill, variables, context.signal))),
        network: {
          hosts: hosts.flatMap((each) => each.hosts),
          setting: hosts[0]?.setting,
          skill: asking && (await revisionOf(asking, catalog, { loaded, signal: context.signal })),
        },
        findings: await oldRevisions(named, catalog),
        notGiven: (ended) => variables.notGiven(ended, skill, skills),
        skillDirectories: loaded.map(({ baseDir }) => baseDir),
      }
    },
  })
}

function onlyOne<T>(list: readonly T[]): T | undefined {
  const [first, ...others] = new Set(list)
  return others.length === 0 ? first : undefined
}

/** The revision that was loaded last, else the present one. */
async function revisionOf(
  skill: Skill,
  catalog: Catalog,
  { loaded, signal }: { readonly loaded: readonly LoadedInSession[]; readonly signal: AbortSignal },
): Promise<SkillRevision | undefined> {
  const name = catalog.addressOf(skill)
  const known = loaded.findLast(({ address }) => address === name)?.treeDigest
  const treeDigest = known ?? (await currentRevision(skill, signal))
  return treeDigest === undefined ? undefined : { name, treeDigest }
}

/** Why the command is not run for the skill that it names. People and programs name outright; a model has to have read the instructions. */
function ownerProblem(
  skill: Skill,
  catalog: Catalog,
  origin: ToolContext['origin'],
  { loaded, named }: { readonly loaded: readonly LoadedInSession[]; readonly named: readonly LoadedInSession[] },
): Failed | undefined {
  const address = catalog.addressOf(skill)
  const name = catalog.callName(skill)
  const isTaken = origin === 'cli' || origin === 'library'
  if (!isTaken && !loaded.some((each) => each.address === address))
    return failedBy('INVALID_PARAM', COMMANDS.notLoaded(name))
  const other = named.find((each) => each.address !== address)
  return other && failedBy('INVALID_PARAM', COMMANDS.otherSkill(name, other.name))
}

/** True when the text contains the path of the directory, or of something in it, and not merely of a neighbour. */
export function namesDirectory(text: string, directory: string): boolean {
  for (let at = text.indexOf(directory); at >= 0; at = text.indexOf(directory, at + 1)) {
    const before = text[at - 1] ?? ' '
    const after = text[at + directory.length] ?? ' '
    if (!/[\w./-]/.test(before) && !/[\w.-]/.test(after)) return true
  }
  return false
}

/** Skills of which the command names files of a revision that is not the present one. */
async function oldRevisions(named: readonly LoadedInSession[], catalog: Catalog): Promise<CommandFinding[]> {
  const found: CommandFinding[] = []
  for (const { address, baseDir, treeDigest } of named) {
    const skill = catalog.skills.find((candidate) => catalog.addressOf(candidate) === address)
    // Where skills are not placed, commands see the files as they are.
    if (!skill || baseDir === skill.directory || !(await isOutdated(skill, treeDigest))) continue
    const subject = catalog.callName(skill)
    found.push({
      code: 'old-revision',
      subject,
      message: `The command used old files of the skill '${subject}': the skill changed after you loaded it.`,
      fix: `Load '${subject}' again and use its new directory.`,
    })
  }
  return found
}

/** For the model that loads a skill: how its commands get what is configured for it. Empty when nothing is, or no command can run. */
export function commandsHint(services: Services, { skill, callName }: Pick<LoadedSkill, 'skill' | 'callName'>): string {
  const commands = services.get(SKILL_COMMANDS)
  const verdicts = commands?.verdictsOf(skill) ?? []
  const names = verdicts.filter(({ verdict }) => verdict === 'given').map(({ name }) => toSafeLine(name))
  const hosts = commands?.hostsOf(skill).hosts.map(shownRule) ?? []
  const set = `\nCommands for this skill: give run_command skill_name "${callName}"; then ${names.join(', ')} is set for them.`
  const reached = `\nCommands reach ${hosts.join(', ')} while this skill is loaded, through HTTPS_PROXY.`
  return `${names.length > 0 ? set : ''}${hosts.length > 0 ? reached : ''}`
}
