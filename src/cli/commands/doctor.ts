import { existsSync } from 'node:fs'
import { resolveModel } from '../../agents/index.ts'
import { loadConfig, type LoadedConfig } from '../../config/index.ts'
import { DEFAULT_PROJECT, type Diagnostic, hasErrors, isNexusError, type Severity } from '../../kernel/index.ts'
import { budgetDiagnostics, sandboxOptions, stateFile } from '../../local/index.ts'
import { checkSandbox, createSandbox } from '../../sandbox/index.ts'
import { openSqliteStore } from '../../store/index.ts'
import { diagnoseInvalid } from '../../diagnose/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { withProgress } from '../interactive/progress.ts'
import { openFor } from '../open.ts'
import { withCommands } from '../show/findings.ts'
import { trustText } from '../show/consent.ts'
import { findInSettings } from './config.ts'
import { formatDiagnostic } from '../terminal.ts'

/** One thing that was looked at: what was found, and what is wrong with it. */
interface Finding {
  readonly subject: string
  readonly found: string
  readonly diagnostics: readonly Diagnostic[]
}

type Check = (loaded: LoadedConfig, invocation: Invocation) => Promise<Finding>

/** `nexus doctor`: exit code 1 when something needed does not work. */
export async function doctor(invocation: Invocation): Promise<number> {
  const { terminal, environment, cwd } = invocation
  const json = invocation.flags['json'] === true
  const configPath = stringFlag(invocation, 'config')
  const loaded = await loadConfig({ cwd, environment, ...(configPath !== undefined && { configPath }) })
  const findings: Finding[] = []
  for (const [subject, check] of Object.entries(CHECKS)) {
    const finding = await withProgress(terminal, `checking ${subject}`, () => check(loaded, invocation))
    findings.push(finding)
    if (!json) print(finding, invocation)
  }
  const diagnostics = findings.flatMap((finding) => finding.diagnostics)
  if (json) {
    const data = { findings: findings.map(({ subject, found }) => ({ subject, found })) }
    terminal.json(envelope('doctor', data, diagnostics))
  }
  return hasErrors(diagnostics) ? 1 : 0
}

const CHECKS: Readonly<Record<string, Check>> = {
  node: checkNode,
  state: checkState,
  config: checkConfiguration,
  sandbox: checkCommands,
  skills: checkSkills,
  model: checkModel,
}

function print({ subject, found, diagnostics }: Finding, { terminal }: Invocation): void {
  const worst = hasErrors(diagnostics)
    ? terminal.paint('red', '✗')
    : diagnostics.some((diagnostic) => diagnostic.severity === 'warning')
      ? terminal.paint('yellow', '!')
      : terminal.paint('green', '✓')
  terminal.line(`${worst} ${terminal.paint('bold', subject.padEnd(9))} ${found}`)
  for (const diagnostic of diagnostics)
    terminal.line(formatDiagnostic(diagnostic, terminal.paint).replace(/^/gm, '    '))
}

async function checkNode(): Promise<Finding> {
  return { subject: 'node', found: `${process.version} at ${process.execPath}`, diagnostics: [] }
}

/** Opens the file as every command that records does; the directory is made when it is missing. */
async function checkState(_loaded: LoadedConfig, { environment }: Invocation): Promise<Finding> {
  const path = stateFile(environment)
  const isNew = !existsSync(path)
  try {
    const store = await openSqliteStore({ path, projectId: DEFAULT_PROJECT })
    try {
      const [last] = await store.sessions.list({ limit: 1 })
      const found = isNew ? 'new' : last ? `last used ${new Date(last.updatedAt).toISOString()}` : 'no session yet'
      return { subject: 'state', found: `${path} (${found})`, diagnostics: [] }
    } finally {
      await store.close()
    }
  } catch (error) {
    return { subject: 'state', found: path, diagnostics: [toDiagnostic(error, { path, severity: 'error' })] }
  }
}

async function checkConfiguration(loaded: LoadedConfig, invocation: Invocation): Promise<Finding> {
  const files = loaded.files.length === 0 ? 'no nexus.yaml, defaults hold' : loaded.files.join(', ')
  return {
    subject: 'config',
    found: `${files}; workspace ${trustText(loaded.workspace)}`,
    diagnostics: [...loaded.diagnostics, ...(await findInSettings(loaded, invocation))],
  }
}

/** Runs a trial command in the sandbox, as the first real command would. */
async function checkCommands(loaded: LoadedConfig): Promise<Finding> {
  const options = sandboxOptions(loaded)
  const diagnostics = await checkSandbox(options)
  if (hasErrors(diagnostics)) return { subject: 'sandbox', found: 'commands cannot be confined here', diagnostics }
  const sandbox = await createSandbox(options)
  try {
    const { target } = await sandbox.facts()
    const found = options.kind === 'none' ? target : `${target}; a trial command ran well`
    return { subject: 'sandbox', found, diagnostics }
  } finally {
    await sandbox.close()
  }
}

async function checkSkills(loaded: LoadedConfig, invocation: Invocation): Promise<Finding> {
  // What openFor would print is told by the other checks.
  const quiet = { ...invocation, terminal: { ...invocation.terminal, isWatched: false, note: () => undefined } }
  try {
    const local = await openFor(quiet, { record: 'memory' })
    try {
      const { skills, held, shadowed, rejected } = local.runtime.catalog()
      const found = `${skills.length} ready, ${held.length} held, ${shadowed.length} shadowed, ${rejected.length} broken`
      const diagnostics = rejected.flatMap((broken) => {
        const [first] = diagnoseInvalid(broken).findings
        if (!first) return []
        const { command: _, ...found } = withCommands(first, invocation)
        return [{ ...found, path: broken.file, severity: 'warning' as const }]
      })
      return {
        subject: 'skills',
        found,
        diagnostics: [...diagnostics, ...budgetDiagnostics(loaded, local.runtime.index())],
      }
    } finally {
      await local.close()
    }
  } catch (error) {
    const diagnostics = [toDiagnostic(error, { path: 'skills', severity: 'error' })]
    return { subject: 'skills', found: 'cannot be looked for', diagnostics }
  }
}

async function checkModel({ config }: LoadedConfig, { environment }: Invocation): Promise<Finding> {
  try {
    const { model: configured } = config
    // A command that gives the key is not run only to look: something stands in for it.
    const isFromCommand = configured?.hasApiKey === true && configured.apiKey === undefined
    const shown = isFromCommand ? { ...configured, apiKey: 'not-asked-for' } : configured
    const model = await resolveModel({ environment, ...(shown && { configured: shown }) })
    const none =
      'none named; the demo uses a recorded one. Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or model: in nexus.yaml'
    return {
      subject: 'model',
      found: `${model?.describe ?? none}${isFromCommand ? '; its key comes from a command, which was not run' : ''}`,
      diagnostics: [],
    }
  } catch (error) {
    const diagnostics = [toDiagnostic(error, { path: 'model', severity: 'warning' })]
    return { subject: 'model', found: 'named, but not usable', diagnostics }
  }
}

/** An expected error as a finding; a fault in Nexus itself stays one. */
function toDiagnostic(error: unknown, about: { path: string; severity: Severity }): Diagnostic {
  if (!isNexusError(error)) throw error
  const { code, message, fix } = error
  return { code, message, ...about, ...(fix !== undefined && { fix }) }
}
