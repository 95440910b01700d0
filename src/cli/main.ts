/** cli: the `nexus` command; finds the command in the table, loads it, and turns errors into words and exit codes. */
import { readEnvironment } from '../config/index.ts'
import { CODES, NexusError } from '../kernel/index.ts'
import { readArguments } from './arguments/read-arguments.ts'
import type { Command, Invocation } from './command.ts'
import { envelope } from './envelope.ts'
import { errorMember, printFailure, toFailure } from './failure.ts'
import { COMMANDS } from './table.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** Runs one command line (without `node` and the script) and resolves to the exit code. Never throws. */
export async function main(argv: readonly string[], version: string): Promise<number> {
  const environment = readEnvironment()
  const terminal = createTerminal({
    noColor: environment.NO_COLOR !== undefined || environment.TERM === 'dumb',
    isDumb: environment.TERM === 'dumb',
    forceColor: environment.FORCE_COLOR !== undefined && environment.FORCE_COLOR !== '0',
  })
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
  const { why } = outputFailure ?? { why: 'gone' as const }
  if (why === 'gone') return undefined
  note(`error: the output could not be written: ${why.message}`)
  return CODES.INTERNAL.exit
}

type Surroundings = Pick<Invocation, 'terminal' | 'environment'> & {
  readonly version: string
  readonly cancelling: Cancelling
}

async function dispatch(argv: readonly string[], around: Surroundings): Promise<number> {
  const [first] = argv
  if (first === undefined || first === '--help' || first === '-h' || first === 'help')
    return showHelp(argv.slice(1), around.terminal)
  if (first === '--version' || first === '-V') {
    if (argv.includes('--json')) around.terminal.json(envelope('version', { version: around.version }))
    else around.terminal.line(around.version)
    return 0
  }
  const command = findCommand(argv)
  if (!command) return noCommand(argv, around.terminal)
  const words = command.name.split(' ').length
  const invocation = await toInvocation(command, argv.slice(words), around)
  if (invocation.flags['help'] === true) return showHelp(command.name.split(' '), around.terminal)
  const extra = extraWord(command, invocation)
  if (extra !== undefined) throw (await import('./arguments/mistakes.ts')).extraArgument(command, extra)
  const run = await command.load()
  return run(invocation)
}

function findCommand(argv: readonly string[]): Command | undefined {
  const two = argv.slice(0, 2).join(' ')
  return COMMANDS.find((command) => command.name === two) ?? COMMANDS.find((command) => command.name === argv[0])
}

/** The first word that the usage of the command has no place for: it must not be ignored. */
function extraWord({ usage = '' }: Command, { positionals, rest }: Invocation): string | undefined {
  const [own = '', command] = usage.split('-- ')
  if (own.includes('…') || own.includes('"')) return undefined
  const most = own.split(' ').filter((word) => word !== '').length
  return positionals[most] ?? (command === undefined ? rest[0] : undefined)
}

const HELP = { type: 'boolean', short: 'h' } as const

async function toInvocation(command: Command, args: readonly string[], around: Surroundings): Promise<Invocation> {
  const split = args.indexOf('--')
  const own = split === -1 ? args : args.slice(0, split)
  const cwd = workingDirectory()
  try {
    const { values, positionals } = readArguments(own, { help: HELP, ...command.options })
    const { terminal, environment, cancelling } = around
    return {
      command: command.name,
      flags: values,
      positionals,
      rest: split === -1 ? [] : args.slice(split + 1),
      terminal,
      environment,
      get signal() {
        return cancelling.signal()
      },
      cancel: cancelling.cancel,
      cwd,
    }
  } catch (error) {
    throw (await import('./arguments/mistakes.ts')).wrongOption(command, error as Error)
  }
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

async function showHelp(words: readonly string[], terminal: Terminal): Promise<number> {
  const { commandHelp, groupHelp, overview } = await import('./help.ts')
  const [first = ''] = words
  const command = findCommand(words)
  if (command) terminal.line(commandHelp(command, terminal))
  else if (isGroup(first)) terminal.line(groupHelp(first, terminal))
  else if (first === '' || first.startsWith('-')) terminal.line(overview(terminal))
  else throw (await import('./arguments/mistakes.ts')).unknownCommand(words)
  return 0
}

function isGroup(word: string): boolean {
  return COMMANDS.some((command) => command.name.startsWith(`${word} `))
}

/** A group that was named alone, or a mistake. */
async function noCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first = '', second] = argv
  if (isGroup(first) && (second === '--help' || second === '-h')) return showHelp([first], terminal)
  const { missingCommand, unknownCommand } = await import('./arguments/mistakes.ts')
  if (!isGroup(first) || (second !== undefined && !second.startsWith('-'))) throw unknownCommand(argv)
  if (argv.includes('--json')) throw missingCommand(first)
  const { groupHelp } = await import('./help.ts')
  terminal.note(groupHelp(first, { paint: terminal.paintNote, columns: terminal.noteColumns }))
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
    const name =
      findCommand(argv)?.name ??
      own
        .filter((word) => !word.startsWith('-'))
        .slice(0, 2)
        .join(' ')
    terminal.json(envelope(name, null, { error: errorMember(failure), exit }))
  }
  return exit
}

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** After a second signal the clean-up has this long: a command's grace time, and what follows it. The runner outlives us anyway. */
const LAST_WAIT_MS = 3_000

/** How an invocation is cancelled. Whoever asks for the signal means to stop in order; until then a signal ends the process as usual. */
interface Cancelling {
  signal(): AbortSignal
  /** The signal, when anybody has asked for it. */
  asked(): AbortSignal | undefined
  cancel(): void
  release(): void
}

/** The first Ctrl-C, stop of a service or end of the terminal cancels; a second one bounds how long that may take. */
function prepareCancelling(terminal: Terminal): Cancelling {
  let controller: AbortController | undefined
  let lastWait: NodeJS.Timeout | undefined
  const begin = (): AbortController => {
    if (controller) return controller
    for (const name of ENDING_SIGNALS) process.on(name, cancel)
    return (controller = new AbortController())
  }
  const cancel = (): void => {
    const { signal } = begin()
    if (!signal.aborted) {
      terminal.note(`\nCancelling … (Ctrl-C again to wait at most ${LAST_WAIT_MS / 1000} s)`)
      controller?.abort(new NexusError('CANCELLED', 'Cancelled by the user.'))
    } else lastWait ??= setTimeout(() => process.exit(CODES.CANCELLED.exit), LAST_WAIT_MS)
  }
  return {
    signal: () => begin().signal,
    asked: () => controller?.signal,
    cancel,
    release: () => {
      clearTimeout(lastWait)
      for (const name of ENDING_SIGNALS) process.off(name, cancel)
    },
  }
}
