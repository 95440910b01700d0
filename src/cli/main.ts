/** cli: the `nexus` command; finds the command in the table, loads it, and turns errors into words and exit codes. */
import { type Environment, readEnvironment } from '../config/index.ts'
import { CODES, NexusError } from '../kernel/index.ts'
import { readArguments } from './arguments/read-arguments.ts'
import { missingCommand, unknownCommand } from './arguments/unknown-command.ts'
import { type Cancelling, prepareCancelling } from './cancelling.ts'
import { envelope } from './envelope.ts'
import { errorMember, printFailure, toFailure } from './failure.ts'
import { commandHelp, groupHelp, overview } from './help.ts'
import { findCommand, isGroup } from './table.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** Runs one command line (without `node` and the script) and resolves to the exit code. Never throws. */
export async function main(argv: readonly string[], version: string): Promise<number> {
  const environment = readEnvironment()
  const terminal = createTerminal(environment)
  const cancelling = prepareCancelling(terminal)
  let code: number
  try {
    code = await dispatch(argv, { version, terminal, environment, cancelling })
  } catch (error) {
    code = reportError(error, { argv, terminal, signal: cancelling.asked() })
  } finally {
    cancelling.release()
  }
  await terminal.drained()
  return unwritten(terminal) ?? code
}

/** Data that did not arrive is a failure, whatever the command says. A reader that went away wanted no more. */
function unwritten({ outputFailure, note }: Terminal): number | undefined {
  if (outputFailure === undefined || outputFailure.why === 'gone') return undefined
  note(`error: the output could not be written: ${outputFailure.why.message}`)
  return CODES.INTERNAL.exit
}

interface Surroundings {
  readonly version: string
  readonly terminal: Terminal
  readonly environment: Environment
  readonly cancelling: Cancelling
}

async function dispatch(argv: readonly string[], around: Surroundings): Promise<number> {
  const { terminal, environment, cancelling, version } = around
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
  const given = readArguments(command, argv.slice(words.length))
  if (given.flags['help'] === true) return showHelp(words, terminal)
  const cwd = workingDirectory()
  const run = await command.load()
  return run({
    ...given,
    ...{ command: command.name, terminal, environment, cwd, cancel: cancelling.cancel },
    get signal() {
      return cancelling.signal()
    },
  })
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new NexusError('FILE_NOT_FOUND', 'The working directory does not exist any more.', {
      fix: 'cd to a directory that exists',
      cause,
    })
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

/** A group that was named alone: its help is an answer when it was asked for, else the answer to a mistake. */
function showGroup(group: string, argv: readonly string[], terminal: Terminal): number {
  if (argv[1] === '--help' || argv[1] === '-h') return showHelp([group], terminal)
  if (argv.includes('--json')) throw missingCommand(group)
  terminal.note(groupHelp(group, { paint: terminal.paintNote, columns: terminal.noteColumns }))
  return CODES.INVALID_ARGUMENT.exit
}

/** Words on stderr, and on stdout the document that `--json` promised. */
function reportError(
  error: unknown,
  { argv, terminal, signal }: { argv: readonly string[]; terminal: Terminal; signal: AbortSignal | undefined },
): number {
  const failure = toFailure(error, signal)
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  const exit = printFailure(failure, terminal)
  if (own.includes('--json')) {
    const words = own.filter((word) => !word.startsWith('-')).slice(0, 2)
    const name = findCommand(argv)?.name ?? words.join(' ')
    terminal.json(envelope(name, null, { error: errorMember(failure), exit }))
  }
  return exit
}
