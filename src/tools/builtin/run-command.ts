import { join } from 'node:path'
import {
  DEFAULTS,
  type Failed,
  type JsonObject,
  type Services,
  type Tool,
  type ToolContext,
  toSafeLine,
  toSafeText,
} from '../../kernel/index.ts'
import type { CommandResult, OnBytes } from '../../machine/sandbox/index.ts'
import type { OutcomeLimits } from '../bound.ts'
import { defineTool } from '../define.ts'
import { type CommandFinding, findingsOf, namesOfUnset } from '../findings/index.ts'
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
import { cutStreams, toRan } from './command-outcome.ts'
import { commandPlace } from './command-paths.ts'
import { commandProblem } from './command-words.ts'
import { NO_SKILLS, type OwnedCommand, SKILL_COMMANDS, type SkillCommands } from './skill-commands.ts'

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
      ...(skillCommands && { skillArgument: 'skill_name' }),
    },
    execute: async (args, context) => {
      const command = String(args.command ?? '')
      const isConfined = services.get(SANDBOX)?.kind !== 'none'
      const problem = commandProblem(command, { ...settings, isConfined })
      if (problem) return problem
      const place = commandPlace(services, args, context.limits)
      if (place.type === 'failed') return place
      const { type: _, workspace, cwd, ...limited } = place
      const owned = await ownerOf(skillCommands, args, context)
      if (owned.type === 'failed') return owned
      const timeoutMs = args.timeout_sec === undefined ? defaultMs : Math.ceil(Number(args.timeout_sec) * 1000)
      const { env } = owned
      const asked = {
        command,
        workspace,
        cwd,
        timeoutMs,
        env,
        maxOutputBytes: settings.maxOutputBytes,
        ...limited,
      }
      const { signal, onOutput, maxLiveBytes = 0 } = context
      const run = (onBytes?: OnBytes): Promise<CommandResult> =>
        services.require(SANDBOX).run({ ...asked, onOutput, maxLiveBytes, onBytes }, signal)
      const limits = shownLimits(settings)
      const { shown, saved } = await runKept(services, { context, limits, run })
      const isTyped = context.origin === 'cli'
      const found = explain(services, { command, workspace, cwd, result: shown, isConfined, isTyped, owned })
      // More time does not help a command that waits for the network.
      const isSlow = shown.end === 'timeout' && !found.some(({ code }) => code === 'no-network')
      const limit = isSlow ? [timeLimit({ timeoutMs, maxMs, isTyped }, settings)] : []
      const findings = [...owned.findings, ...limit, ...found]
      return toRan(shown, { timeoutMs, limits, owned, findings, saved })
    },
  })
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

/** What the model has to know before its first command: system, directory, and what commands cannot reach. */
function describe(services: Services, defaultSeconds: number): string {
  const sandbox = services.get(SANDBOX)
  const target = services.get(TARGET)
  const workspace = services.get(WORKSPACE)
  const system = SYSTEMS.get(target?.os ?? '')
  const isConfined = sandbox?.kind !== 'none'
  return [
    `Run a bash command line${system === undefined ? '' : ` on ${system}`}${isConfined ? ' in a sandbox' : ', without a sandbox'}.`,
    `It starts in the workspace${workspace === undefined ? '' : ` ${toSafeLine(workspace)}`}.`,
    ...(target?.network === false ? ['There is no network: commands cannot download or install anything.'] : []),
    ...(isConfined
      ? ['Only files in the workspace are kept. The home directory and /tmp are empty for each command.']
      : []),
    `Returns exit code, stdout and stderr. The default time limit is ${defaultSeconds} s.`,
  ].join(' ')
}

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

async function ownerOf(
  skillCommands: SkillCommands | undefined,
  { command, skill_name: skillName }: JsonObject,
  context: ToolContext,
): Promise<OwnedCommand | Failed> {
  if (!skillCommands) return NO_SKILLS
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

/** Runs the command, and keeps the whole of a stream that is cut for the model. */
async function runKept(
  services: Services,
  {
    context,
    limits,
    run,
  }: { context: ToolContext; limits: OutcomeLimits; run: (onBytes?: OnBytes) => Promise<CommandResult> },
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

/** What can be read from the result, and variables that may explain a failure. */
function explain(
  services: Services,
  ran: Pick<Parameters<typeof findingsOf>[0], 'command' | 'workspace' | 'result' | 'isConfined' | 'isTyped'> & {
    readonly cwd: string
    readonly owned: OwnedCommand
  },
): readonly CommandFinding[] {
  const { owned, cwd, ...rest } = ran
  const target = services.get(TARGET)
  const skillsDirectory = target?.skillsDirectory
  const found = findingsOf({
    ...rest,
    startedIn: join(ran.workspace, cwd),
    network: target?.network,
    skillDirectories: [
      ...owned.skillDirectories,
      ...(skillsDirectory === undefined ? [] : [{ path: skillsDirectory }]),
    ],
    findOnHost: services.get(EXECUTION)?.findOnHost,
  })
  return [...found, ...explaining(owned, ran.command, { result: ran.result, isExplained: found.length > 0 })]
}

/** Variables that were not given, when the command failed and that may be why. */
function explaining(
  { findings, suspects, aboutUnset }: OwnedCommand,
  command: string,
  { result, isExplained }: { readonly result: CommandResult; readonly isExplained: boolean },
): readonly CommandFinding[] {
  if (result.end === 'exit' && result.exitCode === 0) return []
  const text = `${command}\n${result.stderr}\n${result.stdout}`
  const isNamed = (name: string): boolean => new RegExp(`(?<![A-Za-z0-9_])${name}(?![A-Za-z0-9_])`).test(text)
  const known = suspects
    .filter(({ finding, ifNamed }) => isNamed(finding.subject) || (!ifNamed && !isExplained))
    .map(({ finding }) => finding)
  const others = namesOfUnset({ command, result })
    .filter((name) => ![...findings, ...known].some(({ subject }) => subject === name))
    .map(aboutUnset)
  return [...known, ...others.filter((finding) => finding !== undefined)]
}

function timeLimit(
  { timeoutMs, maxMs, isTyped }: { readonly timeoutMs: number; readonly maxMs: number; readonly isTyped: boolean },
  { settingsFile }: ExecutionSettings,
): CommandFinding {
  return {
    code: 'time-limit',
    subject: `${timeoutMs / 1000} s`,
    maxSeconds: maxMs / 1000,
    isTyped,
    ...(settingsFile !== undefined && { file: settingsFile }),
  }
}
