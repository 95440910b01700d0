import { join } from 'node:path'
import {
  DEFAULTS,
  type JsonObject,
  type Services,
  shownRule,
  type Tool,
  type ToolContext,
  toSafeLine,
  toSafeText,
} from '../../kernel/index.ts'
import type { CommandResult, OnBytes } from '../../machine/sandbox/index.ts'
import type { OutcomeLimits } from '../bound.ts'
import { defineTool } from '../define.ts'
import type { CommandFinding, CommandRun } from '../findings/command-run.ts'
import { findingsOf } from '../findings/patterns.ts'
import {
  EXECUTION,
  type ExecutionSettings,
  REDACT_TEXT,
  type RedactText,
  SANDBOX,
  TARGET,
  WORKSPACE,
} from '../services.ts'
import { OUTPUT_KEEPER, openStreams, type SavedOutput } from '../saved-output.ts'
import { commandOutcome, cutStreams } from './command-outcome.ts'
import { commandNetwork, commandPlace, setupPath } from './command-request.ts'
import { commandProblem } from '../command-words.ts'
import { NO_SKILLS, type OwnedCommand, SKILL_COMMANDS } from './skill-commands.ts'

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
    description: describe(services, defaultMs / 1000),
    parameters: parametersOf(maxMs / 1000, skillCommands !== undefined),
    options: {
      timeoutMs: maxMs + WATCHDOG_ROOM_MS,
      capabilities: ['network', 'secrets'],
      skillArgument: skillCommands && 'skill_name',
    },
    execute: async (args, context) => {
      const command = String(args.command ?? '')
      const isConfined = services.get(SANDBOX)?.kind !== 'none'
      const problem = commandProblem(command, { ...settings, isConfined })
      if (problem) return problem
      const place = commandPlace(services, args, context.limits)
      if (place.type === 'failed') return place
      const { type: _, workspace, cwd, ...limited } = place
      const owned = skillCommands ? await skillCommands.own(command, String(args.skill_name ?? ''), context) : NO_SKILLS
      if (owned.type === 'failed') return owned
      const timeoutMs = timeoutIn(args) ?? defaultMs
      const { env } = owned
      const { maxOutputBytes } = settings
      const network = isConfined ? await commandNetwork(settings, owned, context) : undefined
      const path = await setupPath(services, owned, { network, context })
      if ('type' in path) return path
      const { signal, input: stdin, onOutput, maxLiveBytes } = context
      const maker = { tool: 'run_command', call: context.callId }
      const asked = {
        command,
        workspace,
        cwd,
        maker,
        timeoutMs,
        env,
        maxOutputBytes,
        stdin,
        onOutput,
        maxLiveBytes,
        network,
        path,
        cache: owned.cache,
        ...limited,
      }
      const run = (onBytes?: OnBytes): Promise<CommandResult> =>
        services.require(SANDBOX).run({ ...asked, onBytes }, signal)
      const limits = shownLimits(settings)
      const { shown: result, saved } = await runKept(services, context, limits, run)
      const isTyped = context.origin === 'cli'
      const startedIn = join(workspace, cwd)
      const ended = { command, workspace, startedIn, result, isConfined, isTyped, isInputEmpty: stdin === undefined }
      const slow = result.end === 'timeout' ? [timeLimit(services, timeoutMs, maxMs, isTyped)] : []
      const findings = [...owned.findings, ...slow, ...findingsIn(services, owned, ended)]
      return commandOutcome({ result, timeoutMs, limits, owned, findings, saved, hasInput: stdin !== undefined })
    },
  })
}

function timeoutIn({ timeout_sec: seconds }: JsonObject): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000)
}

function parametersOf(maxSeconds: number, hasSkills: boolean): JsonObject {
  return {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command line' },
      timeout_sec: { type: 'number', exclusiveMinimum: 0, maximum: maxSeconds, description: 'Time limit in seconds' },
      cwd: { type: 'string', description: 'Directory to start in, relative to the workspace' },
      ...(hasSkills && { skill_name: SKILL_NAME }),
    },
    required: ['command'],
  }
}

/** The description names what a model needs before its first command: system, directory, and what commands cannot reach. */
function describe(services: Services, defaultSeconds: number): string {
  const sandbox = services.get(SANDBOX)
  const target = services.get(TARGET)
  const workspace = services.get(WORKSPACE)
  const system = SYSTEMS.get(target?.os ?? '')
  const isConfined = sandbox?.kind !== 'none'
  return [
    `Run a bash command line${system === undefined ? '' : ` on ${system}`}${isConfined ? ' in a sandbox' : ', without a sandbox'}.`,
    `It starts in the workspace${workspace === undefined ? '' : ` ${toSafeLine(workspace)}`}.`,
    ...(target?.network === false ? [networkWords(services)] : []),
    ...(isConfined
      ? ['Only files in the workspace are kept. The home directory and /tmp are empty for each command.']
      : []),
    `Returns exit code, stdout and stderr. The default time limit is ${defaultSeconds} s.`,
  ].join(' ')
}

