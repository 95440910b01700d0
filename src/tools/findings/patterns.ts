/** patterns: why a command ended as it did: messages of common programs, each with its sentence and its fix. Add a finding here. */
import { type CommandFinding, type CommandRun, type FindingCode, hasFailed, linesOf } from './command-run.ts'
import { inputFinding, signalFinding, survivorsFinding } from './ends.ts'
import { openingOf, refusedFindings } from './hosts.ts'
import { changeable, homeFinding, missingFileFinding, outsideFindings } from './paths.ts'

/** All that can be read from the result of a command, in order of weight. */
export function findingsOf(run: CommandRun): readonly CommandFinding[] {
  const isOffline = run.network === false && !run.result.network
  const isStopped = run.isConfined && hasFailed(run.result)
  const notInstalled = findingFor(isOffline && isStopped ? NOT_INSTALLED : [], run)
  const first = findingFor(NOT_STARTED, run) ?? (notInstalled ? undefined : missingFileFinding(run))
  const unreached = notInstalled ?? unreachedFinding(run)
  const limit = isStopped ? limitFinding(run) : undefined
  // The refused path belongs to that fault: a second note would give a wrong fix.
  const outside = notInstalled || first?.code === 'not-executable' ? [] : outsideFindings(run)
  const ends = [limit, inputFinding(run), signalFinding(run), survivorsFinding(run)]
  const all = [first, unreached, ...refusedFindings(run), ...ends, ...outside, homeFinding(run)]
  return all.filter((finding) => finding !== undefined)
}

/** A command that the sandbox ended has its reason already. */
function limitFinding(run: CommandRun): CommandFinding | undefined {
  return run.result.end === 'killed' ? undefined : findingFor(LIMITS, run)
}

function unreachedFinding(run: CommandRun): CommandFinding | undefined {
  if (run.result.network) return directFinding(run)
  return findingFor(run.network === false ? NO_NETWORK : [], run)
}

type Row = readonly [
  pattern: RegExp,
  explain: (match: RegExpExecArray, run: CommandRun) => CommandFinding,
  /** Absent: with any code, because in a pipeline the last command gives it. */
  exitCode?: number,
]

/** The first row that a line fits gives the finding. */
function findingFor(rows: readonly Row[], run: CommandRun): CommandFinding | undefined {
  const lines = linesOf(run)
  for (const [pattern, explain, exitCode = run.result.exitCode] of rows) {
    if (exitCode !== run.result.exitCode) continue
    const match = lines.map((line) => pattern.exec(line)).find((each) => each !== null)
    if (match) return explain(match, run)
  }
  return undefined
}

// oxlint-disable-next-line max-params
function finding(code: FindingCode, subject: string, message: string, fix: string): CommandFinding {
  return { code, subject, message, fix }
}

const shell = (rest: string): RegExp => new RegExp(String.raw`^(?:\S+: line \d+: |\S*sh: \d+: |\S*sh: )(.+?): ${rest}`)

