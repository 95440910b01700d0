/** command-outcome: a command's result as an outcome, with the notes that explain it. */
import { failed, type JsonObject, type Outcome, succeeded, toSafeLine, toSafeText } from '../../kernel/index.ts'
import type { CommandResult } from '../../sandbox/index.ts'
import { headOf, type OutcomeLimits, toTruncation } from '../bound.ts'
import { type CommandFinding, wordsOf } from '../findings/index.ts'
import type { OwnedCommand } from './skill-commands.ts'

interface Around {
  readonly timeoutMs: number
  readonly limits: OutcomeLimits
  readonly owned: OwnedCommand
  readonly findings: readonly CommandFinding[]
}

/** What the model, the person and the ledger get of a command. */
export function toRan(result: CommandResult, { timeoutMs, limits, owned, findings }: Around): Outcome {
  const stdout = headOf(result.stdout, limits)
  const stderr = headOf(result.stderr, limits)
  const isOutCut = stdout.isCut || result.stdoutTruncated
  const isErrorCut = stderr.isCut || result.stderrTruncated
  const output: JsonObject = {
    stdout: isOutCut ? stdout.text + CUT : stdout.text,
    stderr: isErrorCut ? stderr.text + CUT : stderr.text,
  }
  const cut = isOutCut || isErrorCut ? { truncated: true, truncation: truncationOf(result, limits) } : {}
  const told = [...result.notes.map(toSafeLine), ...findings.map(wordsOf)]
  const data: JsonObject = {
    exit_code: result.exitCode,
    ...output,
    ...ownerData(owned),
    ...noteData(told, findings),
    ...cut,
  }
  const stats = {
    duration_ms: Math.round(result.durationMs),
    stdout_bytes: result.stdoutBytes,
    stderr_bytes: result.stderrBytes,
  }
  if (result.end !== 'exit') return failed(...ending(result, timeoutMs), { data, stats })
  const more = cut.truncated ? ['The output is cut: send it to a file and read parts of it (head, tail, grep).'] : []
  const text = [
    `Exit code: ${result.exitCode}${result.exitCode === 0 ? '' : ' (the command reports a failure)'}`,
    ...blocks(output),
    ...more,
    ...told.map((note) => `Note: ${note}`),
  ].join('\n')
  return cut.truncated ? { type: 'partial', text, data, stats } : succeeded(text, data, { stats })
}

function noteData(notes: readonly string[], findings: readonly CommandFinding[]): JsonObject {
  return {
    ...(notes.length > 0 && { notes }),
    ...(findings.length > 0 && { findings: findings.map(toRow) }),
  }
}

function toRow({ code, subject }: CommandFinding): JsonObject {
  return { code, subject: toSafeLine(subject) }
}

/** For the ledger: for which skill the command ran, and which variables it got for that. */
function ownerData({ address, env }: OwnedCommand): JsonObject {
  const names = Object.keys(env)
  return { ...(address !== undefined && { skill: address }), ...(names.length > 0 && { variables: names }) }
}

/** Source: contracts §3.2. */
const CUT = '\n... (output truncated)'

function truncationOf(result: CommandResult, limits: OutcomeLimits): JsonObject {
  const worst = result.stdoutBytes >= result.stderrBytes ? result.stdout : result.stderr
  return {
    ...toTruncation(headOf(worst, limits), limits),
    original_bytes: Math.max(result.stdoutBytes, result.stderrBytes),
  }
}

function blocks({ stdout, stderr }: JsonObject): string[] {
  const shown = [
    ['stdout', String(stdout)],
    ['stderr', String(stderr)],
  ].filter(([, text]) => text !== '')
  return shown.length > 0
    ? shown.map(([name, text]) => `${name}:\n${toSafeText(text ?? '').trimEnd()}`)
    : ['(no output)']
}

function ending(
  { end, exitCode }: CommandResult,
  timeoutMs: number,
): ['TIMEOUT' | 'CANCELLED' | 'EXECUTION_ERROR', string] {
  if (end === 'timeout') return ['TIMEOUT', `Command timed out after ${timeoutMs / 1000}s`]
  if (end === 'cancelled') return ['CANCELLED', 'Command was cancelled']
  const signal = exitCode > 128 ? ` by signal ${exitCode - 128}` : ''
  return ['EXECUTION_ERROR', `Command was killed${signal}: it reached a limit, or something else ended it`]
}
