import { type JsonObject, newId, type Outcome, quotedWord, toSafeLine, commandFix } from '../../../../kernel/index.ts'
import type { Local } from '../../../../local/index.ts'
import { type Answer, type Invocation, stringFlag } from '../../command.ts'
import { CANCELLED, callError, errorOf } from '../../failure.ts'
import { commandInput } from '../../interactive/command-input.ts'
import { createProgress } from '../../interactive/progress.ts'
import { agentFlag, agentOf, openFor, diagnosticsOf, warnUnconfined } from '../../open.ts'
import { noteSets, setsOfCalls } from '../../show/change-set.ts'
import { noteDenials } from '../policy.ts'
import { seenIn } from '../../show/facts.ts'
import { exitText, answerHint, notesOf } from '../../show/turn.ts'
import { pathsOfSkills, type ShowPaths, showPathsLive } from '../../show/skill-paths.ts'
import { notLoaded } from '../../show/not-found.ts'

/** Bytes of each stream in `--json`; of the rest only the number is given. */
const JSON_MAX_BYTES = 8 * 1024 * 1024
/** The exit code of a command whose reader went away: 128 + SIGPIPE. */
const READER_GONE = 141

/** `nexus skills run <name> -- <command…>`: the command's output passes through; its exit code is ours. */
export async function runSkill(invocation: Invocation): Promise<Answer> {
  const [name] = invocation.positionals
  if (name === undefined || invocation.rest.length === 0) {
    throw errorOf(
      'INVALID_ARGUMENT',
      'Nothing was run: nexus skills run needs the name of a skill and, after --, a command.',
      commandFix(
        'For example:',
        ...['skills', 'run', 'csv-report', '--', 'node', '{baseDir}/scripts/report.mjs', 'data.csv'],
      ),
    )
  }
  await using local = await openFor(invocation, { needsTrust: true })
  const timeoutSec = secondsFlag(invocation, local)
  warnUnconfined(local, invocation)
  // One session for both calls: findings about the command go by the skills loaded in it.
  const agent = agentOf(local, invocation, newId())
  const baseDir = await baseDirOf(agent, name, local, invocation)
  const showPaths = pathsOfSkills(local, agentFlag(invocation), invocation.terminal)
  const command = { command: toCommand(invocation.rest, baseDir), skill_name: name }
  const args = timeoutSec === undefined ? command : { ...command, timeout_sec: timeoutSec }
  const ran = await execute(agent, args, showPaths, invocation)
  return await report(ran, showPaths, local, invocation)
}

type Agent = ReturnType<Local['runtime']['openAgent']>

interface Ran {
  readonly judged: Awaited<ReturnType<Agent['call']>>
  /** The whole output with `--json`; else it has been printed. */
  readonly streams: Readonly<Record<'stdout' | 'stderr', string[]>>
  readonly hasInput: boolean
}

/** Everything that comes passes through, however much it is; memory stays flat since the command waits for our output. */
async function execute(agent: Agent, args: JsonObject, showPaths: ShowPaths, invocation: Invocation): Promise<Ran> {
  const { terminal, signal } = invocation
  const stderr = showPathsLive(showPaths, terminal.writeNote)
  const json = invocation.flags['json'] === true
  const streams: Ran['streams'] = { stdout: [], stderr: [] }
  const progress = createProgress(terminal)
  progress.begin('starting the command')
  // Its words would be between those that are typed.
  const input = commandInput(progress.end)
  try {
    const judged = await agent.call(
      { tool: 'run_command', arguments: args, origin: 'cli' },
      {
        onAsked: ({ approvalId, isOpen }) => {
          progress.end()
          if (isOpen) input?.hold()
          else input?.goOn()
          if (!isOpen || terminal.isInteractive || invocation.flags['yes'] === true) return
          terminal.note(answerHint(approvalId, terminal))
        },
        signal: AbortSignal.any([signal, terminal.outputEnd]),
        input: input?.stream,
        maxLiveBytes: json ? JSON_MAX_BYTES : Number.MAX_SAFE_INTEGER,
        onOutput: ({ stream, text }) => {
          progress.end()
          if (json) streams[stream].push(text)
          else if (stream === 'stdout') terminal.write(text)
          else stderr.add(text)
        },
      },
    )
    return { judged, streams, hasInput: input !== undefined }
  } finally {
    input?.end()
    stderr.end()
    progress.end()
  }
}

