/** patterns: messages of common programs, each with its sentence and its fix. Add a finding about a command here. */
import { commandWords } from '../command-words.ts'
import { type CommandFinding, type CommandRun, type FindingCode, hasFailed, linesOf } from './command-run.ts'
import { scriptAt } from './script.ts'

type Row = readonly [
  pattern: RegExp,
  explain: (match: RegExpExecArray, run: CommandRun) => CommandFinding,
  /** Absent: with any code, because in a pipeline the last command gives it. */
  exitCodes?: readonly number[],
]

/** The first row that a line fits gives the finding. */
export function findingFor(rows: readonly Row[], run: CommandRun): CommandFinding | undefined {
  const lines = linesOf(run)
  for (const [pattern, explain, exitCodes] of rows) {
    if (exitCodes && !exitCodes.includes(run.result.exitCode)) continue
    const match = lines.map((line) => pattern.exec(line)).find((each) => each !== null)
    if (match) return explain(match, run)
  }
  return undefined
}

const finding = (code: FindingCode, subject: string, message: string, fix: string): CommandFinding => ({
  code,
  subject,
  message,
  fix,
})

const shell = (rest: string): RegExp => new RegExp(String.raw`^(?:\S+: line \d+: |\S*sh: \d+: |\S*sh: )(.+?): ${rest}`)

/** A program that did not start. */
const NOT_STARTED: readonly Row[] = [
  [shell('(?:command )?not found$'), ([, name = ''], run) => programMissing(name, run)],
  [
    /^\S*env: ['"\u2018](.+?)(\\r)?['"\u2019]: No such file or directory$/,
    ([, name = '', isCut], run) =>
      // `env` reports only the interpreter, so the script is the one that the command names.
      isCut === undefined
        ? programMissing(name, run)
        : carriageReturn(/^\s*(\S+)/.exec(run.command)?.[1] ?? 'the script', run),
    [127],
  ],
  [
    shell('(?:cannot execute: required file not found|.+?: bad interpreter)'),
    ([, file = ''], run) => {
      const { head, shown, original = 'the file' } = scriptAt(file, run)
      if (head?.endsWith('\r')) return carriageReturn(file, run)
      const name = /^#!\s*(\S+)/.exec(head ?? '')?.[1] ?? 'program of the name in its first line'
      return finding(
        'interpreter-missing',
        file,
        `The system did not run ${shown}: the sandbox has no ${name}.`,
        `Change the first line of ${original}, or name an interpreter in the command.`,
      )
    },
    [126, 127],
  ],
  [
    shell('cannot execute binary file'),
    ([, file = ''], run) =>
      finding(
        'not-executable',
        file,
        `The system cannot run ${scriptAt(file, run).shown}: it is not a program for this system.`,
        'Use a script, or a program built for Linux on this processor.',
      ),
    [126],
  ],
  [
    shell('Permission denied$'),
    ([, file = ''], run) => {
      const { head, shown, change } = scriptAt(file, run)
      // With `env`, the interpreter is the word after it.
      const name = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(\S+)/.exec(head ?? '')?.[1] ?? 'bash'
      return finding(
        'not-executable',
        file,
        `The system did not run ${shown}: the file is not executable.`,
        `Run it through its interpreter: ${name} ${file}. ${change('Or make it executable', 'chmod +x')}`,
      )
    },
    [126],
  ],
]

export function notStarted(run: CommandRun): CommandFinding | undefined {
  return findingFor(NOT_STARTED, run)
}

function programMissing(name: string, { findOnHost }: CommandRun): CommandFinding {
  const onHost = findOnHost?.(name)
  const why = onHost === undefined ? 'it is not installed here' : `commands do not see ${onHost}`
  return finding(
    'program-missing',
    name,
    `The command did not find the program '${name}': ${why}.`,
    'Install it for all users of this machine (in /usr/local/bin), or use another program.',
  )
}

function carriageReturn(file: string, run: CommandRun): CommandFinding {
  const { shown, change } = scriptAt(file, run)
  return finding(
    'interpreter-cr',
    file,
    `The system did not run ${shown}: its lines end with a carriage return (Windows line ends).`,
    change('Convert it', String.raw`sed -i 's/\r$//'`),
  )
}

/** An installer that may not change the machine, or a module that would have to be installed. Programs' own advice needs a network. */
const NOT_INSTALLED: readonly Row[] = [
  [
    /externally-managed-environment/,
    (_, { command }) => {
      const [, words = ''] = /\bpip3?\s+install\s+([^;&|<>]*)/.exec(command) ?? []
      const packages = unquoted(words)
        .split(/\s+/)
        .filter((word) => word !== '' && !word.startsWith('-'))
      return notInstalled('pip', `${pipInstall(packages.join(' '))} and the command that needs it.`)
    },
  ],
  [
    /(?:could not open lock file|unable to (?:acquire|lock)).*\/(?:dpkg|apt)\b/i,
    (_, { command }) => {
      const [typed = 'apt-get install', name = 'apt-get'] = /\b(apt(?:-get)?)\s+[^;&|<>]*/.exec(command) ?? []
      return notInstalled(name, `Install it outside the sandbox: ${unquoted(typed).trim()}`)
    },
  ],
  [
    /^ModuleNotFoundError: No module named '([A-Za-z_]\w{0,63})/,
    ([, name = '']) => moduleMissing('Python', name, `${pipInstall(name)} and the same command.`),
  ],
  [
    /\bCannot find (?:module|package) '((?:@[\w.-]{1,64}\/)?\w[\w.-]{0,99})['/]/,
    ([, name = '']) =>
      moduleMissing(
        'Node',
        name,
        `Install it outside the sandbox, in the directory of the script or above it: npm install ${name}. Then run the same command again.`,
      ),
  ],
]

