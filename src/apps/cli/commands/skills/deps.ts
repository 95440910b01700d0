import { join } from 'node:path'
import { everyCopy } from '../../../../skills/catalog/index.ts'
import type { InstallProposal } from '../../../../skills/format/index.ts'
import { installError, runInstall, safeInstallers, whyNotRun } from '../../../../skills/install/index.ts'
import { type Inspection, inspectSkills, sandboxOptions } from '../../../../local/index.ts'
import { findPrograms } from '../../../../machine/sandbox/index.ts'
import { type Skill, toSafeLine } from '../../../../kernel/index.ts'
import { type Answer, argument, type Invocation } from '../../command.ts'
import { INSTALL_WORDS } from '../../installing/words.ts'
import { confirm } from '../../interactive/confirm.ts'
import { withProgress } from '../../interactive/progress.ts'
import { places, withInspection } from '../../open.ts'
import { copiesMeant } from '../../show/facts.ts'
import {
  commandLine,
  installData,
  installGround,
  missingInstallsOf,
  missingPrograms,
  printInstalls,
} from '../../show/install.ts'
import { notFound } from '../../show/not-found.ts'

/** `nexus skills deps <name> [--run]`: what a skill would install here; exit code 1 while a program is missing. */
export async function skillDependencies(invocation: Invocation): Promise<Answer> {
  const name = argument(invocation, 'the name of a skill', ['csv-report'])
  return withInspection(invocation, async (inspection, catalog) => {
    const { terminal, flags, cwd } = invocation
    const seen = { ...inspection, catalog }
    const [skill] = everyCopy(copiesMeant(name, catalog, cwd))
    if (!skill) throw await notFound(name, seen, invocation)
    const missing = missingPrograms(skill.metadata.requires, inspection.facts.hasBin)
    const { access, has } = installersOf(inspection, invocation)
    const ground = installGround(inspection, invocation)
    // The target has the programs, but a person's own PATH the installers.
    const hasBin = (bin: string): boolean => ground.hasBin(bin) || has(bin)
    const proposals = missing.length === 0 ? [] : missingInstallsOf(skill, { ...ground, hasBin })
    const data = { name: skill.name, missing, installs: installData(proposals), ran: [] as string[] }
    if (flags['run'] === true && missing.length > 0) return run({ skill, proposals, access, data }, invocation)
    const mountable = await mountableOf(missing, inspection)
    return {
      data,
      exit: missing.length > 0 ? 1 : 0,
      show: () => {
        terminal.line(missing.length === 0 ? INSTALL_WORDS.nothingMissing(skill.name) : INSTALL_WORDS.misses(missing))
        if (mountable.length > 0) terminal.line(mountLine(mountable, inspection, invocation))
        printInstalls(proposals, terminal, '  ')
        if (proposals.some((each) => whyNotRun(each) === undefined)) terminal.line(INSTALL_WORDS.toRun(skill.name))
      },
    }
  })
}

function installersOf({ loaded }: Pick<Inspection, 'loaded'>, { environment, signal }: Invocation) {
  const variables = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) =>
    [name, name.toUpperCase()].flatMap((each) => {
      const value = environment.get(each)
      return value === undefined ? [] : [[each, value] as const]
    }),
  )
  return safeInstallers({
    ...{ home: environment.home, variables: Object.fromEntries(variables), signal },
    ...{ path: environment.get('PATH') ?? '', workspace: loaded.workspace.directory },
  })
}

/** Those that are in the home of the person, from where commands get what a setting names. */
async function mountableOf(missing: readonly string[], { loaded }: Pick<Inspection, 'loaded'>) {
  const found = await findPrograms(missing, sandboxOptions(loaded))
  return found.filter(({ type }) => type === 'found').map(({ name }) => name)
}

function mountLine(names: readonly string[], { loaded }: Pick<Inspection, 'loaded'>, { terminal }: Invocation): string {
  const all = [...new Set([...loaded.config.execution.programs, ...names])]
  return INSTALL_WORDS.mountable(all, terminal.shortPath(join(loaded.nexusHome, 'nexus.yaml')))
}

interface Running {
  readonly skill: Skill
  readonly proposals: readonly InstallProposal[]
  readonly access: ReturnType<typeof safeInstallers>['access']
  readonly data: { readonly name: string; readonly missing: readonly string[]; readonly ran: string[] }
}

/** Asks before each command that it runs. Throws INVALID_ARGUMENT where nobody can answer, CALL_DENIED where nothing may be run. */
async function run({ skill, proposals, access, data }: Running, invocation: Invocation): Promise<Answer> {
  const { terminal, flags } = invocation
  const chosen = proposals.filter(({ isChosen }) => isChosen)
  const [first = proposals[0]] = chosen
  const runnable = chosen.filter((each) => whyNotRun(each) === undefined)
  if (runnable.length === 0)
    throw installError(
      'CALL_DENIED',
      INSTALL_WORDS.notRun(skill.name, first && whyNotRun(first), first && commandLine(first)),
    )
  if (flags['yes'] !== true && !terminal.isInteractive)
    throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsYes(['skills', 'deps', toSafeLine(skill.name), '--run']))
  for (const proposal of runnable) {
    const line = toSafeLine(commandLine(proposal))
    terminal.note(INSTALL_WORDS.willRun(line))
    if (flags['yes'] !== true && !(await confirm(INSTALL_WORDS.runIt(), invocation))) continue
    await withProgress(terminal, line, () => runInstall(proposal, access))
    data.ran.push(proposal.id)
  }
  const after = await inspectSkills({ ...places(invocation), tolerateConfigErrors: true })
  const missing = missingPrograms(skill.metadata.requires, after.facts.hasBin)
  const { facts } = after
  const mountable = await mountableOf(missing, after)
  return {
    data: { ...data, missing },
    exit: missing.length > 0 ? 1 : 0,
    show: () => {
      if (missing.length === 0) terminal.line(INSTALL_WORDS.nothingMissing(skill.name))
      else terminal.line(INSTALL_WORDS.stillMissing(missing, facts.programDirectories ?? []))
      if (mountable.length > 0) terminal.line(mountLine(mountable, after, invocation))
    },
  }
}
