import { isAbsolute, relative, resolve, sep } from 'node:path'
import {
  DEFAULTS,
  type Failed,
  failed,
  type JsonObject,
  type Outcome,
  type Services,
  succeeded,
  type Tool,
  type ToolContext,
  toSafeLine,
  toSafeText,
} from '../../kernel/index.ts'
import type { CommandResult } from '../../sandbox/index.ts'
import { headOf, type OutcomeLimits, toTruncation } from '../bound.ts'
import { defineTool } from '../define.ts'
import { EXECUTION, type ExecutionSettings, REDACT_TEXT, type RedactText, SANDBOX, WORKSPACE } from '../services.ts'
import { commandProblem } from './command-words.ts'
import { type OwnedCommand, SKILL_COMMANDS, type SkillCommands } from './skill-commands.ts'

/**
 * `run_command{command*, timeout_sec?, cwd?, skill_name?}` → `{exit_code, stdout, stderr}` in the sandbox. A command for a skill gets
 * that skill's variables, as the service `SKILL_COMMANDS` says. An exit code other than 0 is a result, not a failure. The list of blocked words is a courtesy to the user: the sandbox is the boundary.
 * Source: seed 002; contracts §3.2.
 */
export function createRunCommandTool(services: Services): Tool {
  const settings = services.get(EXECUTION) ?? {}
  const skillCommands = services.get(SKILL_COMMANDS)
  const maxMs = settings.maxTimeoutMs ?? Math.max(DEFAULT_MAX_TIMEOUT_MS, settings.timeoutMs ?? 0)
  const defaultMs = settings.timeoutMs ?? DEFAULTS.commandTimeoutMs
  return defineTool({
    name: 'run_command',
    description: `Run a bash command line in the sandbox, in the workspace. Returns exit code, stdout and stderr. Default time limit ${defaultMs / 1000} s.`,
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', description: 'The command line' },
        timeout_sec: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: maxMs / 1000,
          description: 'Time limit in seconds',
        },
        cwd: { type: 'string', description: 'Directory to start in, relative to the workspace' },
        ...(skillCommands && { skill_name: SKILL_NAME }),
      },
      required: ['command'],
    },
    options: {
      timeoutMs: maxMs + WATCHDOG_ROOM_MS,
      capabilities: ['network', 'secrets'],
      ...(skillCommands && { skillArgument: 'skill_name' }),
    },
    execute: async (args, context) => {
      const command = String(args.command ?? '')
      const problem = commandProblem(command, settings)
      if (problem) return problem
      const workspace = services.get(WORKSPACE)
      if (workspace === undefined) return failed('EXECUTION_ERROR', 'No workspace is set, so no command can run.')
      const cwd = toCwd(workspace, String(args.cwd ?? '.'))
      if (cwd === undefined)
        return failed('ACCESS_DENIED', `cwd '${toSafeLine(String(args.cwd))}' is outside the workspace.`)
      const owned = await ownerOf(skillCommands, args, context)
      if (owned.type === 'failed') return owned
      const timeoutMs = args.timeout_sec === undefined ? defaultMs : Math.ceil(Number(args.timeout_sec) * 1000)
      const result = await services.require(SANDBOX).run(
        {
          command,
          workspace,
          cwd,
          timeoutMs,
          ...(Object.keys(owned.env).length > 0 && { env: owned.env }),
          ...(settings.maxOutputBytes !== undefined && { maxOutputBytes: settings.maxOutputBytes }),
          ...(context.onOutput && { onOutput: context.onOutput }),
          ...(context.maxLiveBytes !== undefined && { maxLiveBytes: context.maxLiveBytes }),
        },
        context.signal,
      )
      return toRan(clean(result, services.get(REDACT_TEXT)), { timeoutMs, limits: shownLimits(settings), owned })
    },
  })
}

const SKILL_NAME = {
  type: 'string',
  description:
    'Only for a command that works for a loaded skill: its name. The command then gets the variables set for that skill',
} as const

