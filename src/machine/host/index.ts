/** host: runs programs of the user's own machine, unconfined, for Nexus itself; never a command of a skill or a model. */
import type { GitRequest, GitSetting } from './git.ts'
import type { ProgramRequest, ProgramResult } from './run-program.ts'
import type { SecretCommandRequest, SecretCommandResult } from './secret-command.ts'

export type { GitRequest, GitSetting, GitUser } from './git.ts'
export type { ProgramRequest, ProgramResult } from './run-program.ts'
export { SYSTEM_PATH } from './system-path.ts'

/**
 * Runs one program with the user's rights, without a shell, and returns when all that it started in its group has ended.
 * Rejects only with the reason of an aborted signal.
 */
export async function runProgram(request: ProgramRequest): Promise<ProgramResult> {
  return (await import('./run-program.ts')).run(request)
}

/**
 * Runs a program that the operator named as the source of a secret: 5 s, 64 KiB. Its stderr is dropped, since it may quote the
 * secret. Rejects only with the reason of an aborted signal.
 */
export async function runSecretCommand(request: SecretCommandRequest): Promise<SecretCommandResult> {
  return (await import('./secret-command.ts')).run(request)
}

/**
 * Runs the machine's git with nothing of the system's, the user's or a repository's configuration but `user`. It asks for no password, runs no
 * hook and follows no redirect. Rejects only with the reason of an aborted signal.
 */
export async function runGit(request: GitRequest): Promise<ProgramResult> {
  return (await import('./git.ts')).run(request)
}

/** Reads from the user's own git configuration: credentials, proxy, certificates and rewritten addresses. Empty without git. */
export async function readGitSettings(home: string, signal?: AbortSignal): Promise<readonly GitSetting[]> {
  return (await import('./git.ts')).readSettings(home, signal)
}
