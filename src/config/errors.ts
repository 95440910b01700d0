/** errors: the second part of the table in `messages.ts`: what a caller of the configuration gets as an error. */
import { commandFix, type ErrorCode, NexusError, type ProposedCommand } from '../kernel/index.ts'

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
export function configError({ code, message, fix, proposal }: ConfigError, cause?: unknown): NexusError {
  return new NexusError(code, message, {
    fix,
    ...(proposal && { proposal }),
    ...(cause !== undefined && { cause }),
  })
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
  noDirectory: ({ directory }: Facts<'directory'>) =>
    words('FILE_NOT_FOUND', `The directory ${directory} does not exist.`, 'Name the directory of a workspace.'),
  trustNotWritten: ({ path, why }: Facts<'path' | 'why'>) =>
    words(
      'STORE_FAILED',
      `Nexus cannot write the list of trusted workspaces ${path}: ${why}.`,
      'Give this user write access to it, or set NEXUS_HOME.',
    ),
} as const
