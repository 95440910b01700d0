/** cli: the `nexus` command. Finds the command in the table, loads it, and turns errors into messages and exit codes. */
import { type Environment, readEnvironment } from '../../config/index.ts'
import { CODES } from '../../kernel/index.ts'
import { type Arguments, missingCommand, readArguments, unknownCommand } from './arguments/read-arguments.ts'
import { type Cancellation, prepareCancellation } from './cancellation.ts'
import type { Command } from './command.ts'
import { envelope, exitOf } from './envelope.ts'
import { CANCELLED, errorOf, MOST_REPEATED, printFailure, shortened, toFailure } from './failure.ts'
import { commandHelp, groupHelp, overview } from './help.ts'
import { findCommand, isGroup } from './table.ts'
import { createTerminal, type Terminal } from './terminal.ts'

export { findCommand }

/** Runs one command line (without `node` and the script) and resolves to the exit code. Never throws. */
export async function main(argv: readonly string[], version: string): Promise<number> {
  const environment = readEnvironment()
  const terminal = createTerminal(environment)
  const cancellation = prepareCancellation(terminal)
  let code: number
  try {
    code = await dispatch({ argv, version, terminal, environment, cancellation })
  } catch (error) {
    code = reportError(error, argv, terminal, cancellation.used())
  } finally {
    cancellation.release()
  }
  await terminal.drained()
  const { why = 'gone' } = terminal.outputFailure ?? {}
  // A reader that went away wanted no more.
  if (why === 'gone') return code
  terminal.note(`error: the output could not be written: ${why.message}`)
  return CODES.INTERNAL.exit
}

interface Process {
  readonly argv: readonly string[]
  readonly version: string
  readonly terminal: Terminal
  readonly environment: Environment
  readonly cancellation: Cancellation
}

async function dispatch(own: Process): Promise<number> {
  const { argv, terminal, version } = own
  const [first = '--help', second] = argv
  if (['--help', '-h', 'help'].includes(first)) return showHelp(argv.slice(1), terminal)
  if (first === '--version' || first === '-V') {
    if (argv.includes('--json')) terminal.json(envelope('version', { version }))
    else terminal.line(version)
    return 0
  }
  const command = findCommand(argv)
  if (!command) {
    if (!isGroup(first) || (second !== undefined && !second.startsWith('-'))) throw unknownCommand(argv)
    return showGroup(first, argv, terminal)
  }
  const words = command.name.split(' ')
  const given = readArguments(command, argv.slice(words.length), () => own.environment.home)
  if (given.flags['help'] === true) return showHelp(words, terminal)
  const environment = readEnvironment(undefined, { argv, asRoot: given.flags['as-root'] === true })
  return answer(command, given, { ...own, environment })
}

/** Runs the command, and prints its answer: one document with `--json`, else text. */
async function answer(command: Command, given: Arguments, own: Process): Promise<number> {
  const { terminal, cancellation, version, environment } = own
  const { name } = command
  const isJson = given.flags['json'] === true || given.flags['format'] === 'json'
  const cwd = workingDirectory()
  const run = await command.load()
  if (command.isService === true) cancellation.quiet()
  if (command.reloads === true) cancellation.withoutHangup()
  const result = await run({
    ...given,
    command: name,
    version,
    terminal: isJson ? terminal.besideDocument() : terminal,
    environment,
    cwd,
    cancel: cancellation.cancel,
    get signal() {
      return cancellation.signal()
    },
  })
  const { data = null, show, ...ends } = result
  const about = { ...ends, error: ends.error && shortened(ends.error, own.argv) }
  if (about.error && !show) printFailure(about.error, terminal)
  if (isJson) terminal.json(envelope(name, data, about))
  else await show?.()
  return exitOf(about)
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    const fix = 'Change to a directory that exists: cd ~'
    throw errorOf('FILE_NOT_FOUND', 'The working directory was removed.', fix, cause)
  }
}

function showHelp(words: readonly string[], terminal: Terminal): number {
  const [first = '-'] = words
  const command = findCommand(words)
  if (command) terminal.line(commandHelp(command, terminal))
  else if (isGroup(first)) terminal.line(groupHelp(first, terminal))
  else if (first.startsWith('-')) terminal.line(overview(terminal))
  else throw unknownCommand(words)
  return 0
}

/** A group named without a command: exit code 2, unless its help was asked for. */
function showGroup(group: string, argv: readonly string[], terminal: Terminal): number {
  if (argv[1] === '--help' || argv[1] === '-h') return showHelp([group], terminal)
  if (argv.includes('--json')) throw missingCommand(group)
  terminal.note(groupHelp(group, terminal.besideDocument()))
  return CODES.INVALID_ARGUMENT.exit
}

/** Prints the message on stderr, and with `--json` the document on stdout. */
function reportError(
  error: unknown,
  argv: readonly string[],
  terminal: Terminal,
  signal: AbortSignal | undefined,
): number {
  // After a cancel everything that is thrown is a consequence of it.
  const failure = signal?.aborted ? CANCELLED : shortened(toFailure(error), argv)
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  printFailure(failure, terminal)
  if (own.includes('--json')) {
    const words = own.filter((word) => !word.startsWith('-')).slice(0, 2)
    const name = findCommand(argv)?.name ?? words.map((word) => word.slice(0, MOST_REPEATED)).join(' ')
    terminal.json(envelope(name, null, { error: failure }))
  }
  return CODES[failure.code].exit
}