async function report(
  { judged, streams, hasInput }: Ran,
  showPaths: ShowPaths,
  local: Local,
  invocation: Invocation,
): Promise<Answer> {
  const { outcome } = judged
  const { terminal, signal } = invocation
  for (const note of notesOf(outcome)) terminal.note(`note: ${toSafeLine(showPaths(note))}`)
  for (const note of silence(outcome, hasInput)) terminal.note(`note: ${note}`)
  const changes = (await setsOfCalls(local.loaded, new Set([judged.entry.call.id]))) ?? []
  noteSets(changes, terminal)
  // `main` prints the reason when the program ends.
  if (terminal.outputFailure && !signal.aborted)
    return { exit: terminal.outputFailure.why === 'gone' ? READER_GONE : 1 }
  await noteDenials([judged.entry], local, invocation)
  return {
    data: outcome.data?.['exit_code'] === undefined ? null : { ...toData(outcome, streams), changes },
    diagnostics: diagnosticsOf(local),
    ...(outcome.type === 'failed'
      ? { error: signal.aborted ? CANCELLED : callError(outcome) }
      : { exit: Number(outcome.data['exit_code'] ?? 0) }),
  }
}

/** A person does not see an end without a word. */
function silence({ data = {}, stats = {} }: Outcome, hasInput: boolean): readonly string[] {
  const { exit_code: exitCode } = data
  const isSilent = Number(stats['stdout_bytes'] ?? 0) + Number(stats['stderr_bytes'] ?? 0) === 0
  if (typeof exitCode !== 'number' || exitCode <= 0 || !isSilent) return []
  const noInput = hasInput ? '' : ' Its standard input was empty.'
  return [`The command ended with ${exitText(exitCode)} and wrote nothing.${noInput}`]
}

/** The streams whole up to the limit, not the shortened ones that a model gets. */
function toData({ data = {}, stats = {} }: Outcome, streams: Ran['streams']): JsonObject {
  const isCut = (name: 'stdout_bytes' | 'stderr_bytes'): boolean => Number(stats[name] ?? 0) > JSON_MAX_BYTES
  return {
    exit_code: Number(data['exit_code']),
    stdout: streams.stdout.join(''),
    stderr: streams.stderr.join(''),
    stdout_bytes: Number(stats['stdout_bytes'] ?? 0),
    stderr_bytes: Number(stats['stderr_bytes'] ?? 0),
    stdout_truncated: isCut('stdout_bytes'),
    stderr_truncated: isCut('stderr_bytes'),
    duration_ms: Number(stats['duration_ms'] ?? 0),
    notes: [...notesOf({ data })],
    ...(data['hosts'] !== undefined && { hosts: data['hosts'] }),
  }
}

/** Loads the skill through the pipeline, so that trust, policy and ledger see it, and returns where its files are. */
async function baseDirOf(agent: Agent, name: string, local: Local, invocation: Invocation): Promise<string> {
  const { outcome, entry } = await agent.call(
    { tool: 'load_skill', arguments: { skill_name: name }, origin: 'cli' },
    { signal: invocation.signal },
  )
  if (outcome.type !== 'failed') return String(outcome.data['base_dir'])
  await noteDenials([entry], local, invocation)
  throw await notLoaded(outcome, name, seenIn(local, invocation), invocation)
}

/** One word is a command line; several are words, quoted so that the shell sees them as given. */
function toCommand(words: readonly string[], baseDir: string): string {
  const filled = words.map((word) => word.replaceAll('{baseDir}', () => baseDir))
  const [only] = filled
  return filled.length === 1 ? (only as string) : filled.map(quotedWord).join(' ')
}

function secondsFlag(invocation: Invocation, local: Local): number | undefined {
  const text = stringFlag(invocation, 'timeout')
  if (text === undefined) return undefined
  const seconds = Number(text)
  const max = maxTimeoutSec(agentOf(local, invocation))
  if (seconds > 0 && seconds <= max) return seconds
  throw errorOf(
    'INVALID_ARGUMENT',
    `--timeout ${toSafeLine(text)} is not a number of seconds from 1 to ${max}.`,
    `Write, for example, --timeout ${Math.min(60, max)}. To allow more, set execution.timeoutMs in nexus.yaml.`,
  )
}

/** Seconds. */
function maxTimeoutSec(agent: Agent): number {
  const tool = agent.definitions().find(({ name }) => name === 'run_command')
  const properties = tool?.parameters['properties'] as { timeout_sec?: { maximum?: number } } | undefined
  return properties?.timeout_sec?.maximum ?? Number.POSITIVE_INFINITY
}
