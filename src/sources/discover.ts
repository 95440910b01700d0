import {
  DEFAULTS,
  type Diagnostic,
  isNexusError,
  nameKey,
  NexusError,
  type RejectedSkill,
  sha256,
  type Skill,
  SKILL_FILE,
  toSafeLine,
} from '../kernel/index.ts'
import { finding } from './codes.ts'
import { readOfSkill, type SkillLocation } from './files/manifest.ts'
import { createPace, throwIfAborted } from './pace.ts'
import type { SkillSource, SourceResult } from './source.ts'

export interface DiscoverOptions {
  readonly signal?: AbortSignal
  /** What an earlier discovery of the same sources found: files of skills that did not change are not read again. */
  readonly previous?: SourceResult
}

/**
 * Asks every source in order and joins what they hold. A source that fails is a diagnostic, the others load.
 * Throws INVALID_ARGUMENT when two sources have one id, CANCELLED when the signal aborts.
 */
export async function discover(
  sources: readonly SkillSource[],
  { signal, previous }: DiscoverOptions = {},
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
  const sharedNames = [...Map.groupBy(skills, ({ name }) => nameKey(name)).values()].filter(({ length }) => length > 1)
  const digests = await digestsOf(sharedNames.flat(), { previous, signal })
  for (const copies of sharedNames) diagnostics.push(...duplicatesIn(copies, digests))
  return { skills, rejected, diagnostics, digests }
}

/**
 * sha256 of the SKILL.md of each skill, by its path, so that equal copies can be told from different ones. A source gives the same
 * object for a skill that did not change, so its earlier digest holds.
 */
async function digestsOf(
  skills: readonly Skill[],
  { previous, signal }: { readonly previous: SourceResult | undefined; readonly signal: AbortSignal | undefined },
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>()
  if (skills.length === 0) return digests
  const unchanged = new Set(previous?.skills)
  for (const skill of skills) {
    const known = unchanged.has(skill) ? previous?.digests?.get(skill.file) : undefined
    const digest = known ?? (await fileDigest(skill, signal))
    if (digest !== undefined) digests.set(skill.file, digest)
  }
  return digests
}

/**
 * A warning for each copy of one name that a different copy of the same source hides. Within a source the last in path
 * order is used. Source: decisions, "duplicate names".
 */
function duplicatesIn(copies: readonly Skill[], digests: ReadonlyMap<string, string>): Diagnostic[] {
  return [...Map.groupBy(copies, ({ origin }) => origin.source).values()].flatMap((ofSource) => {
    const used = ofSource.at(-1)
    if (used === undefined) return []
    const digest = digests.get(used.file)
    const hidden = ofSource.slice(0, -1).filter(({ file }) => digest === undefined || digests.get(file) !== digest)
    return hidden.map(({ name, file, origin }) => {
      const message = `Source '${origin.source}' has '${toSafeLine(name)}' twice: ${toSafeLine(used.file)} is used, ${toSafeLine(file)} is not.`
      const fix = 'Give one of them another name, or remove it.'
      return { ...finding('duplicate-name', file, { message, fix }), subject: toSafeLine(name) }
    })
  })
}

/** sha256 (hex) of a skill's SKILL.md as it is now; undefined when it cannot be read. Throws only CANCELLED. */
export async function fileDigest(skill: SkillLocation, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const options = { maxBytes: DEFAULTS.maxSkillFileBytes, ...(signal && { signal }) }
    const { bytes } = await readOfSkill(skill, SKILL_FILE, options)
    return sha256(bytes)
  } catch {
    throwIfAborted(signal)
    // Gone, closed to us, or a link by now: loading the skill says why.
    return undefined
  }
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
