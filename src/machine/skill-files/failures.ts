import {
  codeOf,
  createPace as createAnyPace,
  FileError,
  type Pace,
  yieldToEventLoop as yieldOnce,
} from '../files/index.ts'
import { type ErrorCode, errorMessage, NexusError, shellWord } from '../../kernel/index.ts'

/** The sentence of a failure for those who asked for a file of a skill. Not in it: what makes the skill unusable. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  EAGAIN: 'PATH_OUTSIDE',
  EFBIG: 'LIMIT_EXCEEDED',
  EINVAL: 'INVALID_ARGUMENT',
  EISDIR: 'INVALID_ARGUMENT',
  ELOOP: 'PATH_OUTSIDE',
  ENAMETOOLONG: 'INVALID_ARGUMENT',
  ENOENT: 'FILE_NOT_FOUND',
  ENOTDIR: 'FILE_NOT_FOUND',
  ENXIO: 'INVALID_ARGUMENT',
  EXDEV: 'PATH_OUTSIDE',
}
const GIVE_RELATIVE = 'give a path relative to the skill, such as references/guide.md'
const FIXES: Readonly<Record<string, string>> = {
  EAGAIN: 'use a real file inside the skill, not a link',
  EINVAL: GIVE_RELATIVE,
  ELOOP: 'use a real file inside the skill, not a link',
  EXDEV: GIVE_RELATIVE,
}

/** A failure of files/ as the error of our callers; anything else stays what it is. */
export function asSkillFailure(error: unknown): unknown {
  if (!(error instanceof FileError)) return error
  const { code, path, message } = error
  const known = CODES[code]
  if (known !== undefined) return new NexusError(known, message, { path, fix: FIXES[code], cause: error })
  return new NexusError('SKILL_INVALID', `${JSON.stringify(path)} cannot be read: ${reasonOf(error)}`, {
    path,
    fix: `make it readable for the user that runs Nexus, for example: chmod -R a+rX ${shellWord(path)}`,
    cause: error,
  })
}

/** Runs work on files with its failures as those of a skill. */
export async function withSkillFailures<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asSkillFailure(error)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it does not exist',
  ELOOP: 'too many links',
  ENAMETOOLONG: 'the name is too long',
}

/** The reason in an error of the file system, for people. */
export function reasonOf(error: unknown): string {
  return REASONS[codeOf(error)] ?? errorMessage(error)
}

/** A pace that also ends the work: throws NexusError CANCELLED once the signal is aborted. */
export function createPace(signal?: AbortSignal): Pace {
  return createAnyPace(() => throwIfAborted(signal))
}

/** Lets timers, I/O and other waiting callbacks run once. Throws NexusError CANCELLED once the signal is aborted. */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await yieldOnce()
  throwIfAborted(signal)
}

/** Throws NexusError CANCELLED when the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new NexusError('CANCELLED', 'the caller cancelled', { cause: signal.reason })
}
