import type { Examined } from '../diagnose/index.ts'
import { type Diagnostic, isNexusError, type NexusError, type Skill } from '../../kernel/index.ts'
import { loadsCleanly } from '../sources/index.ts'
import { MESSAGES } from './messages.ts'
import { readWhole } from './read-whole.ts'

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

/** What the parser found, as `invalidSkill` keeps it. */
function isDiagnostic(cause: unknown): cause is Diagnostic {
  return typeof cause === 'object' && cause !== null && 'severity' in cause && 'message' in cause
}
