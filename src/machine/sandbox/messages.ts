/** messages: every sentence about commands that cannot run, one row a fault, from facts: what happened, why, and one next step. */
import { commandFix, type ErrorCode, NexusError, type ProposedCommand } from '../../kernel/index.ts'

/** One fault in words. */
export interface Message {
  readonly code: ErrorCode
  readonly message: string
  readonly fix: string
  readonly proposal?: ProposedCommand
}

/** Facts by name; paths and names as they are, quoted here. */
type Facts<Names extends string> = Readonly<Record<Names, string>>

type Fix = string | ReturnType<typeof commandFix>

const row = (code: ErrorCode, message: string, fix: Fix): Message => ({
  code,
  message,
  ...(typeof fix === 'string' ? { fix } : fix),
})
const invalid = (message: string, fix: string): Message => row('INVALID_ARGUMENT', message, fix)
const quoted = (value: unknown): string => JSON.stringify(value) ?? String(value)

/** The error of a fault. */
export function sandboxError({ code, message, ...next }: Message, cause?: unknown): NexusError {
  return new NexusError(code, message, { ...next, ...(cause !== undefined && { cause }) })
}

/** Requests that a caller cannot have. */
export const REQUESTS = {
  unknownKind: (kind: unknown) => invalid(`Nexus has no sandbox ${quoted(kind)}.`, 'Use local or none.'),
  noCommand: () => invalid('The command is empty.', 'Give a command line.'),
  controlInCommand: () =>
    invalid('The command contains a NUL or a carriage return.', 'Use a line feed (\\n) as line break.'),
  longCommand: (bytes: number, most: number) =>
    invalid(
      `The command has ${bytes} bytes. At most ${most} are allowed.`,
      'Write it to a script file in the workspace, and run that.',
    ),
  longStdin: (most: number) =>
    invalid(`The standard input has more than ${most} bytes.`, 'Write the data to a file in the workspace.'),
  outside: (cwd: string) =>
    row('PATH_OUTSIDE', `cwd ${quoted(cwd)} is not inside the workspace.`, 'Give a path relative to the workspace.'),
  outsideByLink: (cwd: string) =>
    row(
      'PATH_OUTSIDE',
      `cwd ${quoted(cwd)} leads out of the workspace through a link.`,
      'Give a directory of the workspace itself.',
    ),
  nothingOpen: (allowed: readonly string[], blocked: readonly string[]) =>
    row(
      'PATH_OUTSIDE',
      `The command did not run. The limits on paths allow it to read nothing of the workspace. Allowed: ${allowed.join(', ') || 'all'}. Blocked: ${blocked.join(', ') || 'none'}.`,
      'Allow a directory of the workspace for reading.',
    ),
  closedStart: (cwd: string, read: readonly string[]) =>
    row(
      'PATH_OUTSIDE',
      `The command did not run. The limits on paths do not allow it to read ${quoted(cwd)}.`,
      `Leave cwd out, or start in one of: ${read.join(', ')}`,
    ),
  pathsUnconfined: () =>
    row(
      'SANDBOX_UNAVAILABLE',
      'The command did not run. It has limits on paths or network, and without a sandbox Nexus cannot enforce them.',
      'Set execution.sandbox: local.',
    ),
  setting: (name: string, value: unknown) =>
    invalid(`The option ${name} of the sandbox is ${String(value)}.`, 'Give a whole number above 0.'),
  noProject: () => invalid('The option projectId of the sandbox is empty.', 'Give a name.'),
  stateDir: (path: string) =>
    invalid(`The option stateDir of the sandbox, ${quoted(path)}, is not an absolute path.`, 'Give an absolute path.'),
  notAbsolute: (what: string, path: unknown) =>
    invalid(`${what} ${quoted(path)} is not an absolute path.`, 'Give an absolute path.'),
  absent: (what: string, path: string) =>
    row('FILE_NOT_FOUND', `${what} ${quoted(path)} does not exist.`, 'Give a directory that exists.'),
  notADirectory: (what: string, path: string) =>
    invalid(`${what} ${quoted(path)} is not a directory.`, 'Give a directory.'),
  number: (name: string, value: unknown, range: { readonly least: number; readonly most: number }) =>
    invalid(`${name} is ${String(value)}.`, `Give a whole number from ${range.least} to ${range.most}.`),
  /** `why` completes "it …". */
  refusedVariable: ({ name, why }: Facts<'name' | 'why'>) =>
    invalid(
      `Nexus gives no command the variable ${quoted(name)}: it ${why}.`,
      'Use another name, and read that name in the command.',
    ),
  variableWithNul: (name: string) =>
    invalid(`The value of the variable ${name} is not a string without NUL.`, 'Remove the NUL.'),
  longVariable: (name: string, bytes: number, most: { readonly one: number; readonly all: number }) =>
    invalid(
      `The value of the variable ${name} has ${bytes} bytes. At most ${most.one} are allowed, and ${most.all} in all variables.`,
      'Give long data through standard input or a file.',
    ),
  /** `why` completes "the workspace …". */
  workspace: ({ path, why }: Facts<'path' | 'why'>) =>
    invalid(
      `Nexus runs no command in the workspace ${path}: it ${why}.`,
      'Use the directory of one project as workspace.',
    ),
  tooLargeToMirror: ({ what, setting }: Facts<'what' | 'setting'>) =>
    row(
      'LIMIT_EXCEEDED',
      `Nexus did not run the command. The workspace contains ${what}, too much to copy for the sandbox.`,
      `Use a smaller directory as workspace, or raise ${setting} in ~/.nexus/nexus.yaml.`,
    ),
} as const

