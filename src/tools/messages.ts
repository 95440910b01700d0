/** messages: every sentence of tools, one row a fault, from facts: what happened, why, and one next step. */
import { type Failed, failed, type FailureCode, hiddenIn, NexusError, toSafeLine, type Words } from '../kernel/index.ts'

/** One fault in words, without a fix where what fits every failure of that kind is enough; refer to `NEXT_STEPS`. */
export type Message = Partial<Words> & Pick<Words, 'message'>

export const words = (message: string, fix?: string): Message => ({ message, fix })
export const quoted = (text: string): string => `'${toSafeLine(text)}'`

/** A fault as the outcome of a call. */
export function failedBy(
  code: FailureCode,
  { message, fix }: Message,
  more: Parameters<typeof failed>[2] = {},
): Failed {
  return failed(code, message, { ...more, ...(fix !== undefined && { fix }) })
}

/** A fault as the error of the author's call. */
export function toolError({ message, fix }: Message, cause?: unknown): NexusError {
  return new NexusError('INVALID_ARGUMENT', message, { fix, cause })
}

/** Faults of a call, before and around its tool. */
export const CALLS = {
  invalidArguments: (tool: string, problems: readonly string[], most: number) => {
    const more = problems.length > most ? `; and ${problems.length - most} more` : ''
    return words(`Invalid arguments for ${tool}: ${problems.slice(0, most).join('; ')}${more}`)
  },
  /** Source: contracts §4.2. */
  textRequired: (name: string) => words(`Parameter '${name}' is required and must be a non-empty string.`),
  brokenSchema: (tool: string, why: string) =>
    words(
      `The tool '${tool}' cannot be called: its parameters are not a valid JSON Schema: ${why}`,
      'Use another tool. Its author must correct the parameters.',
    ),
  notAnObject: () => words('The arguments must be a JSON object.'),
  tooDeep: (most: number) => words(`The arguments are nested more than ${most} levels deep.`),
  /** Source: contracts §1.9. */
  halted: () => words('Did not execute: halted due to error in previous tool'),
  notStarted: () => words('Did not execute: cancelled'),
  cancelledBefore: (tool: string) => words(`Tool '${tool}' was cancelled before it began.`),
  cancelled: (tool: string) => words(`Tool '${tool}' was cancelled.`),
  timedOut: (tool: string, seconds: number) => words(`Tool '${tool}' timed out after ${seconds}s.`),
  notStopped: (message: string) => words(`${message} It has not stopped yet.`),
  /** Source: contracts §1.9. */
  threw: (tool: string, why: string) => words(`Tool '${tool}' execution error: ${why}`),
  internal: (tool: string, why: string) => words(`Internal error in tool '${tool}': ${why}`),
  paused: (tool: string, { failures, seconds }: Record<'failures' | 'seconds', number>) =>
    words(
      `Tool '${tool}' did not run: it is paused, because its last ${failures} calls failed.`,
      `Use another tool, or call it again in ${seconds} s.`,
    ),
  noOutcome: (tool: string) =>
    words(`Tool '${tool}' returned no outcome. Its author must return succeeded(text, data) or failed(code, message).`),
  notJson: (why: string) => words(`The tool returned data that is not JSON: ${why}`),
} as const

/** Problems of arguments, as parts of `CALLS.invalidArguments`. */
export const ARGUMENTS = {
  notAnObject: () => 'the arguments must be one JSON object',
  unknown: (name: string, tool: string, { known, guess }: { known: readonly string[]; guess: string | undefined }) =>
    `unknown argument ${quoted(name)} of ${tool} (${
      guess === undefined ? `it takes ${known.length > 0 ? known.join(', ') : 'none'}` : `did you mean '${guess}'?`
    })`,
  unknownMore: (count: number) => `The tool does not take ${count} more of the given arguments.`,
  ignored: (problem: string) => `${problem}; it was ignored.`,
  polluting: (path: string) => `${path} is a name that no argument can have; leave it out, or use another name`,
  required: (path: string) => `${path} is required`,
  closed: (path: string) => `${path} is unknown`,
} as const

