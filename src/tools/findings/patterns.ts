/** patterns: why a command ended as it did: messages of common programs, each with its sentence and its fix. Add a finding here. */
import { existsSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { type CommandFinding, type CommandRun, type FindingCode, hasFailed, linesOf } from './command-run.ts'
import { factsOf, NO_INPUT, openingOf } from './facts.ts'

/** All that can be read from the result of a command. A line gives one finding, and each code is given once. */
export function findingsOf(run: CommandRun): readonly CommandFinding[] {
  const lines = new Set(linesOf(run))
  const found = new Map<FindingCode, CommandFinding>()
  for (const [code, pattern, explain, applies] of PATTERNS) {
    if (found.has(code) || !applies(run)) continue
    for (const line of lines) {
      const match = pattern.exec(line)
      const words = match && explain(match, run)
      if (!words) continue
      found.set(code, { code, ...words })
      lines.delete(line)
      break
    }
  }
  return [...found.values(), ...factsOf(run).filter(({ code }) => !found.has(code))]
}

type Words = Omit<CommandFinding, 'code'>
type Explain = (match: RegExpExecArray, run: CommandRun) => Words | undefined

const always = (): boolean => true
const isConfined = (run: CommandRun): boolean => run.isConfined
const isStopped = (run: CommandRun): boolean => run.isConfined && hasFailed(run.result)
const isOffline = ({ network, result }: CommandRun): boolean => network === false && !result.network
const isStoppedOffline = (run: CommandRun): boolean => isStopped(run) && isOffline(run)
const couldNotRun = ({ result: { exitCode } }: CommandRun): boolean => exitCode === 126 || exitCode === 127
/** A command that the sandbox ended has its reason already. */
const isLimited = (run: CommandRun): boolean => isStopped(run) && run.result.end !== 'killed'
const isPastProxy = ({ result }: CommandRun): boolean =>
  hasFailed(result) && result.network !== undefined && (result.network.refused ?? []).length === 0

const shell = (rest: string): RegExp => new RegExp(String.raw`^(?:\S+: line \d+: |\S*sh: \d+: |\S*sh: )(.+?): ${rest}`)
/** A host behind the words of curl, wget, apt, Node, pip and Go; then of the request of pip. */
const HOST =
  /(?:resolve host address |resolve (?:host(?:name)?|proxy):? |failure resolving |failed to resolve |getaddrinfo E\w+ |connect E\w+ |failed to connect to |dial tcp:? (?:lookup )?)['"\u2018]?(\[?[\w.:-]*\w\]?(?::\d+)?)/i
const REQUEST_HOST = /host=['"]([^'"]+)['"].*(?:NewConnectionError|NameResolutionError)/
/** Python, Rust and most others; ssh, and git over it. */
const UNREACHED =
  /temporary failure in name resolution|name or service not known|failed to lookup address|network is unreachable|no route to host|\b(?:EAI_AGAIN|ENETUNREACH)\b|^no user exists for uid \d+|could not read from remote repository/i
const UNANSWERED = /connection ?refused/i
const AT_END =
  /\bEOFError\b|EOF when reading|unexpected end of (?:file|input) (?:on|from) stdin|Inappropriate ioctl for device|the input device is not a TTY|stdin is not a (?:tty|terminal)/i
const NOT_FOUND =
  /(?:can't open file|cannot open|cannot find module|no such file or directory[:,](?: \w+)?) ['"\u2018]([^'"\u2019]+)['"\u2019]|(?:^|[\s'"\u2018])([^\s:'"\u2018\u2019()]+)['"\u2019]?: no such file or directory/i
const KEPT_OUT =
  /read-only file system|permission denied|operation not permitted|no such file or directory|directory nonexistent|\b(?:EROFS|EACCES|EPERM|ENOENT)\b/i

/** In their order: a line that gave a finding gives no other. */
const PATTERNS: readonly (readonly [FindingCode, RegExp, Explain, (run: CommandRun) => boolean])[] = [
  [
    'install-refused',
    /externally-managed-environment/,
    () => notInstalled('pip', vendored('PACKAGE')),
    isStoppedOffline,
  ],
  [
    'install-refused',
    /(?:could not open lock file|unable to (?:acquire|lock)).*\/(?:dpkg|apt)\b/i,
    () => notInstalled('apt', 'Install it for all users of this machine, outside the sandbox.'),
    isStoppedOffline,
  ],
  [
    'install-refused',
    /^ModuleNotFoundError: No module named '([A-Za-z_]\w{0,63})/,
    ([, name = '']) => notInstalled(name, vendored(name)),
    isStoppedOffline,
  ],
  [
    'install-refused',
    /\bCannot find (?:module|package) '((?:@[\w.-]{1,64}\/)?\w[\w.-]{0,99})['/]/,
    ([, name = '']) =>
      notInstalled(name, `Install it in the directory of the script, outside the sandbox: npm install ${name}`),
    isStoppedOffline,
  ],
  ['program-missing', shell('(?:command )?not found$'), programMissing, always],
  [
    'program-missing',
    /^\S*env: ['"\u2018]([^'"\u2019\\]+)['"\u2019]: No such file or directory$/,
    programMissing,
    always,
  ],
  ['not-executable', /^\S*env: ['"\u2018](.+?)\\r['"\u2019]: No such file or directory$/, notExecutable, couldNotRun],
  ['not-executable', shell('(?:cannot execute|Permission denied$|.+?: bad interpreter)'), notExecutable, couldNotRun],
  ['file-in-skill', NOT_FOUND, fileInSkill, ({ result }) => result.exitCode !== 0],
  ['no-network', HOST, unreachable, isOffline],
  ['no-network', REQUEST_HOST, unreachable, isOffline],
  ['no-network', UNREACHED, unreachable, isOffline],
  ['no-network', UNANSWERED, () => unanswered('that address'), isOffline],
  ['no-network', HOST, pastProxy, isPastProxy],
  [
    'resource-limit',
    /^MemoryError\b|(?:cannot|failed to) allocate|allocation failed|out of memory|memory exhausted|std::bad_alloc|\bENOMEM\b/i,
    () => limited('memory', 'dataBytes'),
    isLimited,
  ],
  ['resource-limit', /file too large|\bEFBIG\b/i, () => limited('file size', 'fileSizeBytes'), isLimited],
  [
    'resource-limit',
    /fork\b.*resource temporarily unavailable|can't start new thread|spawn .*\bEAGAIN\b/i,
    () => limited('processes', 'processes'),
    isLimited,
  ],
  ['resource-limit', /too many open files|\bEMFILE\b/i, () => limited('open files', 'openFiles'), isLimited],
  ['no-input', AT_END, () => NO_INPUT, ({ isInputEmpty, result }) => isInputEmpty && hasFailed(result)],
  ['outside-workspace', KEPT_OUT, outsideWorkspace, isConfined],
]

function notInstalled(subject: string, fix: string): Words {
  const message =
    'Commands cannot install anything: they cannot change the programs of this machine, and the sandbox has no network.'
  return { subject, message, fix }
}

function vendored(name: string): string {
  return `Install it into the workspace, outside the sandbox: pip install --target vendor ${name}. Then run: env PYTHONPATH=vendor and the same command.`
}

function programMissing([, subject = '']: RegExpExecArray, { findOnHost }: CommandRun): Words {
  const onHost = findOnHost?.(subject)
  const why = onHost === undefined ? 'it is not installed here' : `commands do not see ${onHost}`
  return {
    subject,
    message: `The command did not find the program '${subject}': ${why}.`,
    fix: 'Install it for all users of this machine (in /usr/local/bin), or use another program.',
  }
}

function notExecutable([, subject = '']: RegExpExecArray): Words {
  // `env` names the interpreter and not the file.
  const file = subject.includes('/') ? subject : 'FILE'
  return {
    subject,
    message: `The system could not run '${subject}': it is not executable, or the program of its first line is missing.`,
    fix: `Name its interpreter in the command, such as: bash ${file}. If its lines end with a carriage return, remove those.`,
  }
}

const LOCAL = /^\[?(?:localhost|127\.|0\.0\.0\.0|::1)/

function unreachable([, host]: RegExpExecArray, run: CommandRun): Words {
  const subject = host ?? 'another machine'
  if (LOCAL.test(subject)) return unanswered(subject)
  return {
    subject,
    message: `The command could not reach ${subject}: the sandbox has no network.`,
    fix: openingOf(subject, run) ?? 'Put what the command needs into the workspace, then run it again.',
  }
}

function unanswered(subject: string): Words {
  const message = `Nothing answered at ${subject}. Commands reach only servers that they start themselves.`
  return { subject, message, fix: 'Start the server in the same command.' }
}

/** A host that a program tried to reach without its proxy, while there is one. */
function pastProxy([, subject = '']: RegExpExecArray, run: CommandRun): Words | undefined {
  if (openingOf(subject, run) === undefined) return undefined
  return {
    subject,
    message: `The command could not reach ${subject}: it did not use the proxy, which is its only way to other machines.`,
    fix: 'Use a program that reads HTTPS_PROXY, such as curl, git, pip, npm, or the fetch of Node.',
  }
}

function limited(subject: string, setting: string): Words {
  const message = `The command reached its limit on ${subject}.`
  return { subject, message, fix: `Use less, or raise execution.limits.${setting} in ~/.nexus/nexus.yaml.` }
}

/** A relative path of a skill's instructions that was used in the workspace. */
function fileInSkill([, quoted, plain]: RegExpExecArray, run: CommandRun): Words | undefined {
  // Not asked of the disk: a link in the workspace would show whether a file outside of it exists.
  const subject = relative(run.workspace, resolve(run.startedIn, quoted ?? plain ?? ''))
  if (subject === '' || subject.startsWith('..') || isAbsolute(subject)) return undefined
  const owner = run.skillDirectories.find((directory) => existsSync(join(directory, subject)))
  if (owner === undefined) return undefined
  return {
    subject,
    message: `The command did not find ${subject} in the workspace: it is a file of a skill.`,
    // The path of a placed copy changes with the skill.
    fix: `Use its full path: ${run.isTyped ? `{baseDir}/${subject}` : join(owner, subject)}`,
  }
}

/** A path between quotes, or one that ends at a space, colon or comma. */
const PATH =
  /['"\u2018\u201c`]((?:\/|\.\.\/)[^'"\u2019\u201d`]*)['"\u2019\u201d`]|(?<![\w./~-])((?:\/|\.\.\/)[^\s:'"\u2019\u201d`,;)]*)/g
/** The shell names itself first. */
const SHELL = /^\S+: line \d+: |^\S*sh: \d+: /
/** Commands see these besides the workspace and skills, so what is absent there is absent on the machine. */
const SEEN = ['/usr', '/etc', '/lib', '/lib64', '/bin', '/sbin', '/proc', '/sys', '/dev', '/tmp']
/** The home directory of a command, as the sandbox names it: empty, so programs do not find the user's files in it. */
const HOME = '/tmp/home'

function outsideWorkspace({ 0: words, input }: RegExpExecArray, run: CommandRun): Words | undefined {
  const last = [...input.replace(SHELL, '').matchAll(PATH)].at(-1)
  const subject = resolve(run.startedIn, last?.[1] ?? last?.[2] ?? '.')
  const isIn = (directory: string): boolean => subject === directory || subject.startsWith(`${directory}/`)
  const isAbsent = /no such|nonexistent|ENOENT/i.test(words)
  const isOwnFault = isAbsent ? [...SEEN, ...run.skillDirectories].some(isIn) : isIn('/tmp') || isIn('/dev')
  const isInHome = isAbsent && isIn(HOME) && run.result.exitCode !== 0
  if (isIn(run.workspace) || (isOwnFault && !isInHome)) return undefined
  return {
    subject,
    message: `The sandbox does not let commands use ${subject}. They change files only in the workspace, and see few others.`,
    fix: `Use a path in ${run.workspace}.`,
  }
}

/** A name with an underscore: other words in capitals are rarely variables. Git reports its own where none is missing. */
const NAME = '(?!GIT_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+'
const MISSING =
  '(?:[Nn]ot (?:set|defined|found)|[Mm]issing|[Uu]nset|[Uu]ndefined|[Rr]equire[ds]?|[Ss]et|[Ee]xport|variable)'
const UNSET: readonly RegExp[] = [
  // sh: `set -u` and `${NAME:?}`
  /\b([A-Z][A-Z0-9_]{2,}): (?:unbound variable|parameter (?:null or )?not set)/,
  // python
  new RegExp(`KeyError: ['"](${NAME})['"]`),
  new RegExp(`\\b(${NAME})\\b.{0,60}\\b${MISSING}\\b`),
  new RegExp(`\\b${MISSING}\\b.{0,60}\\b(${NAME})\\b`),
]
const MAX_NAMES = 3

/** Names of variables that the command says it lacks. */
export function unsetIn(run: Pick<CommandRun, 'command' | 'result'>): readonly string[] {
  const names = linesOf(run).map((line) => UNSET.map((pattern) => pattern.exec(line)?.[1]).find(Boolean))
  return [...new Set(names)].filter((name) => name !== undefined).slice(0, MAX_NAMES)
}