/** A program that did not start. */
const NOT_STARTED: readonly Row[] = [
  [shell('(?:command )?not found$'), ([, name = ''], run) => programMissing(name, run)],
  [
    /^\S*env: ['"\u2018](.+?)(\\r)?['"\u2019]: No such file or directory$/,
    ([, name = '', isCut], run) => (isCut === undefined ? programMissing(name, run) : noInterpreter(name, 'FILE')),
  ],
  [
    shell('(?:cannot execute: required file not found|.+?: bad interpreter)'),
    ([, file = ''], run) => noInterpreter(file, changeable(file, run)),
  ],
  [
    shell('cannot execute binary file'),
    ([, file = '']) =>
      finding(
        'not-executable',
        file,
        `The system cannot run '${file}': it is not a program for this system.`,
        'Use a script, or a program built for Linux on this processor.',
      ),
  ],
  [
    shell('Permission denied$'),
    ([, file = ''], run) =>
      finding(
        'not-executable',
        file,
        `The system did not run '${file}': the file is not executable.`,
        `Run it through its interpreter: ${interpreterOf(file)} ${file}. Or make it executable, outside the sandbox: chmod +x ${changeable(file, run)}`,
      ),
    126,
  ],
]

function interpreterOf(file: string): string {
  if (file.endsWith('.py')) return 'python3'
  return /\.[cm]?js$/.test(file) ? 'node' : 'bash'
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

/** Windows line ends make the carriage return a part of the interpreter's name. */
function noInterpreter(subject: string, file: string): CommandFinding {
  return finding(
    'interpreter-missing',
    subject,
    'The system did not find the program that the first line of the script names.',
    `Name an interpreter in the command. If lines end with a carriage return, convert them: sed -i 's/\\r$//' ${file}`,
  )
}

/** An installer that may not change the machine, or a module that would have to be installed. Programs' own advice needs a network. */
const NOT_INSTALLED: readonly Row[] = [
  [/externally-managed-environment/, () => notInstalled('pip', vendored('PACKAGE'))],
  [
    /(?:could not open lock file|unable to (?:acquire|lock)).*\/(?:dpkg|apt)\b/i,
    () => notInstalled('apt', 'Install it for all users of this machine, outside the sandbox.'),
  ],
  [
    /^ModuleNotFoundError: No module named '([A-Za-z_]\w{0,63})/,
    ([, name = '']) => moduleMissing('Python', name, vendored(name)),
  ],
  [
    /\bCannot find (?:module|package) '((?:@[\w.-]{1,64}\/)?\w[\w.-]{0,99})['/]/,
    ([, name = '']) =>
      moduleMissing(
        'Node',
        name,
        `Install it in the directory of the script, outside the sandbox: npm install ${name}`,
      ),
  ],
]

function notInstalled(name: string, fix: string): CommandFinding {
  const why = 'commands cannot change the programs of this machine, and the sandbox has no network'
  return finding('install-refused', name, `${name} installed nothing: ${why}.`, fix)
}

function moduleMissing(program: string, name: string, fix: string): CommandFinding {
  const message = `${program} has no module ${name} where commands run, and the sandbox has no network to install it.`
  return finding('install-refused', name, message, fix)
}

function vendored(name: string): string {
  return `Install it into the workspace, outside the sandbox: pip install --target vendor ${name}. Then run: env PYTHONPATH=vendor and the same command.`
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
  /connection refused|ConnectionRefusedError/i,
].map((pattern) => [pattern, unreachable])

const LOCAL = /^\[?(?:localhost|127\.|0\.0\.0\.0|::1)/
const MAX_QUOTED_CHARS = 160

/** A host that a program tried to reach without its proxy, while there is one. */
function directFinding(run: CommandRun): CommandFinding | undefined {
  const found = hasFailed(run.result) ? findingFor(NO_NETWORK, run) : undefined
  const { refused = [] } = run.result.network ?? {}
  if (!found || openingOf(found.subject, run) === undefined || refused.length > 0) return undefined
  return finding(
    'no-network',
    found.subject,
    `The command could not reach ${found.subject}: it did not use the proxy, which is its only way to other machines.`,
    'Use a program that reads HTTPS_PROXY, such as curl, git, pip, npm, or the fetch of Node.',
  )
}

function unreachable({ 0: found, 1: subject, input, index }: RegExpExecArray, run: CommandRun): CommandFinding {
  const start = index > MAX_QUOTED_CHARS / 2 ? index - MAX_QUOTED_CHARS / 4 : 0
  const end = start + MAX_QUOTED_CHARS
  const part = input.slice(start, end).replace(/"/g, "'").trim().toWellFormed()
  const wrote = `It wrote: "${start > 0 ? '…' : ''}${part}${input.length > end ? '…' : ''}".`
  if (/^connection ?refused/i.test(found) || LOCAL.test(subject ?? ''))
    return finding(
      'no-network',
      subject ?? 'that address',
      `Nothing answered at ${subject ?? 'that address'}. ${wrote} Commands reach only servers that they start themselves.`,
      'Start the server in the same command.',
    )
  return finding(
    'no-network',
    subject ?? 'another machine',
    `The command could not reach ${subject ?? 'another machine'}: the sandbox has no network. ${wrote} Commands can use files in the workspace, and servers that they start themselves.`,
    openingOf(subject, run) ?? 'Put what the command needs into the workspace, then run it again.',
  )
}

/** Limits of the sandbox. A program that a limit ends in silence gets a note of the sandbox. */
const LIMITS: readonly Row[] = (
  [
    [
      /^MemoryError\b|(?:cannot|failed to) allocate|allocation failed|out of memory|memory exhausted|std::bad_alloc|\bENOMEM\b/i,
      ...(['memory', 'dataBytes'] as const),
    ],
    [/file too large|\bEFBIG\b/i, 'file size', 'fileSizeBytes'],
    [/fork\b.*resource temporarily unavailable|can't start new thread|spawn .*\bEAGAIN\b/i, 'processes', 'processes'],
    [/too many open files|\bEMFILE\b/i, 'open files', 'openFiles'],
  ] as const
).map(([pattern, subject, setting]) => {
  const message = `The command reached its limit on ${subject}.`
  const fix = `Use less, or raise execution.limits.${setting} in ~/.nexus/nexus.yaml.`
  return [pattern, () => finding('resource-limit', subject, message, fix)]
})