export function notInstalledFinding(run: CommandRun): CommandFinding | undefined {
  if (!run.isConfined || run.network !== false || run.result.exitCode === 0) return undefined
  // `nexus skills run` quotes each word.
  return findingFor(NOT_INSTALLED, { ...run, command: run.command.replace(/'([\w.@/:=+-]+)'/g, '$1') })
}

function notInstalled(name: string, fix: string): CommandFinding {
  const why = 'commands cannot change the programs of this machine, and the sandbox has no network'
  return finding('install-refused', name, `${name} installed nothing: ${why}.`, fix)
}

/** The words of a command inside `sh -c '…'` end with its quote. */
function unquoted(words: string): string {
  return words.replace(/['"]/g, '')
}

function moduleMissing(program: string, name: string, fix: string): CommandFinding {
  const message = `${program} has no module ${name} where commands run, and the sandbox has no network to install it.`
  return finding('install-refused', name, message, fix)
}

function pipInstall(packages: string): string {
  return `Install it into the workspace, outside the sandbox: pip install --target vendor ${packages}. Then run: env PYTHONPATH=vendor`
}

/** A name that is not resolved, or a connection that fails. The group is the machine: messages that name it come first. */
const NO_NETWORK: readonly Row[] = [
  // curl, git, ssh
  /could(?: not|n't) resolve (?:host(?:name)?|proxy):? ['"\u2018]?([\w.-]+)/i,
  /failed to connect to (\S+) port \d+/i,
  // wget, apt
  /unable to resolve host address ['"\u2018]([^'"\u2019]+)/,
  /temporary failure resolving ['"\u2018]([^'"\u2019]+)/i,
  // node, npm
  /getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)/,
  /connect (?:ECONNREFUSED|ENETUNREACH|EHOSTUNREACH) ([\w.:[\]-]+)/,
  // pip, requests
  /failed to resolve ['"]([^'"]+)/i,
  /host=['"]([^'"]+)['"].*(?:NewConnectionError|NameResolutionError)/,
  // go
  /dial tcp:? (?:lookup )?([\w.-]+)/,
  // python, rust and most others; ssh, and git over it
  /(?:temporary failure in name resolution|name or service not known|failed to lookup address)/i,
  /(?:network is unreachable|no route to host)|\b(?:EAI_AGAIN|ENETUNREACH)\b/i,
  /^no user exists for uid \d+|could not read from remote repository/i,
].map((pattern) => [pattern, (match) => unreachable(match[1] ?? 'another machine', match)])

const REFUSED_HERE: Row = [
  /connection refused|ConnectionRefusedError/i,
  (match) => nothingAnswered('that address', wroteIn(match)),
]
const LOCAL = /^\[?(?:localhost|127\.|0\.0\.0\.0|::1)/

/** Exit codes by which a quiet program reports it. */
const QUIET: ReadonlyMap<string, readonly number[]> = new Map([
  ['curl', [6, 7]],
  ['wget', [4]],
])
/** Programs that try again until their time is up, and write nothing meanwhile. */
const PATIENT: ReadonlySet<string> = new Set(
  'curl wget git npm npx pnpm yarn pip pip3 uv cargo go gem apt apt-get'.split(' '),
)

export function networkFinding(run: CommandRun): CommandFinding | undefined {
  if (run.network !== false) return undefined
  return findingFor([...NO_NETWORK, REFUSED_HERE], run) ?? quietly(run)
}

function quietly({ command, result: { end, exitCode } }: CommandRun): CommandFinding | undefined {
  const isQuiet = (word: string): boolean =>
    end === 'timeout' ? PATIENT.has(word) : (QUIET.get(word)?.includes(exitCode) ?? false)
  const word = commandWords(command).find(isQuiet)
  return word === undefined ? undefined : unreachable(`the network with ${word}`)
}

function unreachable(subject: string, match?: RegExpExecArray): CommandFinding {
  const wrote = match ? wroteIn(match) : ''
  if (match && LOCAL.test(subject)) return nothingAnswered(subject, wrote)
  return finding(
    'no-network',
    subject,
    `The command could not reach ${subject}: the sandbox has no network.${wrote} Commands can use files in the workspace, and servers that they start themselves.`,
    'Put what the command needs into the workspace, then run it again.',
  )
}

function nothingAnswered(subject: string, wrote: string): CommandFinding {
  return finding(
    'no-network',
    subject,
    `Nothing answered at ${subject}.${wrote} Commands reach only servers that they start themselves.`,
    'Start the server in the same command.',
  )
}

const MAX_QUOTED_CHARS = 160

/** The line of the match, or the part of a long line around it. */
function wroteIn({ input, index }: RegExpExecArray): string {
  const text = input.replace(/"/g, "'").trimEnd()
  const start = index > MAX_QUOTED_CHARS / 2 ? index - MAX_QUOTED_CHARS / 4 : 0
  const end = start + MAX_QUOTED_CHARS
  const part = text.slice(start, end).trim().toWellFormed()
  return ` It wrote: "${start > 0 ? '…' : ''}${part}${text.length > end ? '…' : ''}".`
}

/** Limits of the sandbox. A program that a limit ends in silence gets a note of the sandbox. */
const LIMITS: readonly Row[] = [
  limit(/^MemoryError\b|cannot allocate|out of memory|std::bad_alloc|\bENOMEM\b/i, 'memory', 'dataBytes'),
  limit(/file too large|\bEFBIG\b/i, 'file size', 'fileSizeBytes'),
  limit(
    /fork\b.*resource temporarily unavailable|can't start new thread|spawn .*\bEAGAIN\b/i,
    'processes',
    'processes',
  ),
  limit(/too many open files|\bEMFILE\b/i, 'open files', 'openFiles'),
]

function limit(pattern: RegExp, subject: string, setting: string): Row {
  const message = `The command reached its limit on ${subject}.`
  const fix = `Use less, or raise execution.limits.${setting} in ~/.nexus/nexus.yaml.`
  return [pattern, () => finding('resource-limit', subject, message, fix)]
}

export function limitFinding(run: CommandRun): CommandFinding | undefined {
  return run.isConfined && hasFailed(run.result) ? findingFor(LIMITS, run) : undefined
}
