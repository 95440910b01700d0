import type { CommandResult } from '../../machine/sandbox/index.ts'

/** A finding about one command: `code` and `subject` for programs, and its sentence with one next step. */
export interface CommandFinding {
  readonly code: FindingCode
  /** The machine, path, file, program, variable or limit that it is about. */
  readonly subject: string
  readonly message: string
  readonly fix: string
}

/** Each has a section in docs/errors.md. */
export type FindingCode =
  | 'no-network'
  | 'host-refused'
  | 'no-input'
  | 'ended-by-signal'
  | 'still-running'
  | 'outside-workspace'
  | 'home-discarded'
  | 'install-refused'
  | 'resource-limit'
  | 'program-missing'
  | 'file-in-skill'
  | 'not-executable'
  | 'variable-not-given'
  | 'time-limit'
  | 'old-revision'

/** A command that ended, with the facts that its findings depend on. */
export interface CommandRun {
  readonly command: string
  /** Absolute, as the command sees it. */
  readonly workspace: string
  /** Absolute directory in which it started. */
  readonly startedIn: string
  readonly result: CommandResult
  /** Whether it was given no input. */
  readonly isInputEmpty: boolean
  /** False where commands run with the user's own rights. */
  readonly isConfined: boolean
  /** Whether commands reach other machines; undefined when that is not known. */
  readonly network?: boolean | undefined
  /** Where a person allows a host for it: the setting and its file. */
  readonly hostSetting: { readonly name: string; readonly file: string }
  /** Directories with the files of skills, as commands see them: of one skill, or of several. */
  readonly skillDirectories: readonly string[]
  /** Whether a person typed the command. */
  readonly isTyped: boolean
  /** Where this machine has a program that commands do not find. */
  readonly findOnHost?: ((program: string) => string | undefined) | undefined
}

const MAX_SEARCHED_CHARS = 100_000

export function hasFailed({ end, exitCode }: CommandResult): boolean {
  return end !== 'exit' || exitCode !== 0
}

/**
 * The lines in which a command reports failures: stderr; also stdout when the command sends its errors there, or failed.
 * The output of a command that went well is data and may contain anything.
 */
export function linesOf({ command, result }: Pick<CommandRun, 'command' | 'result'>): readonly string[] {
  const isMixed = /2>&1|&>|\|&/.test(command) || hasFailed(result)
  const texts = isMixed ? [result.stderr, result.stdout] : [result.stderr]
  // Progress is drawn over itself with carriage returns.
  const lines = texts.flatMap((text) => text.slice(0, MAX_SEARCHED_CHARS).split(/[\r\n]+/))
  return lines.filter((line) => line.length < 4000)
}
