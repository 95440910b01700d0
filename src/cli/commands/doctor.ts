import { mkdirSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { resolveModel } from '../../agents/index.ts'
import { loadConfig } from '../../config/index.ts'
import { type Diagnostic, hasErrors, isNexusError } from '../../kernel/index.ts'
import { checkSandbox, createSandbox } from '../../sandbox/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { sandboxOptions } from '../../local.ts'
import { openFor } from '../open.ts'
import { formatDiagnostic } from '../terminal.ts'

/** One thing that was looked at: what was found, and what is wrong with it. */
interface Finding {
  readonly subject: string
  readonly found: string
  readonly diagnostics: readonly Diagnostic[]
}

/** `nexus doctor`: exit code 1 when something needed does not work. */
export async function doctor(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const findings: Finding[] = []
  for (const check of [checkNode, checkState, checkConfiguration, checkCommands, checkSkills, checkModel]) {
    const finding = await check(invocation)
    findings.push(finding)
    if (invocation.flags['json'] !== true) print(finding, invocation)
  }
  const diagnostics = findings.flatMap((finding) => finding.diagnostics)
  if (invocation.flags['json'] === true) {
    terminal.json(
      envelope('doctor', { findings: findings.map(({ subject, found }) => ({ subject, found })) }, diagnostics),
    )
  }
  return hasErrors(diagnostics) ? 1 : 0
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

async function checkState({ environment }: Invocation): Promise<Finding> {
  const path = environment.stateDirectory
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    await access(path, constants.W_OK)
    return { subject: 'state', found: path, diagnostics: [] }
  } catch (error) {
    const message = `The state directory cannot be written: ${(error as Error).message}`
    return {
      subject: 'state',
      found: path,
      diagnostics: [
        {
          code: 'state-unwritable',
          severity: 'error',
          message,
          path,
          fix: 'Set NEXUS_STATE_DIR to a directory you may write.',
        },
      ],
    }
  }
}

async function checkConfiguration(invocation: Invocation): Promise<Finding> {
  const configPath = stringFlag(invocation, 'config')
  const loaded = await loadConfig({
    cwd: invocation.cwd,
    environment: invocation.environment,
    ...(configPath !== undefined && { configPath }),
  })
  const files = loaded.files.length === 0 ? 'no nexus.yaml, defaults hold' : loaded.files.join(', ')
  return {
    subject: 'config',
    found: `${files}; workspace ${loaded.workspace.directory} (${loaded.workspace.trusted ? 'trusted' : 'not trusted: nexus trust'})`,
    diagnostics: loaded.diagnostics,
  }
}

/** Runs a trial command in the sandbox, as the first real command would. */
async function checkCommands(invocation: Invocation): Promise<Finding> {
  const loaded = await loadConfig({ cwd: invocation.cwd, environment: invocation.environment })
  const options = sandboxOptions(loaded)
  const diagnostics = await checkSandbox(options)
  if (hasErrors(diagnostics)) return { subject: 'sandbox', found: 'commands cannot be confined here', diagnostics }
  const sandbox = await createSandbox(options)
  const { target } = await sandbox.facts()
  await sandbox.close()
  return { subject: 'sandbox', found: `${target}; a trial command ran well`, diagnostics }
}

async function checkSkills(invocation: Invocation): Promise<Finding> {
  const local = await openFor(
    { ...invocation, terminal: { ...invocation.terminal, note: () => undefined } },
    { record: 'memory' },
  )
  try {
    const { skills, held, shadowed, rejected } = local.runtime.catalog()
    const found = `${skills.length} ready, ${held.length} held, ${shadowed.length} shadowed, ${rejected.length} broken`
    const diagnostics: Diagnostic[] = rejected
      .flatMap((broken) => broken.diagnostics.slice(0, 1))
      .map((diagnostic) => ({ ...diagnostic, severity: 'warning' }))
    return { subject: 'skills', found, diagnostics }
  } finally {
    await local.close()
  }
}

async function checkModel({ environment, cwd }: Invocation): Promise<Finding> {
  const loaded = await loadConfig({ cwd, environment })
  try {
    const { model: configured } = loaded.config
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
    if (!isNexusError(error)) throw error
    return {
      subject: 'model',
      found: 'named, but not usable',
      diagnostics: [
        {
          code: error.code,
          severity: 'warning',
          message: error.message,
          path: 'model',
          ...(error.fix !== undefined && { fix: error.fix }),
        },
      ],
    }
  }
}
