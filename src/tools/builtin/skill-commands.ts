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
import type { CommandFinding, SkillDirectory } from '../findings/command-run.ts'
import { COMMANDS, failedBy } from '../messages.ts'
import { SANDBOX, TARGET } from '../services.ts'
import type { SkillSetup } from './command-setup.ts'
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
  readonly env: Readonly<Record<string, string>>
  readonly masks: readonly Mask[]
  /** The hosts of the skills that are loaded, the one it runs for, and where a host for it would be written. */
  readonly network: {
    readonly hosts: readonly HostRule[]
    readonly skill?: SkillRevision
    readonly setting?: string
  }
  /** Absent where its skill has none. */
  readonly setup?: SkillSetup | undefined
  readonly findings: readonly CommandFinding[]
  /** Variables that it did not get, once it ended. */
  readonly notGiven: (ended: EndedCommand) => readonly CommandFinding[]
  /** Where the files of skills are that the agent loaded in this session. */
  readonly skillDirectories: readonly SkillDirectory[]
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
  // Kept for the next call: catalog and limits are nearly always the same.
  let last: { catalog: Catalog; allowedSecrets: CallLimits['secrets']; variables: SkillVariables } | undefined
  const variablesFor = ({ secrets: allowedSecrets }: CallLimits, catalog: Catalog): SkillVariables => {
    if (last?.catalog !== catalog || last.allowedSecrets !== allowedSecrets) {
      const variables = createSkillVariables({ catalog, facts, entries, allowedSecrets, onSecret })
      last = { catalog, allowedSecrets, variables }
    }
    return last.variables
  }
  services.register(SANDBOX, sandbox)
  services.register(TARGET, facts)
  services.register(SKILL_COMMANDS, {
    verdictsOf: (skill) => variablesFor(limits(), parts.catalog()).verdictsOf(skill),
    hostsOf: (skill) => variablesFor(limits(), parts.catalog()).hostsFor(skill),
    async own(text, skillName, context) {
      const catalog = parts.catalog()
      const variables = variablesFor(context.limits ?? {}, catalog)
      const loaded = stacks.loadedIn(context)
      const skillOf = (address: string | undefined): Skill | undefined =>
        catalog.skills.find((skill) => catalog.addressOf(skill) === address)
      const named = loaded.filter(({ baseDir }) => namesDirectory(text, baseDir))
      const isNamed = skillName.trim() !== ''
      const skill = isNamed ? findSkill(catalog, skillName) : skillOf(onlyAddress(named))
      const problem = isNamed && skill ? ownerProblem(skill, catalog, context.origin, { loaded, named }) : undefined
      if (problem) return problem
      const skills = loaded.map(({ address }) => skillOf(address)).filter((each) => each !== undefined)
      return {
        type: 'owned',
        address: skill && catalog.addressOf(skill),
        network: {
          ...hostsOf(variables, skill ? [skill, ...skills] : skills),
          skill: await revisionOf(skill ?? onlyOne(skills), catalog, { loaded, signal: context.signal }),
        },
        setup: skill && setupOf(skill, variables, catalog),
        ...(skill ? await variables.valuesFor(skill, context.signal) : { env: {}, masks: [] }),
        findings: await oldRevisions(named, catalog),
        notGiven: (ended) => variables.notGiven(ended, skill, skills),
        skillDirectories: loaded.map(({ address, baseDir }) => {
          const of = skillOf(address)
          return { path: baseDir, name: of && catalog.callName(of), original: of?.directory }
        }),
      }
    },
  })
}

/** One with others loaded: their union. Of several without a named one nobody can say whose host is missing. */
function hostsOf(
  variables: SkillVariables,
  skills: readonly Skill[],
): Pick<OwnedCommand['network'], 'hosts' | 'setting'> {
  const each = [...new Set(skills)].map((skill) => variables.hostsFor(skill))
  return { hosts: each.flatMap(({ hosts }) => hosts), ...(each[0] && { setting: each[0].setting }) }
}

function onlyOne(skills: readonly Skill[]): Skill | undefined {
  const [skill, ...others] = new Set(skills)
  return others.length === 0 ? skill : undefined
}

/** The revision that was loaded last, else the present one. */
async function revisionOf(
  skill: Skill | undefined,
  catalog: Catalog,
  { loaded, signal }: { readonly loaded: readonly LoadedInSession[]; readonly signal: AbortSignal },
): Promise<SkillRevision | undefined> {
  if (!skill) return undefined
  const name = catalog.addressOf(skill)
  const known = loaded.findLast(({ address }) => address === name)?.treeDigest
  const treeDigest = known ?? (await currentRevision(skill, signal))
  return treeDigest === undefined ? undefined : { name, treeDigest }
}

function setupOf(skill: Skill, variables: SkillVariables, catalog: Catalog): SkillSetup | undefined {
  const command = variables.setupFor(skill)
  return command === undefined ? undefined : { skill, callName: catalog.callName(skill), command }
}

/** The skill that all the named directories belong to. */
function onlyAddress(named: readonly LoadedInSession[]): string | undefined {
  const [owner, ...others] = new Set(named.map(({ address }) => address))
  return others.length === 0 ? owner : undefined
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
  const verdicts = services.get(SKILL_COMMANDS)?.verdictsOf(skill) ?? []
  const names = verdicts.filter(({ verdict }) => verdict === 'given').map(({ name }) => toSafeLine(name))
  const { hosts = [] } = services.get(SKILL_COMMANDS)?.hostsOf(skill) ?? {}
  const reached = hosts.map(shownRule)
  const network =
    reached.length === 0
      ? ''
      : `\nCommands reach ${reached.join(', ')} while this skill is loaded, through HTTPS_PROXY.`
  if (names.length === 0) return network
  return `\nCommands for this skill: give run_command skill_name "${callName}"; then ${names.join(', ')} is set for them.${network}`
}