/** A next step that fits every failure of that kind, for a model. */
export const NEXT_STEPS: Readonly<Record<FailureCode, string>> = {
  NOT_FOUND: 'Check the name and use one that exists.',
  ACCESS_DENIED: 'Stay inside the directories that are allowed.',
  PERMISSION_DENIED: 'Do not repeat the call; find another way or ask the user.',
  INVALID_PARAM: 'Correct the arguments and call again.',
  TIMEOUT: 'Ask for less work in one call, or allow more time.',
  CANCELLED: 'Do not repeat the call unless you are asked to.',
  INTERNAL_ERROR: 'This is a fault of the tool; repeating the same call will not help.',
  EXECUTION_ERROR: 'Read the message, change what caused it, then try again.',
  CONFLICT: 'Inspect the present state first, then decide.',
  IS_DIRECTORY: 'Name a file inside the directory.',
  BINARY_FILE: 'Use it from a command instead of reading it as text.',
  CIRCUIT_OPEN: 'The tool failed several times; wait or use another one.',
  INTERRUPTED: 'The outcome is unknown: inspect the present state before repeating the call.',
}

/** Why `run_command` does not run a command. Texts without a fix are of contracts §3.2. */
export const COMMANDS = {
  changed: (paths: readonly string[]) =>
    `Changed ${paths.length} file${paths.length === 1 ? '' : 's'}: ${paths.slice(0, 5).map(toSafeLine).join(', ')}${paths.length > 5 ? ' …' : ''}`,
  required: () => words('Command is required'),
  empty: () => words('Empty command'),
  tooLong: (most: number) =>
    words(`Command is longer than ${most} bytes.`, 'Write it to a script file in the workspace, and run that.'),
  hidden: (character: string) => words(`Command contains the hidden character ${character}.`, 'Remove it.'),
  pattern: (pattern: string) => words(`Command contains dangerous pattern: ${toSafeLine(pattern)}`),
  notAllowed: (word: string) => words(`Command '${word}' is not in the allowed list`),
  blocked: (word: string) => words(`Command '${word}' is blocked for safety`),
  noWorkspace: () =>
    words(
      'The command did not run: this agent has no workspace.',
      'Ask the user to start Nexus in a directory of a project.',
    ),
  cwdOutside: (cwd: string) =>
    words(
      `cwd ${quoted(cwd)} is outside the workspace.`,
      'Give a directory relative to the workspace, or leave cwd out.',
    ),
  unconfined: () =>
    words(
      'run_command did not run: this agent has limits on paths or network, and without a sandbox Nexus cannot enforce them.',
      'Ask the user to set execution.sandbox: local.',
    ),
  notLoaded: (skill: string) =>
    words(
      `The skill '${skill}' was not loaded in this session, so no command runs for it.`,
      `Load '${skill}' first, or leave skill_name out.`,
    ),
  otherSkill: (skill: string, other: string) =>
    words(
      `The command is for '${skill}', but it names files of '${other}'.`,
      `Leave skill_name out to run it without the variables of '${skill}', or run two commands.`,
    ),
  timedOut: (seconds: number) => words(`Command timed out after ${seconds}s`),
  cancelled: () => words('Command was cancelled'),
  setupFailed: (skill: string, output: string) =>
    words(
      `The setup of the skill '${skill}' failed, so its command did not run. It wrote:\n${output}`,
      'The user corrects skills.entries.<key>.setup or network in nexus.yaml. Nexus tries it again when it has changed, or after 10 minutes.',
    ),
  killed: (signal: number | undefined) =>
    words(
      `Command was killed${signal === undefined ? '' : ` by signal ${signal}`}: it reached a limit, or something else ended it`,
    ),
  cut: () => 'The output is cut: send it to a file and read parts of it (head, tail, grep).',
} as const

/** Where the whole of an output is that the model sees only the beginning of. */
export const OUTPUTS = {
  saved: (saved: { name: string; id: string; bytes: number; isCut: boolean; days: number }) =>
    `The ${saved.isCut ? 'first' : 'whole'} ${saved.bytes} bytes of ${saved.name} are kept for ${saved.days} days. The user prints them with: nexus sessions show --output ${saved.id}`,
  lost: ({ name, why }: { name: string; why: string }) => `The rest of ${name} was not kept: ${toSafeLine(why)}`,
} as const

