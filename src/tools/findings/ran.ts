import type { CommandResult } from '../../machine/sandbox/index.ts'

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
  readonly skillDirectories: readonly SkillDirectory[]
  /** Whether a person typed the command. */
  readonly isTyped: boolean
  /** Where this machine has a program that commands do not find. */
  readonly findOnHost?: ((program: string) => string | undefined) | undefined
}

/** A directory that contains the files of a skill, as commands see it. */
export interface SkillDirectory {
  readonly path: string
  /** How the skill is called; absent for a directory that contains several. */
  readonly name?: string
  /** The user's own directory of the skill, where that is known. */
  readonly original?: string
}

/** What curl writes of its progress before a message. */
const PROGRESS = /^[\s\d:.%-]{8,}(?=[a-z])/
const MAX_SEARCHED_CHARS = 100_000
const MAX_QUOTED_CHARS = 160

/**
 * The lines in which a command reports failures: stderr; also stdout when the command sends its errors there, or failed.
 * The output of a command that went well is data and may speak of anything.
 */
export function textOf({ command, result }: Pick<Ran, 'command' | 'result'>): readonly string[] {
  const { stdout, stderr, end, exitCode } = result
  const isMixed = /2>&1|&>|\|&/.test(command) || end !== 'exit' || exitCode !== 0
  const text = isMixed ? `${stderr.slice(0, MAX_SEARCHED_CHARS)}\n${stdout.slice(0, MAX_SEARCHED_CHARS)}` : stderr
  // Progress is drawn over itself with carriage returns.
  return text
    .slice(0, 2 * MAX_SEARCHED_CHARS)
    .split(/[\r\n]+/)
    .filter((line) => line.length < 4000)
    .map((line) => line.replace(PROGRESS, ''))
}

/** The command that a shell around it runs: `bash -c '…'`. Models and wrappers of commands write it so. */
export function innerCommand(command: string): string {
  const match = /^\s*(?:\/bin\/)?(?:ba|z|da)?sh\s+-l?c\s+(['"])([^]*)\1\s*$/.exec(command)
  const [, quote = '', inner = command] = match ?? []
  return match && !inner.includes(quote) ? inner : command
}

/** A part of the line, with what starts at `index`. */
export function quotedLine(line: string, index = 0): string {
  const text = line.replace(/"/g, "'")
  const isFar = index > MAX_QUOTED_CHARS / 2
  const start = isFar ? index - MAX_QUOTED_CHARS / 4 : 0
  const part = text
    .slice(start, start + MAX_QUOTED_CHARS)
    .trim()
    .toWellFormed()
  const isCut = text.trimEnd().length > start + MAX_QUOTED_CHARS
  return `${isFar ? '…' : ''}${part}${isCut ? '…' : ''}`
}

/** The skill directory that contains the path. */
export function skillDirectoryOf(path: string, { skillDirectories }: Ran): SkillDirectory | undefined {
  return skillDirectories.find((each) => path === each.path || path.startsWith(`${each.path}/`))
}
