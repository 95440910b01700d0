/** ends: why a command ended as it did, where its own words do not say it. */
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

const SIGNALS: ReadonlyMap<number, readonly [name: string, why: string]> = new Map([
  [129, ['SIGHUP', 'its terminal or its parent ended']],
  [130, ['SIGINT', 'something interrupted it']],
  [131, ['SIGQUIT', 'something ended it']],
  [132, ['SIGILL', 'it is built for another processor, or broken']],
  [133, ['SIGTRAP', 'it stopped at a trap of its own']],
  [134, ['SIGABRT', 'it gave up by itself, as after a failed check']],
  [135, ['SIGBUS', 'a file that it had mapped became shorter, or memory is broken']],
  [136, ['SIGFPE', 'it divided by zero']],
  [137, ['SIGKILL', 'the system killed it, most often for memory']],
  [139, ['SIGSEGV', 'it used memory that is not its own']],
  [141, ['SIGPIPE', 'nothing read its output']],
  [143, ['SIGTERM', 'something asked it to end']],
  [152, ['SIGXCPU', 'it used up its time on the processor']],
  [159, ['SIGSYS', 'it made a system call that the sandbox refuses']],
])

/** A program that a signal ended without a word. */
export function signalFinding({ result }: CommandRun): CommandFinding | undefined {
  const [name, why] = SIGNALS.get(result.exitCode) ?? []
  const isSilent = result.stdout.trim() === '' && result.stderr.trim() === ''
  if (name === undefined || !isSilent || result.end !== 'exit') return undefined
  return {
    code: 'ended-by-signal',
    subject: name,
    message: `A signal ended the command (${name}, exit code ${result.exitCode}): ${why}.`,
    fix: 'Run it again with its own option for more output, such as --verbose.',
  }
}
