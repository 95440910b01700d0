import { type Diagnostic, isNexusError, nameKey, NexusError, type RejectedSkill, type Skill } from '../kernel/index.ts'
import { finding } from './codes.ts'
import { createPace, throwIfAborted } from './pace.ts'
import type { SkillSource, SourceResult } from './source.ts'

/**
 * Asks every source in order and joins what they hold. A source that fails is a diagnostic, the others load.
 * Throws INVALID_ARGUMENT when two sources have one id, CANCELLED when the signal aborts.
 */
export async function discover(
  sources: readonly SkillSource[],
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<SourceResult> {
  checkIds(sources)
  const skills: Skill[] = []
  const rejected: RejectedSkill[] = []
  const diagnostics: Diagnostic[] = []
  // Sources breathe by themselves, but many that are small enough not to would make one long stretch.
  const pace = createPace(signal)
  for (const source of sources) {
    const pause = pace()
    if (pause) await pause
    try {
      const result = await source.discover(signal)
      // Not by spreading into push: a large source would exceed the number of arguments.
      for (const skill of result.skills) skills.push(skill)
      for (const skill of result.rejected) rejected.push(skill)
      for (const diagnostic of result.diagnostics) diagnostics.push(diagnostic)
    } catch (error) {
      throwIfAborted(signal)
      if (isNexusError(error) && error.code === 'CANCELLED') throw error
      const message = `the source ${JSON.stringify(source.id)} failed: ${error instanceof Error ? error.message : String(error)}`
      diagnostics.push(
        finding('source-failed', source.id, { message, fix: 'correct the cause; the other sources are loaded' }),
      )
    }
  }
  return { skills, rejected, diagnostics, digests: digestsOf(skills) }
}

/** Only files of skills that share a name are hashed. */
function digestsOf(skills: readonly Skill[]): ReadonlyMap<string, string> {
  const shared = [...Map.groupBy(skills, ({ name }) => nameKey(name)).values()]
    .filter(({ length }) => length > 1)
    .flat()
  return new Map(
    shared.map(({ file, fileDigest }) => [file, fileDigest] as const).filter(([, digest]) => digest !== ''),
  )
}

/** Throws INVALID_ARGUMENT when two sources have one id. */
export function checkIds(sources: readonly SkillSource[]): void {
  const seen = new Set<string>()
  for (const { id } of sources) {
    if (seen.has(id)) {
      throw new NexusError('INVALID_ARGUMENT', `two sources have the id ${JSON.stringify(id)}`, {
        fix: 'give each source its own id',
      })
    }
    seen.add(id)
  }
}
