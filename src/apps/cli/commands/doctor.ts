import { join } from 'node:path'
import { resolveModel } from '../../../agents/turns/index.ts'
import type { LoadedConfig } from '../../../config/index.ts'
import {
  DEFAULT_PROJECT,
  type Diagnostic,
  hasErrors,
  isNexusError,
  type Severity,
  toSafeLine,
} from '../../../kernel/index.ts'
import { budgetDiagnostics, sandboxOptions, stateFile, storeChoice } from '../../../local/index.ts'
import {
  checkSandbox,
  checkWorkspace,
  createSandbox,
  findPrograms,
  limitingGroup,
  type NamedProgram,
  unmountedInterpreter,
  workspaceModeOf,
} from '../../../machine/sandbox/index.ts'
import type { Catalog } from '../../../skills/catalog/index.ts'
import { openDatabase, storeStatus } from '../../../store/index.ts'
import { diagnoseInvalid } from '../../../skills/diagnose/index.ts'
import type { Answer, Invocation } from '../command.ts'
import { compiledPlace } from '../compile-cache.ts'
import { withProgress } from '../interactive/progress.ts'
import { NO_MODEL } from '../model/choose-model.ts'
import { loadHere, openFor, NO_CONFIG } from '../open.ts'
import { withCommands, worstMark } from '../show/findings.ts'
import { besideSkills, countsOf, countsText } from '../show/skills.ts'
import { trustText } from '../show/consent.ts'
import { findInSettings } from './config.ts'
import { formatDiagnostic } from '../terminal.ts'

/** The words about a subject that was checked, and its faults. */
interface Finding {
  readonly found: string
  readonly diagnostics?: readonly Diagnostic[]
}

type Subject = Required<Finding> & { readonly subject: string }
type Check = (loaded: LoadedConfig, invocation: Invocation) => Promise<Finding>

/** `nexus doctor`: exit code 1 when something needed does not work. */
export async function doctor(invocation: Invocation): Promise<Answer> {
  const loaded = await loadHere(invocation)
  const findings: Subject[] = []
  for (const [subject, check] of Object.entries(CHECKS)) {
    const found = await withProgress(invocation.terminal, `checking ${subject}`, () => check(loaded, invocation))
    findings.push({ subject, diagnostics: [], ...found })
  }
  return {
    data: { findings: findings.map(({ subject, found }) => ({ subject, found })) },
    diagnostics: findings.flatMap(({ diagnostics }) => diagnostics),
    show: () => findings.forEach((finding) => print(finding, invocation)),
  }
}

const CHECKS: Readonly<Record<string, Check>> = {
  node: checkNode,
  state: checkState,
  config: checkConfiguration,
  directory: checkDirectory,
  sandbox: checkCommands,
  limits: checkLimits,
  programs: checkPrograms,
  skills: checkSkills,
  model: checkModel,
}

function print({ subject, found, diagnostics }: Subject, { terminal }: Invocation): void {
  terminal.line(`${worstMark(diagnostics, terminal)} ${terminal.paint('bold', subject.padEnd(10))} ${found}`)
  for (const diagnostic of diagnostics) terminal.line(formatDiagnostic(diagnostic, terminal).replace(/^/gm, '    '))
}

async function checkNode(_: LoadedConfig, { terminal }: Invocation): Promise<Finding> {
  const { directory, why } = compiledPlace()
  const place = directory === undefined ? undefined : terminal.shortPath(directory)
  const found = `${process.version} (${process.execPath}); ${place === undefined ? `commands start more slowly: ${why}` : `compiled code is kept in ${place}`}`
  return { found }
}

/** Opens the store as every command that records does; what is missing of it is made. */
async function checkState(loaded: LoadedConfig, { environment, terminal }: Invocation): Promise<Finding> {
  const { type, path = stateFile(environment) } = loaded.config.store
  const place = type === 'sqlite' ? terminal.shortPath(path) : type
  try {
    const choice = await storeChoice({ loaded, environment })
    const status = await storeStatus(choice)
    const database = await openDatabase(choice)
    await using _closing = { [Symbol.asyncDispose]: () => database.close() }
    const [last] = await database.project(DEFAULT_PROJECT).sessions.list({ limit: 1 })
    const used = last ? `last used ${new Date(last.updatedAt).toISOString()}` : 'no session yet'
    const found = status?.version === 0 ? 'new' : used
    const where = type === 'postgres' && status ? status.database : place
    return { found: `${where} (${found})` }
  } catch (error) {
    return {
      found: place,
      diagnostics: [toDiagnostic(error, { path: type === 'sqlite' ? path : 'store.url', severity: 'error' })],
    }
  }
}

