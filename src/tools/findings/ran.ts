import type { CommandResult } from '../../sandbox/index.ts'

/** A command that ended, with what the findings about it depend on. */
export interface Ran {
  readonly command: string
  /** Absolute, as the command sees it. */
  readonly workspace: string
  /** Absolute directory in which it started. */
  readonly startedIn: string
  readonly result: CommandResult
  /** False where commands run with the user's own rights. */
  readonly isConfined: boolean
  /** Whether commands reach other machines; undefined when that is not known. */
  readonly network: boolean | undefined
  /** Directories of skills, which commands read and cannot change. */
  readonly skillDirectories: readonly string[]
  /** Where this machine has a program that commands do not find. */
  readonly findOnHost?: ((program: string) => string | undefined) | undefined
}

const MAX_SEARCHED_CHARS = 100_000
const MAX_QUOTED_CHARS = 160

/**
 * The lines in which a command reports failures: stderr; also stdout when the command sends its errors there, or failed.
 * The output of a command that went well is data and may speak of anything.
 */
export function textOf({ command, result }: Ran): readonly string[] {
  const { stdout, stderr, end, exitCode } = result
  const isMixed = /2>&1|&>|\|&/.test(command) || end !== 'exit' || exitCode !== 0
  const text = isMixed ? `${stderr.slice(0, MAX_SEARCHED_CHARS)}\n${stdout.slice(0, MAX_SEARCHED_CHARS)}` : stderr
  // Progress is drawn over itself with carriage returns.
  return text
    .slice(0, 2 * MAX_SEARCHED_CHARS)
    .split(/[\r\n]+/)
    .filter((line) => line.length < 4000)
}

export function quotedLine(line: string): string {
  const text = line.replace(/"/g, "'").trim()
  return text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS).toWellFormed()}…` : text
}
