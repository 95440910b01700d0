import { createInterface } from 'node:readline/promises'
import { type Call, type Diagnostic, NexusError, toSafeLine } from '../kernel/index.ts'
import type { Local, LocalOptions } from '../local.ts'
import { trustWorkspace } from '../config/index.ts'
import { type Invocation, listFlag, stringFlag } from './command.ts'
import { formatDiagnostic, shorten, type Terminal } from './terminal.ts'

/** How a command opens the runtime. */
export interface OpenOptions extends Pick<LocalOptions, 'record' | 'trusted' | 'cwd'> {
  /** The command runs skills: it asks, or stops, when the workspace holds untrusted ones. */
  readonly needsTrust?: boolean
}

/**
 * Opens the local runtime as the command's flags say, and prints what is wrong with the configuration to stderr. Errors
 * in it stop every command but those that merely look and record nothing (`record: 'memory'`).
 */
export async function openFor(invocation: Invocation, options: OpenOptions = {}): Promise<Local> {
  const { openLocal } = await import('../local.ts')
  const local = await openLocal(toLocalOptions(invocation, options))
  printDiagnostics(local.diagnostics, invocation.terminal)
  if (!options.needsTrust || local.workspace.trusted || !holdsUntrusted(local)) return local
  await local.close()
  await trustOrStop(local, invocation)
  return openLocal({ ...toLocalOptions(invocation, options), trusted: true })
}

function toLocalOptions(invocation: Invocation, options: OpenOptions): LocalOptions {
  const configPath = stringFlag(invocation, 'config')
  return {
    cwd: options.cwd ?? invocation.cwd,
    environment: invocation.environment,
    skillsDirs: listFlag(invocation, 'skills-dir'),
    signal: invocation.signal,
    approve: (call, question, signal) => approve(invocation, call, { question, signal }),
    ...sandboxFlag(invocation),
    ...(configPath !== undefined && { configPath }),
    ...((invocation.flags['trust'] === true || options.trusted === true) && { trusted: true }),
    ...(options.record !== undefined && { record: options.record }),
    ...(options.record === 'memory' && options.needsTrust !== true && { tolerateConfigErrors: true }),
  }
}

function sandboxFlag(invocation: Invocation): { sandbox?: 'local' | 'none' } {
  const kind = stringFlag(invocation, 'sandbox')
  if (kind === undefined) return {}
  if (kind === 'local' || kind === 'none') return { sandbox: kind }
  throw new NexusError('INVALID_ARGUMENT', `--sandbox ${kind}: there is no such sandbox.`, {
    fix: 'Use --sandbox local or --sandbox none.',
  })
}

/** Prints errors and warnings to stderr; information stays with `config check` and `skills check`. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], terminal: Terminal): void {
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== 'info') terminal.note(formatDiagnostic(diagnostic, terminal.paintNote))
  }
}

/** The runtime's view of one agent; throws INVALID_ARGUMENT when `--agent` names none. */
export function agentFlag(invocation: Invocation): string | undefined {
  return stringFlag(invocation, 'agent')
}

function holdsUntrusted(local: Local): boolean {
  return local.runtime.catalog().held.some((held) => held.reasons.some((reason) => reason.code === 'untrusted'))
}

async function trustOrStop(local: Local, invocation: Invocation): Promise<void> {
  const directory = local.workspace.directory
  const meaning = `${toSafeLine(directory)} is not trusted. Its skills may tell the model what to do and run commands in the sandbox; its nexus.yaml may change settings.`
  const agreed =
    invocation.terminal.isInteractive && (await askYesNo(`${meaning}\nTrust this workspace from now on?`, invocation))
  if (!agreed) {
    throw new NexusError('UNTRUSTED_WORKSPACE', meaning, {
      fix: `Look at it, then type: nexus trust ${directory}   (or add --trust for this run)`,
    })
  }
  await trustWorkspace({ nexusHome: local.loaded.nexusHome, directory })
}

async function approve(
  invocation: Invocation,
  call: Call,
  about: { question: string; signal: AbortSignal },
): Promise<boolean> {
  if (invocation.flags['yes'] === true) return true
  if (!invocation.terminal.isInteractive) return false
  const what = shorten(toSafeLine(JSON.stringify(call.arguments)), 300)
  return askYesNo(`${about.question}\n  ${call.tool} ${what}\nAllow it?`, invocation)
}

/** Asks on stderr; anything but y or yes is no. Rejects when the signal aborts. */
async function askYesNo(question: string, invocation: Invocation): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await reader.question(`${question} [y/N] `, { signal: invocation.signal })
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    reader.close()
  }
}
