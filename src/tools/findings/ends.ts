/** ends: why a command ended as it did, where its own words do not say it. */
import { constants } from 'node:os'
import { toSafeLine } from '../../kernel/index.ts'
import { type CommandFinding, type CommandRun, hasFailed, linesOf } from './command-run.ts'

/** Programs that say that their input is at its end. */
const AT_END =
  /\bEOFError\b|EOF when reading|unexpected end of (?:file|input) (?:on|from) stdin|Inappropriate ioctl for device|the input device is not a TTY|stdin is not a (?:tty|terminal)/i
/** A last line, without its end, that waits for an answer. */
const ASKS =
  /\[(?:y\/n|yes\/no)\]\s*:?\s*$|\((?:y\/n|yes\/no)\)\s*[:?]?\s*$|(?:password|passphrase|passcode)[^\n]{0,80}:\s*$|\?\s*$/i

/** A command that failed while it waited for input. */
export function inputFinding(run: CommandRun): CommandFinding | undefined {
  if (!run.isInputEmpty || !hasFailed(run.result)) return undefined
  const atEnd = linesOf(run).find((line) => AT_END.test(line))
  const asked = [run.result.stderr, run.result.stdout].map((text) => text.slice(-400).split('\n').at(-1) ?? '')
  if (atEnd === undefined && !asked.some((line) => ASKS.test(line))) return undefined
  return {
    code: 'no-input',
    subject: 'standard input',
    message: 'The command waited for an answer, and its standard input is empty.',
    fix: 'Use its option that asks nothing, such as --yes. Or give it the answer: echo y | COMMAND',
  }
}

/** Processes that the command left behind. */
export function survivorsFinding({ result: { stillRunning = [] } }: CommandRun): CommandFinding | undefined {
  const [first] = stillRunning
  if (first === undefined) return undefined
  const list = stillRunning.map((words) => `'${toSafeLine(words)}'`).join(', ')
  return {
    code: 'still-running',
    subject: toSafeLine(first),
    message: `Nexus ended what still ran when the command ended: ${list}.`,
    fix: 'Start a server in the command that uses it, or wait for it there.',
  }
}

/** A program that a signal ended without a word. */
export function signalFinding({ result }: CommandRun): CommandFinding | undefined {
  const [name] = Object.entries(constants.signals).find(([, number]) => number === result.exitCode - 128) ?? []
  const isSilent = result.stdout.trim() === '' && result.stderr.trim() === ''
  if (name === undefined || !isSilent || result.end !== 'exit') return undefined
  return {
    code: 'ended-by-signal',
    subject: name,
    message: `A signal ended the command (${name}, exit code ${result.exitCode}).`,
    fix: 'Run it again with its own option for more output, such as --verbose.',
  }
}