async function checkConfiguration(loaded: LoadedConfig, invocation: Invocation): Promise<Finding> {
  const { terminal } = invocation
  const files = loaded.files.length === 0 ? NO_CONFIG : `${loaded.files.map(terminal.shortPath).join(', ')};`
  return {
    found: `${files} workspace ${trustText(loaded.workspace, terminal)}`,
    diagnostics: [...loaded.diagnostics, ...(await findInSettings(loaded, invocation))],
  }
}

const WORKSPACE_MODES = {
  layers: 'commands run over it, without a copy',
  mirror: 'commands run in a copy of it',
  unconfined: 'commands run in it as you, outside the sandbox',
} as const

/** Whether commands may run in the workspace around the working directory. */
async function checkDirectory(loaded: LoadedConfig, { terminal }: Invocation): Promise<Finding> {
  const { directory } = loaded.workspace
  const found = terminal.shortPath(directory)
  try {
    const options = sandboxOptions(loaded)
    await checkWorkspace(directory, options)
    const { mode, why } = await workspaceModeOf(directory, options)
    return { found: `${found}: ${WORKSPACE_MODES[mode]}${why === undefined ? '' : `, because ${why}`}` }
  } catch (error) {
    const { message } = toDiagnostic(error, { path: directory, severity: 'error' })
    const fix = 'Work in the directory of one project, for example: mkdir -p ~/my-project && cd ~/my-project'
    const refused = { code: 'workspace-refused', severity: 'error', message, fix, path: directory } as const
    return { found, diagnostics: [refused] }
  }
}

/** Runs a trial command in the sandbox, as the first real command would. */
async function checkCommands(loaded: LoadedConfig): Promise<Finding> {
  const options = sandboxOptions(loaded)
  const diagnostics = await checkSandbox(options)
  if (hasErrors(diagnostics)) return { found: 'commands cannot be confined here', diagnostics }
  const sandbox = await createSandbox(options)
  try {
    const { target } = await sandbox.facts()
    const found = options.kind === 'none' ? target : `${target}; a trial command ran well`
    return { found, diagnostics }
  } finally {
    await sandbox.close()
  }
}

/** Whether the kernel or Nexus limits what the processes of a command use together. */
async function checkLimits({ config }: LoadedConfig): Promise<Finding> {
  if (config.execution.sandbox === 'none') return { found: 'none but time and output, without a sandbox' }
  const group = await limitingGroup()
  if ('directory' in group) return { found: `the kernel limits commands, in ${group.directory}` }
  return { found: `Nexus looks at processes itself, five times a second, because ${group.why}` }
}

/** Each program of `execution.programs`, with all its files checked as before a command. */
async function checkPrograms(loaded: LoadedConfig, { terminal }: Invocation): Promise<Finding> {
  const { programs, sandbox } = loaded.config.execution
  if (sandbox === 'none') return { found: 'nothing is mounted without a sandbox' }
  const interpreter = await unmountedInterpreter(loaded.workspace.directory, sandboxOptions(loaded))
  const proposed: Diagnostic[] = []
  if (interpreter?.type === 'found') {
    const needed = toSafeLine(interpreter.file)
    const message = `The virtual environment of this workspace needs ${needed}, which commands do not see.`
    proposed.push(mountable(message, ['python3'], loaded))
  }
  if (programs.length === 0)
    return { found: 'commands have none of your home (execution.programs)', diagnostics: proposed }
  const named = await findPrograms(programs, sandboxOptions(loaded))
  const words = named.flatMap((program) => {
    if (program.type === 'refused') return []
    const { name } = program
    if (program.type === 'system') return [`${name} (of the system, ${program.path})`]
    return [`${name} (${program.kind}, ${terminal.shortPath(program.file)})`]
  })
  return {
    found: words.length === 0 ? 'none can be mounted' : words.join(', '),
    diagnostics: [...named.flatMap((each) => (each.type === 'refused' ? [notMounted(each)] : [])), ...proposed],
  }
}