const LISTED = 8

/** The first of some names. */
function firstOf(names: readonly string[]): string {
  const more = names.length - LISTED
  return `${names.slice(0, LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Changes that are in a set: one line each, which the model reads too. */
export const CHANGED = {
  held: (units: readonly { readonly unit: string; readonly reason: string }[], id: string) =>
    `Nexus holds ${firstOf(units.map(({ unit, reason }) => `${unit} (${reason})`))}. Later commands see it; the workspace does not have it. The user can take it: nexus changes keep ${id}`,
  heldGit: (units: readonly { readonly unit: string; readonly reason: string }[], id: string) =>
    `Nexus holds what the command did in ${firstOf(units.map(({ unit, reason }) => `${unit} (${reason})`))}. Later commands see the repository of the workspace. The user can take it: nexus changes keep ${id}`,
  conflict: (paths: readonly string[], id: string) =>
    `Nexus did not change ${firstOf(paths)}: another program changed it meanwhile. It holds the version of the command: nexus changes show ${id} --diff`,
  beside: (units: readonly string[]) =>
    `${firstOf(units)}: installed packages stay outside the workspace, for later commands.`,
  never: (units: readonly string[]) =>
    `Nexus did not keep the change of ${firstOf(units)}: commands may not change Nexus, its settings or its state. Make the change outside the sandbox.`,
  noSet: () =>
    'The command got a variable of a skill, so it made no change set: its changes cannot be undone with nexus changes.',
  notTaken: (units: readonly string[]) =>
    `Nexus did not take ${firstOf(units)} into the workspace: a person would have to keep it, and this command makes no change set. Make the change without the variables of the skill.`,
  recovered: (id: string) =>
    `Nexus undid the change set ${id}, because its process was killed while it was taken back.`,
} as const

/** Changes of a command that no set holds: one note each. Paths are relative to the workspace. */
export const NOT_KEPT = {
  special: (path: string) =>
    `Nexus did not keep ${path}: it is a device, a pipe or a socket. Write to a regular file instead.`,
  tooDeep: (path: string) =>
    `Nexus did not keep ${path.slice(0, 100)}…: its path is longer than programs can open. Use shorter names, or fewer directories in each other.`,
  dependency: (name: string) =>
    `Commands may not change ${name}. Change it outside the sandbox, or set execution.workspace.writable: [${name}] in ~/.nexus/nexus.yaml.`,
  missing: (path: string) =>
    `The command could write nothing to ${path}: it does not exist. Create it outside the sandbox.`,
  /** All or nothing. */
  tooMuch: (
    then: { readonly files: number; readonly bytes: number },
    most: { readonly maxFiles: number; readonly maxBytes: number },
  ) =>
    `Nexus kept no change of the command: the workspace would contain ${then.files} files with ${then.bytes} bytes. At most ${most.maxFiles} files and ${most.maxBytes} bytes can be copied for a command. Write less, or raise execution.workspace.maxFiles or execution.workspace.maxBytes in ~/.nexus/nexus.yaml.`,
  timeUp: () =>
    'Nexus kept no change of the command: the time of the call was up. Write less, or give the command more time.',
  all: (why: string) => `Nexus kept no change of the command: ${why}. Run: nexus doctor`,
} as const

/** Why a program of the person's home is not mounted; each completes "commands do not have it, because …". */
export const PROGRAMS = {
  absent: () => 'no program of that name is on your PATH or in an installation that Nexus knows',
  distrust: ({ path, why }: Facts<'path' | 'why'>) => `${path} is not safe to mount: ${why}`,
  closed: () => 'commands run as another user, who may not read it (chmod o+rX opens it)',
  tooLarge: (
    facts: { readonly files: number; readonly bytes: number },
    most: { readonly files: number; readonly bytes: number },
  ) =>
    `it would have to be copied, as this process may not mount (no CAP_SYS_ADMIN), and has ${facts.files} files with ${facts.bytes} bytes; at most ${most.files} files and ${most.bytes} bytes are copied`,
  note: ({ name, why }: Facts<'name' | 'why'>) =>
    `Commands do not have the program ${name} of execution.programs, because ${why}.`,
} as const

/** Why no cgroup limits commands; each completes "Nexus looks at the processes itself, because …". */
export const GROUPS = {
  none: () => 'this system has no cgroup v2 with memory and pids',
  whole: () => 'Nexus runs in the group of the whole system',
  notGiven: ({ directory, missing }: Facts<'directory' | 'missing'>) => `${directory} has no ${missing}`,
  closed: ({ directory }: Facts<'directory'>) => `Nexus may not write to ${directory}`,
} as const

/** Why a workspace is copied for commands instead of being layered; each completes "commands work in a copy, because …". */
export const LAYERS = {
  root: () => 'root commands run as another user, who could not change your files in a layer',
  chosen: () => 'the option workspaceMode is mirror',
  noUnshare: () => 'unshare of util-linux is not installed',
  remote: () => 'the workspace is on a file system of another machine',
  refused: (said: string) => `the kernel allows no overlay here (${said || 'unshare failed'})`,
  tooMuch: (changes: number) =>
    `Nexus kept no change of the command: it changed more than ${changes} files. Write less at once.`,
  crossDevice: () =>
    'A directory of the workspace cannot be renamed in one step here. Use mv, which copies it. Instead of git mv: mv OLD NEW && git add -A OLD NEW',
} as const

/** Faults that end a sandbox, or a command in it. */
export const FAILURES = {
  closed: () => row('SANDBOX_FAILED', 'The sandbox is closed.', 'Open a new one.'),
  closedUnderway: () =>
    row('SANDBOX_FAILED', 'The sandbox closed while the command ran.', 'Open a new one, and run it again.'),
  noBash: ({ why }: Facts<'why'>) =>
    row('SANDBOX_FAILED', `The command did not start. bash failed: ${why}.`, 'Install bash.'),
  notStarted: ({ why }: Facts<'why'>) =>
    row('SANDBOX_FAILED', `The command did not start. The sandbox failed: ${why}.`, commandFix('Run:', 'doctor')),
  runnerEnded: ({ said }: Facts<'said'>) =>
    row(
      'SANDBOX_FAILED',
      `The command was cut off. The process of the sandbox ended${said === '' ? '' : `: ${said}`}.`,
      'Run the command again.',
    ),
  skillChanged: ({ name }: Facts<'name'>) =>
    row(
      'SANDBOX_FAILED',
      `Nexus did not copy the skill ${quoted(name)}. Its files changed meanwhile.`,
      'Try again when nothing writes to them.',
    ),
} as const

const unavailable = (why: string, fix: Fix): Message =>
  row('SANDBOX_UNAVAILABLE', `Commands cannot be confined here: ${why}.`, fix)

/** Why commands cannot be confined on this machine. Nothing was run. */
export const UNAVAILABLE = {
  /** Anything without a row of its own. */
  other: ({ why }: Facts<'why'>) => unavailable(why, commandFix('Run:', 'doctor')),
  system: ({ system }: Facts<'system'>) =>
    unavailable(`the local sandbox needs Linux, and this is ${system}`, 'Use Linux.'),
  socat: ({ command }: Facts<'command'>) =>
    unavailable(
      'socat is not installed, which commands need to reach the hosts that settings allow',
      `Type: ${command}`,
    ),
  bwrap: ({ command }: Facts<'command'>) => unavailable('bubblewrap (bwrap) is not installed', `Type: ${command}`),
  /** Root may not become another user here, and commands never run as uid 0. */
  uid: ({ step, code }: Facts<'step' | 'code'>) =>
    unavailable(
      `uid 0 cannot be dropped (${step}: ${code})`,
      'Run as a normal user, or give this process CAP_SETUID, CAP_SETGID and CAP_CHOWN over the uid range (execution.uidBase, default 200000).',
    ),
  namespaces: ({ said, command }: Facts<'said'> & { readonly command: string | undefined }) =>
    unavailable(
      `user namespaces do not work (${said})`,
      command === undefined
        ? 'Allow unprivileged user namespaces. In a container: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined …'
        : `Type: ${command}`,
    ),
  runnerEnded: ({ said }: Facts<'said'>) =>
    unavailable(
      `the process of the sandbox ended at once${said === '' ? '' : ` (${said})`}`,
      commandFix('Run:', 'doctor'),
    ),
  runnerNotStarted: ({ why }: Facts<'why'>) =>
    unavailable(`the process of the sandbox did not start (${why})`, 'Install nexus-skills again.'),
  runnerMissing: ({ path }: Facts<'path'>) => unavailable(`the file ${path} is missing`, 'Install nexus-skills again.'),
  library: ({ name }: Facts<'name'>) => unavailable(`the package ${name} is not installed`, 'Type: npm ci'),
  processor: ({ name, processor }: Facts<'name' | 'processor'>) =>
    unavailable(`${name} has no seccomp helper for ${processor}`, 'Use a machine with x64 or arm64.'),
  /** The files that commands are started with could not be written. */
  stage: ({ path, why }: Facts<'path' | 'why'>) =>
    unavailable(
      `Nexus cannot write its files for commands into ${path} (${why})`,
      'Free space on that disk, or make the directory writable for this user.',
    ),
  state: ({ code, path, stateDir }: Facts<'code' | 'path' | 'stateDir'>, isRoot: boolean) =>
    unavailable(
      `Nexus cannot use the state directory (${code} ${path})`,
      isRoot
        ? `Make ${stateDir} a directory that root may write to, or run as a normal user. In programs, set stateDir.`
        : `Make ${stateDir} a directory that you may write to, or set NEXUS_STATE_DIR.`,
    ),
  foreignState: ({ path, uid }: Facts<'path' | 'uid'>) =>
    unavailable(
      `others can write to ${path}, or it belongs to another user`,
      `Remove it, or type: chown ${uid} ${path} && chmod go-w ${path}`,
    ),
  notADirectory: ({ path }: Facts<'path'>) => unavailable(`${path} is not a directory`, `Type: rm ${path}`),
  closedAbove: ({ uid, path, stateDir }: Facts<'uid' | 'path' | 'stateDir'>) =>
    unavailable(
      `uid ${uid} cannot enter ${path}, which contains the state directory ${stateDir}`,
      `Type: chmod o+x ${path}. Or set stateDir to a directory that all users can enter, such as /var/lib/nexus.`,
    ),
  noUidLeft: ({ path }: Facts<'path'>, most: number) =>
    unavailable(`all ${most} uids of the range are taken`, `Remove projects that are gone from ${path}.`),
  notANumber: ({ path }: Facts<'path'>) => unavailable(`${path} does not contain a number`, `Type: rm ${path}`),
} as const