async function ownerOf(
  skillCommands: SkillCommands | undefined,
  { command, skill_name: skillName }: JsonObject,
  context: ToolContext,
): Promise<OwnedCommand | Failed> {
  if (!skillCommands) return { type: 'owned', env: {}, notes: [] }
  return skillCommands.own({ text: String(command), ...(typeof skillName === 'string' && { skillName }) }, context)
}

const DEFAULT_MAX_TIMEOUT_MS = 600_000
/** The watchdog of the call is never shorter than the command's own limit and its end. Source: decisions, "limits". */
const WATCHDOG_ROOM_MS = 10_000

/** Source: contracts §3.2: 10,000 each; more only when configured, and never so much that the two pass an outcome's limits. */
const DEFAULT_SHOWN_BYTES = 10_000
const MAX_SHOWN_BYTES = 24_000
const MAX_SHOWN_LINES = 950

function shownLimits({ maxOutputBytes = DEFAULT_SHOWN_BYTES }: ExecutionSettings): OutcomeLimits {
  return { maxLines: MAX_SHOWN_LINES, maxBytes: Math.min(maxOutputBytes, MAX_SHOWN_BYTES) }
}

function toCwd(workspace: string, cwd: string): string | undefined {
  const inside = relative(workspace, resolve(workspace, cwd))
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return undefined
  return inside || '.'
}

interface Around {
  readonly timeoutMs: number
  readonly limits: OutcomeLimits
  readonly owned: OwnedCommand
}

/** Before anything is cut again: half a secret would not be known as one. */
function clean(result: CommandResult, redactText: RedactText = (text) => text): CommandResult {
  const { stdout, stderr, stdoutTruncated, stderrTruncated } = result
  return { ...result, stdout: redactText(stdout, stdoutTruncated), stderr: redactText(stderr, stderrTruncated) }
}

function toRan(result: CommandResult, { timeoutMs, limits, owned }: Around): Outcome {
  const stdout = headOf(result.stdout, limits)
  const stderr = headOf(result.stderr, limits)
  const isOutCut = stdout.isCut || result.stdoutTruncated
  const isErrorCut = stderr.isCut || result.stderrTruncated
  const output: JsonObject = {
    stdout: isOutCut ? stdout.text + CUT : stdout.text,
    stderr: isErrorCut ? stderr.text + CUT : stderr.text,
  }
  const cut = isOutCut || isErrorCut ? { truncated: true, truncation: truncationOf(result, limits) } : {}
  const told = [...result.notes, ...owned.notes].map(toSafeLine)
  const data: JsonObject = {
    exit_code: result.exitCode,
    ...output,
    ...ownerData(owned),
    ...(told.length > 0 && { notes: told }),
    ...cut,
  }
  const stats = {
    duration_ms: Math.round(result.durationMs),
    stdout_bytes: result.stdoutBytes,
    stderr_bytes: result.stderrBytes,
  }
  const notes = told.map((note) => `Note: ${note}`)
  if (result.end !== 'exit') return failed(...ending(result, timeoutMs, notes), { data, stats })
  const more = cut.truncated ? ['The output is cut: send it to a file and read parts of it (head, tail, grep).'] : []
  const text = [
    `Exit code: ${result.exitCode}${result.exitCode === 0 ? '' : ' (the command reports a failure)'}`,
    ...blocks(output),
    ...more,
    ...notes,
  ].join('\n')
  return cut.truncated ? { type: 'partial', text, data, stats } : succeeded(text, data, { stats })
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
  notes: readonly string[],
): ['TIMEOUT' | 'CANCELLED' | 'EXECUTION_ERROR', string] {
  const tail = notes.length > 0 ? `\n${notes.join('\n')}` : ''
  if (end === 'timeout') return ['TIMEOUT', `Command timed out after ${timeoutMs / 1000}s${tail}`]
  if (end === 'cancelled') return ['CANCELLED', `Command was cancelled${tail}`]
  const signal = exitCode > 128 ? ` by signal ${exitCode - 128}` : ''
  return ['EXECUTION_ERROR', `Command was killed${signal}: it reached a limit, or something else ended it${tail}`]
}