/** Hosts of a skill are known when its commands run, so they are named by the results only. */
function networkWords(services: Services): string {
  const { allowed = [] } = services.get(EXECUTION)?.network ?? {}
  if (allowed.length === 0) return 'There is no network: commands cannot download or install anything.'
  const shown = allowed.slice(0, MAX_HOSTS).map(shownRule)
  const more = allowed.length > MAX_HOSTS ? `, and ${allowed.length - MAX_HOSTS} more` : ''
  return `Commands reach only these hosts, through the proxy that their variables name: ${shown.join(', ')}${more}.`
}

const MAX_HOSTS = 20

const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['linux', 'Linux'],
  ['darwin', 'macOS'],
  ['windows', 'Windows'],
])

const SKILL_NAME = {
  type: 'string',
  description:
    'Only for a command that works for a loaded skill: the name of that skill. The command then gets the variables that are set for it',
} as const

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

/** Runs the command, and keeps the whole of a stream that is cut for the model. */
async function runKept(
  services: Services,
  context: ToolContext,
  limits: OutcomeLimits,
  run: (onBytes?: OnBytes) => Promise<CommandResult>,
): Promise<{ readonly shown: CommandResult; readonly saved: readonly SavedOutput[] }> {
  const keeper = services.get(OUTPUT_KEEPER)
  const redactText = services.get(REDACT_TEXT)
  if (!keeper) return { shown: clean(await run(), redactText), saved: [] }
  const streams = openStreams(keeper, context)
  try {
    const shown = clean(await run(streams.write), redactText)
    return { shown, saved: await streams.finish(cutStreams(shown, limits)) }
  } catch (error) {
    await streams.finish({ stdout: false, stderr: false })
    throw error
  }
}

/** Before anything is cut again: half a secret would not be known as one. */
function clean(result: CommandResult, redactText: RedactText = (text) => text): CommandResult {
  const { stdout, stderr, stdoutTruncated, stderrTruncated } = result
  return {
    ...result,
    stdout: blank(stdout, stdoutTruncated, redactText),
    stderr: blank(stderr, stderrTruncated, redactText),
  }
}

/** Without secrets, also without those that only show when control characters are left out, as in what the model reads. */
function blank(text: string, isCut: boolean, redactText: RedactText): string {
  const safe = toSafeText(text)
  const shown = redactText(safe, isCut)
  const clean = redactText(text, isCut)
  return shown === safe || toSafeText(clean) === shown ? clean : shown
}

function findingsIn(
  services: Services,
  owned: OwnedCommand,
  run: Omit<CommandRun, 'network' | 'hostSetting' | 'skillDirectories' | 'findOnHost'>,
): readonly CommandFinding[] {
  const { network, skillsDirectory } = services.get(TARGET) ?? {}
  const skillDirectories = [...owned.skillDirectories, skillsDirectory].filter((each) => each !== undefined)
  const { findOnHost, settingsFile: file = 'nexus.yaml' } = services.get(EXECUTION) ?? {}
  const hostSetting = { name: owned.network.setting ?? 'execution.network.allowedDomains', file }
  const found = findingsOf({ ...run, network, hostSetting, skillDirectories, findOnHost })
  return [...found, ...owned.notGiven({ ...run, isExplained: found.length > 0 })]
}

function timeLimit(services: Services, timeoutMs: number, maxMs: number, isTyped: boolean): CommandFinding {
  const { settingsFile } = services.get(EXECUTION) ?? {}
  // More time does not help a command that waits for the network.
  const network = services.get(TARGET)?.network === false ? 'The sandbox has no network. ' : ''
  const setting = `execution.timeoutMs${settingsFile === undefined ? '' : ` in ${settingsFile}`}`
  const how = isTyped ? '--timeout SECONDS' : 'a larger timeout_sec'
  return {
    code: 'time-limit',
    subject: `${timeoutMs / 1000} s`,
    message: `The time limit of this command was ${timeoutMs / 1000} s.`,
    fix: `${network}Give it more time: ${how} (at most ${maxMs / 1000}). For all commands, ${isTyped ? '' : 'the user can '}set ${setting}.`,
  }
}
