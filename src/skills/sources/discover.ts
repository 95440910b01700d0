import { dirname, relative } from 'node:path'
import {
  DEFAULTS,
  type Diagnostic,
  isNexusError,
  nameKey,
  NexusError,
  type InvalidSkill,
  sha256,
  type Skill,
  SKILL_FILE,
  toSafeLine,
} from '../../kernel/index.ts'
import { finding } from './codes.ts'
import {
  readManifest,
  readOfSkill,
  type SkillLocation,
  createPace,
  throwIfAborted,
} from '../../machine/skill-files/index.ts'
import { MESSAGES } from './messages.ts'
import type { SkillSource, SourceResult } from './source.ts'

export interface DiscoverOptions {
  readonly signal?: AbortSignal
}

/**
 * Asks every source in order and joins what they hold. A source that fails is a diagnostic, the others load.
 * Throws INVALID_ARGUMENT when two sources have one id, CANCELLED when the signal aborts.
 */
export async function discover(
  sources: readonly SkillSource[],
  { signal }: DiscoverOptions = {},
): Promise<SourceResult> {
  checkIds(sources)
  const skills: Skill[] = []
  const invalid: InvalidSkill[] = []
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
      for (const skill of result.invalid) invalid.push(skill)
      for (const diagnostic of result.diagnostics) diagnostics.push(diagnostic)
    } catch (error) {
      throwIfAborted(signal)
      if (isNexusError(error) && error.code === 'CANCELLED') throw error
      const reason = error instanceof Error ? error.message : String(error)
      diagnostics.push(finding('source-failed', source.id, MESSAGES['source-failed'](source.id, reason)))
    }
  }
  const sharedNames = [...Map.groupBy(skills, ({ name }) => nameKey(name)).values()].filter(({ length }) => length > 1)
  const treeDigests = new Map<string, string>()
  for (const copies of sharedNames) {
    await addTreeDigests(copies, treeDigests, signal)
    diagnostics.push(...duplicatesIn(copies, treeDigests))
  }
  return { skills, invalid, diagnostics, treeDigests }
}

/**
 * Copies are duplicates when all their files are equal. A tree is read only where size and digest of SKILL.md are those of another
 * copy, so that most copies cost nothing.
 */
async function addTreeDigests(
  copies: readonly Skill[],
  treeDigests: Map<string, string>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const directories = new Map(copies.map((skill) => [skill.directory, skill]))
  for (const ofSize of severalOf(directories.values(), ({ stamp }) => stamp.size)) {
    const read = new Map<Skill, string | undefined>()
    for (const skill of ofSize) read.set(skill, await fileDigest(skill, signal))
    for (const equal of severalOf(ofSize, (skill) => read.get(skill))) {
      for (const skill of equal) {
        const digest = await treeDigestOf(skill, signal)
        if (digest !== undefined) treeDigests.set(skill.file, digest)
      }
    }
  }
}

/** Groups of more than one skill with the same key; those without a key are in none. */
function severalOf(skills: Iterable<Skill>, keyOf: (skill: Skill) => number | string | undefined): readonly Skill[][] {
  const groups = Map.groupBy(skills, keyOf)
  groups.delete(undefined)
  return [...groups.values()].filter(({ length }) => length > 1)
}

async function treeDigestOf(skill: Skill, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    return (await readManifest(skill, { signal })).treeDigest
  } catch {
    throwIfAborted(signal)
    // Too large, changed or closed to us: loading the skill says why.
    return undefined
  }
}

/**
 * A warning for each copy of one name that a different copy of the same source hides. Within a source the last in path
 * order is used. Source: decisions, "duplicate names".
 */
function duplicatesIn(copies: readonly Skill[], treeDigests: ReadonlyMap<string, string>): Diagnostic[] {
  return [...Map.groupBy(copies, ({ origin }) => origin.source).values()].flatMap((ofSource) => {
    const used = ofSource.at(-1)
    if (used === undefined) return []
    const digest = treeDigests.get(used.file)
    const hidden = ofSource.slice(0, -1).filter(({ file }) => digest === undefined || treeDigests.get(file) !== digest)
    return hidden.map(({ name, file, origin }) => {
      const words = MESSAGES['duplicate-name']({
        source: origin.source,
        name,
        used: relative(dirname(file), used.file),
      })
      return { ...finding('duplicate-name', file, words), subject: toSafeLine(name) }
    })
  })
}

/** sha256 (hex) of a skill's SKILL.md as it is now; undefined when it cannot be read. Throws only CANCELLED. */
export async function fileDigest(skill: SkillLocation, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const { bytes } = await readOfSkill(skill, SKILL_FILE, { maxBytes: DEFAULTS.maxSkillFileBytes, signal })
    return sha256(bytes)
  } catch {
    throwIfAborted(signal)
    // Gone, closed to us, or a link by now: loading the skill says why.
    return undefined
  }
}

/** Throws INVALID_ARGUMENT when two sources have one id. */
function checkIds(sources: readonly SkillSource[]): void {
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
