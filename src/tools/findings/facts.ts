/** facts: findings about a command from what Nexus saw of it, whatever it wrote. */
import { constants } from 'node:os'
import { readHostRule, shownHost, toSafeLine, WEB_PORTS } from '../../kernel/index.ts'
import { type CommandFinding, type CommandRun, hasFailed } from './command-run.ts'

export function factsOf(run: CommandRun): readonly CommandFinding[] {
  const found = [inputFinding(run), signalFinding(run), survivorsFinding(run), homeFinding(run)]
  return [...refusedFindings(run), ...found.filter((finding) => finding !== undefined)]
}

const MAX_REFUSED = 5

/** Hosts that the proxy of the command refused. */
function refusedFindings(run: CommandRun): readonly CommandFinding[] {
  const { refused = [] } = run.result.network ?? {}
  return refused.slice(0, MAX_REFUSED).map(({ host, port, because, message, fix }) => ({
    code: 'host-refused',
    subject: `${host}:${port}`,
    message,
    fix: because === 'not-allowed' ? allowing(shownHost({ host, port }), run) : fix,
  }))
}

/** How a host is opened; undefined for what is no name of one. */
export function openingOf(subject: string, run: CommandRun): string | undefined {
  const portOf = (text: string, port: string): string => (WEB_PORTS.includes(Number(port)) ? '' : text)
  const host = readHostRule(subject.replace(/:(\d+)$/, portOf))?.host
  return host === undefined ? undefined : allowing(host, run)
}

function allowing(shown: string, { hostSetting, isTyped }: CommandRun): string {
  const where = `add ${shown} to ${hostSetting.name} in ${hostSetting.file}`
  return isTyped
    ? `To allow it, ${where}. For this run only, add --network ${shown}.`
    : `Only the user can allow it: ${where}.`
}

/** A last line, without its end, that waits for an answer. */
const ASKS =
  /\[(?:y\/n|yes\/no)\]\s*:?\s*$|\((?:y\/n|yes\/no)\)\s*[:?]?\s*$|(?:password|passphrase|passcode)[^\n]{0,80}:\s*$|\?\s*$/i

function inputFinding({ isInputEmpty, result }: CommandRun): CommandFinding | undefined {
  const asked = [result.stderr, result.stdout].map((text) => text.slice(-400).split('\n').at(-1) ?? '')
  const isAsking = isInputEmpty && hasFailed(result) && asked.some((line) => ASKS.test(line))
  return isAsking ? { code: 'no-input', ...NO_INPUT } : undefined
}

/** Also for programs that say that their input is at its end. */
export const NO_INPUT = {
  subject: 'standard input',
  message: 'The command waited for an answer, and its standard input is empty.',
  fix: 'Use its option that asks nothing, such as --yes. Or give it the answer: echo y | COMMAND',
} as const

function signalFinding({ result }: CommandRun): CommandFinding | undefined {
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

function survivorsFinding({ result: { stillRunning = [] } }: CommandRun): CommandFinding | undefined {
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

function homeFinding({ workspace, result: { leftInHome = [] } }: CommandRun): CommandFinding | undefined {
  const [first, ...others] = leftInHome
  if (first === undefined) return undefined
  const left = others.length === 0 ? `~/${first} was` : `~/${first} and ${others.length} more were`
  return {
    code: 'home-discarded',
    subject: `~/${first}`,
    message: `${left} not kept. Nexus removes the home directory of a command when it ends.`,
    fix: `Write to a path in ${workspace} instead.`,
  }
}
