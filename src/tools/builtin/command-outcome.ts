/** command-outcome: a command's result as an outcome, with the notes that explain it. */
import { type JsonObject, type Outcome, succeeded, toSafeLine, toSafeText } from '../../kernel/index.ts'
import type { CommandResult } from '../../machine/sandbox/index.ts'
import { headOf, type OutcomeLimits, toTruncation } from '../bound.ts'
import type { CommandFinding } from '../findings/command-run.ts'
import { COMMANDS, failedBy, type Message } from '../messages.ts'
import { describeSaved, type SavedOutput, savedRows } from '../saved-output.ts'
import type { OwnedCommand } from './skill-commands.ts'

interface EndedRun {
  readonly result: CommandResult
  readonly timeoutMs: number
  readonly limits: OutcomeLimits
  readonly owned: OwnedCommand
  readonly findings: readonly CommandFinding[]
  /** The streams that are cut, kept whole. */
  readonly saved: readonly SavedOutput[]
  /** Whether it could read a standard input. */
  readonly hasInput: boolean
}

export function commandOutcome(run: EndedRun): Outcome {
  const { result, timeoutMs, limits, owned, findings, saved } = run
  const stdout = headOf(result.stdout, limits)
  const stderr = headOf(result.stderr, limits)
  const isCut = cutStreams(result, limits)
  const output: JsonObject = {
    stdout: isCut.stdout ? stdout.text + CUT : stdout.text,
    stderr: isCut.stderr ? stderr.text + CUT : stderr.text,
  }
  const cut = isCut.stdout || isCut.stderr ? cutData(result, limits, saved) : undefined
  const notes = notesOf(result, findings)
  const about = dataOf(owned, notes, findings)
  const data: JsonObject = { exit_code: result.exitCode, ...output, ...about, ...hostsOf(result), ...cut }
  const stats = {
    duration_ms: Math.round(result.durationMs),
    stdout_bytes: result.stdoutBytes,
    stderr_bytes: result.stderrBytes,
  }
  if (result.end !== 'exit') {
    const fix = findings.find(({ code }) => code === 'time-limit')?.fix
    return failedBy(...ending(result, timeoutMs), { data, stats, fix: fix && toSafeLine(fix) })
  }
  const more = cut ? [COMMANDS.cut(), ...saved.map(describeSaved)] : []
  const text = [
    `Exit code: ${result.exitCode}${result.exitCode === 0 ? '' : ' (the command reports a failure)'}`,
    ...blocks(output, run),
    ...changedLine(result),
    ...more,
    ...notes.map((note) => `Note: ${note}`),
  ].join('\n')
  return cut ? { type: 'partial', text, data, stats } : succeeded(text, data, { stats })
}

/** The error says that the time was up, and has that fix: it needs no note. */
function notesOf(result: CommandResult, findings: readonly CommandFinding[]): readonly string[] {
  const noted = findings.filter(({ code }) => code !== 'time-limit')
  return [...result.notes, ...noted.map(({ message, fix }) => `${message} ${fix}`)].map(toSafeLine)
}

/** For the ledger also: for which skill the command ran, and which variables it got for that. */
function dataOf(
  { address, env }: OwnedCommand,
  notes: readonly string[],
  findings: readonly CommandFinding[],
): JsonObject {
  const variables = Object.keys(env)
  const rows = findings.map(({ code, subject }) => ({ code, subject: toSafeLine(subject) }))
  return {
    ...(address !== undefined && { skill: address }),
    ...(variables.length > 0 && { variables }),
    ...(notes.length > 0 && { notes }),
    ...(rows.length > 0 && { findings: rows }),
  }
}

/** For the ledger: every host that the command reached, with bytes, and those that were refused. */
function hostsOf({ network }: CommandResult): JsonObject {
  const { reached = [], refused = [] } = network ?? {}
  if (reached.length === 0 && refused.length === 0) return {}
  const rows = reached.map(({ host, port, connections, sentBytes, receivedBytes }) => ({
    host,
    port,
    connections,
    sent_bytes: sentBytes,
    received_bytes: receivedBytes,
  }))
  const no = refused.map(({ host, port, because, times }) => ({ host, port, because, times }))
  return { hosts: { reached: rows, refused: no } }
}

/** Source: contracts §3.2. */
const CUT = '\n... (output truncated)'

export function cutStreams(result: CommandResult, limits: OutcomeLimits): { stdout: boolean; stderr: boolean } {
  return {
    stdout: result.stdoutTruncated || headOf(result.stdout, limits).isCut,
    stderr: result.stderrTruncated || headOf(result.stderr, limits).isCut,
  }
}

/** The envelope has one place for a cut: it is about the longer stream. `saved_output` has each. */
function cutData(result: CommandResult, limits: OutcomeLimits, saved: readonly SavedOutput[]): JsonObject {
  const longer = result.stdoutBytes >= result.stderrBytes ? 'stdout' : 'stderr'
  const truncation = {
    ...toTruncation(
      headOf(result[longer], limits),
      limits,
      saved.find(({ name }) => name === longer),
    ),
    original_bytes: Math.max(result.stdoutBytes, result.stderrBytes),
  }
  const rows = savedRows(saved)
  return { truncated: true, truncation, ...(rows.length > 0 && { saved_output: rows }) }
}

/** One line, as the notes say what is held. */
function changedLine({ changes }: CommandResult): string[] {
  return changes && changes.applied.length > 0 ? [COMMANDS.changed(changes.applied)] : []
}

function blocks({ stdout, stderr }: JsonObject, { result: { exitCode }, hasInput }: EndedRun): string[] {
  const shown = Object.entries({ stdout: String(stdout), stderr: String(stderr) }).filter(([, text]) => text !== '')
  if (shown.length > 0) return shown.map(([name, text]) => `${name}:\n${toSafeText(text).trimEnd()}`)
  return [exitCode === 0 || hasInput ? '(no output)' : '(no output; commands have no standard input)']
}

function ending(
  { end, exitCode }: CommandResult,
  timeoutMs: number,
): ['TIMEOUT' | 'CANCELLED' | 'EXECUTION_ERROR', Message] {
  if (end === 'timeout') return ['TIMEOUT', COMMANDS.timedOut(timeoutMs / 1000)]
  if (end === 'cancelled') return ['CANCELLED', COMMANDS.cancelled()]
  return ['EXECUTION_ERROR', COMMANDS.killed(exitCode > 128 ? exitCode - 128 : undefined)]
}
