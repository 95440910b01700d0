import { NexusError, type Outcome, toSafeText } from '../../kernel/index.ts'
import type { Local } from '../../local.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { agentFlag, openFor } from '../open.ts'
import { warnUnconfined } from './run.ts'

/** `nexus skills run <name> -- <command…>`: the command's output passes through; its exit code is ours. */
export async function runSkill(invocation: Invocation): Promise<number> {
  const [name] = invocation.positionals
  if (name === undefined || invocation.rest.length === 0) {
    throw new NexusError('INVALID_ARGUMENT', 'nexus skills run: give the name of a skill and, after --, the command.', {
      fix: `nexus skills run csv-report -- node '{baseDir}/scripts/report.mjs' data.csv`,
    })
  }
  const timeoutSec = secondsFlag(invocation)
  const local = await openFor(invocation, { needsTrust: true })
  try {
    warnUnconfined(local, invocation)
    const baseDir = await place(local, name, invocation)
    const command = toCommand(invocation.rest, baseDir)
    const json = invocation.flags['json'] === true
    const { terminal } = invocation
    const { outcome } = await local.runtime.call(
      {
        tool: 'run_command',
        arguments: { command, ...(timeoutSec !== undefined && { timeout_sec: timeoutSec }) },
        origin: 'cli',
        ...agentOf(invocation),
      },
      {
        signal: invocation.signal,
        ...(!json && {
          onOutput: ({ stream, text }) => (stream === 'stdout' ? terminal.write(text) : process.stderr.write(text)),
        }),
      },
    )
    if (json)
      terminal.json(
        envelope(
          'skills run',
          outcome.type === 'failed' ? { ok: false, code: outcome.code, message: outcome.message } : outcome.data,
        ),
      )
    return exitCodeOf(outcome)
  } finally {
    await local.close()
  }
}

/** Loads the skill through the pipeline, so that trust, policy and ledger see it, and returns where its files are. */
async function place(local: Local, name: string, invocation: Invocation): Promise<string> {
  const { outcome } = await local.runtime.call(
    { tool: 'load_skill', arguments: { skill_name: name }, origin: 'cli', ...agentOf(invocation) },
    { signal: invocation.signal },
  )
  if (outcome.type === 'failed') {
    throw new NexusError(outcome.code === 'NOT_FOUND' ? 'SKILL_NOT_FOUND' : 'CALL_DENIED', outcome.message, {
      fix: `nexus skills check ${name}`,
    })
  }
  return String(outcome.data['base_dir'])
}

/** One word is a command line; several are words, quoted so that the shell sees them as given. */
function toCommand(words: readonly string[], baseDir: string): string {
  const filled = words.map((word) => word.replaceAll('{baseDir}', () => baseDir))
  const [only] = filled
  return filled.length === 1 ? (only as string) : filled.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
}

function secondsFlag(invocation: Invocation): number | undefined {
  const text = stringFlag(invocation, 'timeout')
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  throw new NexusError('INVALID_ARGUMENT', `--timeout ${text}: give a number of seconds above 0.`)
}

function exitCodeOf(outcome: Outcome): number {
  if (outcome.type !== 'failed') return Number(outcome.data['exit_code'] ?? 0)
  if (outcome.code === 'CANCELLED') throw new NexusError('CANCELLED', toSafeText(outcome.message))
  throw new NexusError(outcome.code === 'TIMEOUT' ? 'TIMEOUT' : 'SANDBOX_FAILED', toSafeText(outcome.message))
}

function agentOf(invocation: Invocation): { agentId?: string } {
  const agentId = agentFlag(invocation)
  return agentId === undefined ? {} : { agentId }
}
