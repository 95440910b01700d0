import type { Examined } from '../diagnose/index.ts'
import { type Diagnostic, isNexusError, type NexusError, type Skill, SKILL_FILE } from '../../kernel/index.ts'
import { MESSAGES } from './messages.ts'
import { readWhole } from './read-whole.ts'
import { listFiles } from '../../machine/skill-files/index.ts'

export interface ExamineOptions {
  readonly signal?: AbortSignal
  /** Read only what raises a doubt: for many skills at once. Default false. */
  readonly isQuick?: boolean
}

/**
 * Reads a skill as loading it does, by the same code, and returns what is wrong; nothing is placed or kept. Throws CANCELLED.
 */
export async function examineSkill(skill: Skill, options: ExamineOptions = {}): Promise<Examined> {
  const { signal, isQuick = false } = options
  try {
    if (isQuick && (await loadsCleanly(skill, signal))) return { leftOut: [] }
    const { manifest } = await readWhole(skill, undefined, signal)
    return { leftOut: manifest.leftOut }
  } catch (error) {
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    return { leftOut: [], problem: problemOf(skill, error) }
  }
}

function problemOf(skill: Skill, error: NexusError): NonNullable<Examined['problem']> {
  const { message, path, cause, fix, proposal } = error
  const next = fix === undefined ? MESSAGES.inspect(skill.directory) : { fix, ...(proposal && { proposal }) }
  if (!isDiagnostic(cause))
    return { code: 'cannot-load', message: message.replace(/\.$/, ''), path: path ?? skill.file, ...next }
  const { code, line } = cause
  return { code, message: cause.message, path: skill.file, ...(line !== undefined && { line }), ...next }
}

function isDiagnostic(cause: unknown): cause is Diagnostic {
  return typeof cause === 'object' && cause !== null && 'severity' in cause && 'message' in cause
}

/**
 * True when the files of a skill keep the limits and none is left out, so that loading it cannot fail for its files. False in doubt:
 * loading then gives the reason. Reads no file. Throws only CANCELLED.
 */
async function loadsCleanly(
  skill: Pick<Skill, 'directory' | 'file' | 'linkedTo' | 'stamp'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const { files, leftOut, problem } = await listFiles(skill, signal ? { signal } : {})
  return problem === undefined && leftOut.length === 0 && files.some(({ path }) => path === SKILL_FILE)
}
