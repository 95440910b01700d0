/** host: runs programs of the user's own machine, unconfined, for Nexus itself; never a command of a skill or a model. */
import { DEFAULTS } from '../../kernel/index.ts'
import type { GitRequest, GitSetting } from './git.ts'
import type { ProgramRequest, ProgramResult } from './run-program.ts'

import type { ServiceRequest } from './start-service.ts'

export type { GitRepository, GitRequest, GitSetting, GitUser } from './git.ts'
export type { ProgramRequest, ProgramResult } from './run-program.ts'
export { findOnPath, safePath, SYSTEM_PATH } from './find-program.ts'

/**
 * Runs one program with the user's rights, without a shell, and returns when all that it started in its group has ended.
 * Rejects only with the reason of an aborted signal.
 */
export async function runProgram(request: ProgramRequest): Promise<ProgramResult> {
  return (await import('./run-program.ts')).run(request)
}

/** Starts a program of ours that goes on after this process; resolves when it started. The inner promise is its exit code. */
export async function startService(request: ServiceRequest): Promise<{ readonly ended: Promise<number | undefined> }> {
  const { start } = await import('./start-service.ts')
  return { ended: start(request) }
}

const SECRET_TIMEOUT_MS = 5_000

/** `why` completes the sentence "the command …". */
type SecretResult =
  | { readonly type: 'done'; readonly output: string }
  | { readonly type: 'failed'; readonly why: string }

/**
 * Runs a program that the operator named as the source of a secret: 5 s, 64 KiB. Its stderr is dropped, since it may quote the
 * secret. Rejects only with the reason of an aborted signal.
 */
export async function runSecretCommand(
  request: Pick<ProgramRequest, 'command' | 'environment' | 'input' | 'signal'>,
): Promise<SecretResult> {
  const limits = { timeoutMs: SECRET_TIMEOUT_MS, maxOutputBytes: DEFAULTS.maxSecretBytes }
  const ended = await runProgram({ ...request, ...limits })
  if (ended.type === 'failed') return { type: 'failed', why: ended.why }
  if (ended.code !== 0) return { type: 'failed', why: `ended with ${ended.signal ?? `code ${ended.code}`}` }
  try {
    return { type: 'done', output: new TextDecoder('utf-8', { fatal: true }).decode(ended.stdout) }
  } catch {
    return { type: 'failed', why: 'wrote something that is not UTF-8 text' }
  }
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

/** Each setting of one configuration file of git, without what it includes; `''` is the system's. Undefined when git cannot read it, or is not there. */
export async function listGitSettings(file: string, home: string): Promise<readonly GitSetting[] | undefined> {
  return (await import('./git.ts')).listSettings(file, home)
}
