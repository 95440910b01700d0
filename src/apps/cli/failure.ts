import {
  type ErrorCode,
  type Failed,
  type FailureCode,
  type Fix,
  isNexusError,
  NexusError,
  type ProposedCommand,
  toSafeLine,
  toSafeText,
} from '../../kernel/index.ts'
import { fixText, type Terminal } from './terminal.ts'

export function errorOf(code: ErrorCode, message: string, fix?: Fix, cause?: unknown): NexusError {
  return new NexusError(code, message, { ...(typeof fix === 'string' ? { fix } : fix), cause })
}

export function many(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly fix?: string
  readonly proposal?: ProposedCommand
  /** Only for faults of Nexus itself. */
  readonly trace?: string
}

export const CANCELLED = { code: 'CANCELLED', message: 'Cancelled.' } as const satisfies Failure

/** An error of any kind as a failure. */
export function toFailure(error: unknown): Failure {
  if (isNexusError(error)) {
    const { code, message, fix, proposal } = error
    return { code, message: toSafeText(message), fix: fix && toSafeText(fix), proposal }
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const message = 'The command failed because of a fault in Nexus itself. Please report it with these lines:'
  return { code: 'INTERNAL', message, trace }
}

/** Characters of a word of the command line that errors repeat. */
export const MOST_REPEATED = 200

/** The failure with long words of the command line by their beginning, wherever a sentence repeats them. */
export function shortened({ message, fix, proposal, ...failure }: Failure, argv: readonly string[]): Failure {
  const words = argv.flatMap((word) => [word, word.replace(/^--[\w-]+=/, '')]).map(toSafeLine)
  const long = words.filter(({ length }) => length > MOST_REPEATED)
  const cut = (text: string): string =>
    long.reduce((all, word) => all.replaceAll(word, `${word.slice(0, MOST_REPEATED)}…`), text)
  const args = proposal && { ...proposal, args: proposal.args.map(cut) }
  return { ...failure, message: cut(message), fix: fix && cut(fix), proposal: args }
}

/** On stderr. */
export function printFailure(failure: Failure, terminal: Terminal): void {
  const { code, message, trace } = failure
  if (code === 'CANCELLED') return terminal.note(message)
  const fix = fixText(failure, terminal)
  terminal.note(`${terminal.paintNote('red', 'error')} ${code}: ${message}`)
  if (fix !== undefined) terminal.note(`  ${terminal.paintNote('cyan', 'fix:')} ${fix.replaceAll('\n', '\n    ')}`)
  if (trace !== undefined) terminal.note(trace)
}

/** The error behind a failed call: the one it carries, else the one that is nearest to its code. */
export function callError(
  { code, error, message, fix }: Failed,
  options: Pick<Failure, 'fix' | 'proposal'> = {},
): NexusError {
  return new NexusError(error ?? ERRORS[code], toSafeText(message), fix === undefined ? options : { fix })
}

const ERRORS: Readonly<Record<FailureCode, ErrorCode>> = {
  NOT_FOUND: 'FILE_NOT_FOUND',
  ACCESS_DENIED: 'PATH_OUTSIDE',
  PERMISSION_DENIED: 'CALL_DENIED',
  INVALID_PARAM: 'INVALID_ARGUMENT',
  TIMEOUT: 'TIMEOUT',
  CANCELLED: 'CANCELLED',
  INTERNAL_ERROR: 'INTERNAL',
  EXECUTION_ERROR: 'SANDBOX_FAILED',
  CONFLICT: 'CONFLICT',
  IS_DIRECTORY: 'INVALID_ARGUMENT',
  BINARY_FILE: 'INVALID_ARGUMENT',
  CIRCUIT_OPEN: 'CONFLICT',
  INTERRUPTED: 'STORE_FAILED',
}