function notMounted({ name, path, why }: Extract<NamedProgram, { type: 'refused' }>): Diagnostic {
  return {
    code: 'program-not-mounted',
    severity: 'warning',
    path: path ?? 'execution.programs',
    message: `Commands do not have ${name}, because ${why}.`,
    fix: `Install ${name} for all users, or remove it from execution.programs.`,
  }
}

/** Programs of the home that commands would get by a line of the settings. */
function mountable(message: string, names: readonly string[], { config, nexusHome }: LoadedConfig): Diagnostic {
  const programs = [...config.execution.programs, ...names].join(', ')
  const fix = `Add to that file: execution: { programs: [${programs}] }`
  return { code: 'program-mountable', severity: 'warning', path: join(nexusHome, 'nexus.yaml'), message, fix }
}

/** Programs that held skills lack and the person has. */
async function lacked({ held }: Catalog, loaded: LoadedConfig): Promise<Diagnostic[]> {
  const { programs } = loaded.config.execution
  const reasons = held.flatMap((each) => each.reasons).filter(({ code }) => code === 'bin' || code === 'any-bins')
  const names = [...new Set(reasons.flatMap(({ missing }) => missing))].filter((name) => !programs.includes(name))
  const found = (await findPrograms(names, sandboxOptions(loaded))).filter(({ type }) => type === 'found')
  if (found.length === 0) return []
  const list = found.map(({ name }) => name)
  const message = `Held skills need ${list.join(', ')}, which you have in your home, where commands do not see it.`
  return [mountable(message, list, loaded)]
}

async function checkSkills(loaded: LoadedConfig, invocation: Invocation): Promise<Finding> {
  // The other checks report what openFor would print.
  const quiet = { ...invocation, terminal: { ...invocation.terminal, isWatched: false, note: () => undefined } }
  try {
    await using local = await openFor(quiet, { record: 'memory' })
    const agent = local.runtime.openAgent()
    const catalog = agent.catalog()
    const { held, shadowed, invalid } = catalog
    const counts = countsText(countsOf(catalog))
    const line = invocation.terminal.commandLine(['skills', 'list', '--all'])
    const found = held.length + shadowed.length > 0 ? `${counts}. For the reasons: ${line}` : counts
    const inSkills = invalid.flatMap((broken) => {
      const [first] = diagnoseInvalid(broken).findings
      if (!first) return []
      const { command: _, ...found } = withCommands(first, invocation)
      return [{ ...found, path: broken.file, severity: 'warning' as const }]
    })
    const mounts = await lacked(catalog, loaded)
    const diagnostics = [...inSkills, ...mounts, ...besideSkills(catalog), ...budgetDiagnostics(loaded, agent.index())]
    return { found, diagnostics }
  } catch (error) {
    const diagnostics = [toDiagnostic(error, { path: 'skills', severity: 'error' })]
    return { found: 'cannot be searched', diagnostics }
  }
}

async function checkModel({ config }: LoadedConfig, { environment, terminal }: Invocation): Promise<Finding> {
  try {
    const { model: configured } = config
    // A command that gives the key is not run for a check: a placeholder is used.
    const isFromCommand = configured?.hasApiKey === true && configured.apiKey === undefined
    const shown = isFromCommand ? { ...configured, apiKey: 'not-asked-for' } : configured
    const model = await resolveModel({ environment, configured: shown })
    if (!model) {
      const missing = { code: 'model-missing', severity: 'warning', path: 'model', ...NO_MODEL } as const
      return {
        found: `none configured. To play a recorded one: ${terminal.commandLine(['demo'])}`,
        diagnostics: [missing],
      }
    }
    return { found: `${model.describe}${isFromCommand ? '; its key comes from a command, which was not run' : ''}` }
  } catch (error) {
    const diagnostics = [toDiagnostic(error, { path: 'model', severity: 'warning' })]
    return { found: 'configured, but not usable', diagnostics }
  }
}

/** An expected error as a finding; a fault in Nexus itself stays one. */
function toDiagnostic(error: unknown, about: { path: string; severity: Severity }): Diagnostic {
  if (!isNexusError(error)) throw error
  const { code, message, fix, proposal } = error
  return { code, message, ...about, fix, proposal }
}
