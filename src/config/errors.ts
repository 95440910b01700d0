/** errors: the second part of the table in `messages.ts`: what a caller of the configuration gets as an error. */
import {
  commandFix,
  commandLine,
  type ErrorCode,
  NexusError,
  type ProposedCommand,
  shellWord,
  toSafeLine,
} from '../kernel/index.ts'

/** One error in words. */
export interface ConfigError {
  readonly code: ErrorCode
  readonly message: string
  readonly fix: string
  readonly proposal?: ProposedCommand
}

/** Facts by name; values as they may be shown. */
type Facts<Names extends string> = Readonly<Record<Names, string>>

const words = (code: ErrorCode, message: string, fix: string | ReturnType<typeof commandFix>): ConfigError => ({
  code,
  message,
  ...(typeof fix === 'string' ? { fix } : fix),
})

/** One of `ERRORS` as the error of the caller. */
export function configError({ code, message, fix, proposal }: ConfigError, cause?: unknown, path?: string): NexusError {
  return new NexusError(code, message, {
    fix,
    ...(proposal && { proposal }),
    ...(cause !== undefined && { cause }),
    path,
  })
}

interface ForeignOwner {
  readonly path: string
  readonly uid: number
  /** Undefined where no account of this machine has that uid. */
  readonly name: string | undefined
  /** How root becomes the owner. */
  readonly start: 'without sudo' | 'sudo' | 'su'
  readonly argv: readonly string[] | undefined
}

/** The line that runs a command as the owner, with the owner's home; none without an account. */
function asOwner({ name, start }: ForeignOwner, line: string): string[] {
  if (start === 'without sudo') return [`Run it without sudo: ${line}`]
  if (name === undefined) return []
  const account = shellWord(name)
  const lines = { sudo: `sudo -H -u ${account} ${line}`, su: `su ${account} -s /bin/sh -c ${shellWord(line)}` }
  return [`Run it as the owner: ${lines[start]}`]
}

/** Arguments behind `--` belong to the command of a skill. */
function asRootArgs(argv: readonly string[]): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return [...argv.slice(0, end), '--as-root', ...argv.slice(end)]
}

/** Errors of a caller: nothing was loaded or changed. */
export const ERRORS = {
  noHome: () =>
    words(
      'CONFIG_INVALID',
      'Nexus did not find your home directory. HOME names no absolute path, and this system knows none for the user who runs Nexus.',
      'Set HOME to a directory of yours, by its absolute path.',
    ),
  relativeVariable: ({ name, value }: Facts<'name' | 'value'>) =>
    words(
      'CONFIG_INVALID',
      `${name} must be an absolute path; it is "${value}".`,
      `Write it from the root on, or from your home directory with ~/, or unset ${name}.`,
    ),
  /** `findings` is one line each. */
  invalid: (findings: readonly string[]) =>
    words(
      'CONFIG_INVALID',
      `The configuration has ${findings.length === 1 ? 'an error' : `${findings.length} errors`}:\n${findings.join('\n')}`,
      commandFix('Correct the file. To see every finding, run:', 'config', 'check'),
    ),
  noSecret: ({ at, setting, command, why }: Facts<'at' | 'setting' | 'command' | 'why'>) =>
    words(
      'CONFIG_INVALID',
      `${at} ${setting}: the command ${command} ${why}.`,
      'Run the command yourself, and read what it reports.',
    ),
  foreignOwner: (facts: ForeignOwner) =>
    words(
      'FOREIGN_OWNER',
      `You are root, and ${toSafeLine(facts.path)} belongs to ${toSafeLine(facts.name ?? `uid ${facts.uid}`)}. Nexus did not use it, because its owner would decide what root runs.`,
      facts.argv === undefined
        ? 'Run the program as the owner. To let root use these files, set asRoot: true.'
        : commandFix(
            [...asOwner(facts, commandLine('nexus', facts.argv)), 'To let root use these files, run:'].join('\n'),
            ...asRootArgs(facts.argv),
          ),
    ),
  noDirectory: ({ directory }: Facts<'directory'>) =>
    words('FILE_NOT_FOUND', `The directory ${directory} does not exist.`, 'Name the directory of a workspace.'),
  trustNotWritten: ({ path, why }: Facts<'path' | 'why'>) =>
    words(
      'STORE_FAILED',
      `Nexus cannot write the list of trusted workspaces ${path}: ${why}.`,
      'Give this user write access to it, or set NEXUS_HOME.',
    ),
} as const