/** Why a file or a search of skills gives nothing. */
export const READS = {
  noLine: (path: string, line: number) =>
    words(`The file ${toSafeLine(path)} has no line ${line}.`, 'Give a smaller offset.'),
  empty: (path: string) => `The file ${toSafeLine(path)} is empty.`,
  cut: ({ from, to, of, isLastCut }: { from: number; to: number; of: number; isLastCut: boolean }) =>
    `[Cut: only lines ${from} to ${to} of ${of}.${
      isLastCut ? ` Line ${to} is too long to be shown whole; use a command to see its rest.` : ''
    }${to < of ? ` Read on with offset ${to + 1}.` : ''}]`,
  listed: (path: string, { shown, from, total }: { shown: number; from: number; total: string }) =>
    `[Cut: entries ${from} to ${from + shown - 1} of ${total} in ${toSafeLine(path)}. Read on with offset ${from + shown}.]`,
  listedLast: (path: string, most: number) =>
    `[Cut: ${toSafeLine(path)} has more than ${most} entries; the others are not listed. Use a command to see them.]`,
  emptyDirectory: (path: string) => `The directory ${toSafeLine(path)} is empty.`,
  noEntry: (path: string, offset: number) =>
    words(`The directory ${toSafeLine(path)} has no entry ${offset}.`, 'Give a smaller offset.'),
} as const

/** A line about characters of a text that only the model reads; empty when there is none. */
export function hiddenNote(text: string): string[] {
  const hidden = hiddenIn(text)
  if (hidden === '') return []
  return [
    `\n[Note: this text contains characters that a person does not see: ${hidden}. A person who inspected it did not see them.]`,
  ]
}

const leftOut = (name: string, why: string, fix: string): Message =>
  words(`The tool ${quoted(name)} is left out: ${why}`, fix)

/** Faults of a tool, for its author. */
export const TOOLS = {
  badName: (name: string, problem: string) => words(`The tool name '${name}' ${problem}.`, 'Give it another name.'),
  noDescription: (name: string) =>
    words(`The tool '${name}' has no description.`, 'Say what it does and when to use it: the model chooses by it.'),
  notAnObjectSchema: (name: string) =>
    words(
      `The parameters of tool '${name}' are not an object schema.`,
      `Use { type: 'object', properties: … } at the top.`,
    ),
  noJsonSchema: (name: string, library: string) =>
    words(
      `The parameters of tool '${name}' cannot be shown to a model: ${library} gives no JSON Schema.`,
      'Use zod 4, wrap a valibot schema in toStandardJsonSchema of @valibot/to-json-schema, or pass a JSON Schema.',
    ),
  notJsonSchema: (name: string, why: string) =>
    words(
      `The parameters of tool '${name}' cannot be written as JSON Schema: ${why}`,
      'Use types that JSON Schema has.',
    ),
  noService: (key: string, registered: readonly string[]) =>
    words(
      `No service is registered as '${key}'.`,
      `Register it first. Registered: ${registered.join(', ') || 'none'}.`,
    ),
  leftOutName: (name: string, problem: string) => leftOut(name, `its name ${problem}.`, 'Give it another name.'),
  leftOutClash: (name: string, other: string) =>
    leftOut(
      name,
      `its name differs from ${quoted(other)} only in case.`,
      'Policies compare names in lower case: choose another name.',
    ),
  leftOutFactory: (name: string, why: string) =>
    leftOut(name, `its factory failed: ${toSafeLine(why)}`, 'Correct the factory, then register the tool again.'),
  leftOutOtherName: (name: string, made: string) =>
    leftOut(
      name,
      `its factory makes a tool named ${quoted(made)}.`,
      `Register it as ${quoted(made)}, or give the tool that name: policy goes by the name.`,
    ),
  leftOutSchema: (name: string, why: string) =>
    leftOut(
      name,
      `its parameters are not a valid JSON Schema: ${toSafeLine(why)}`,
      `Use { type: 'object', properties: … } at the top.`,
    ),
} as const
