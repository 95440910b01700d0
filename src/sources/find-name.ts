import type { Diagnostic, RejectedSkill, Skill } from '../kernel/index.ts'
import { finding } from './codes.ts'
import { checkIds } from './discover.ts'
import { PLAIN_NAME } from './probe.ts'
import type { AskedName, SkillSource, SourceResult } from './source.ts'

/** Directories that are looked into for one name, in all sources together: some milliseconds, as long as the rest of the command's own work. */
const MOST_DIRECTORIES = 250

/**
 * The copies of one skill in all sources (in order of precedence), without looking at every other skill. Undefined when that is not
 * enough to say what a whole look says of the name: `discover` tells then. Throws as `discover` does.
 */
export async function findName(
  sources: readonly SkillSource[],
  name: string,
  signal?: AbortSignal,
): Promise<SourceResult | undefined> {
  checkIds(sources)
  if (!PLAIN_NAME.test(name)) return undefined
  const asked: AskedName = { name, left: MOST_DIRECTORIES }
  const skills: Skill[] = []
  const rejected: RejectedSkill[] = []
  const diagnostics: Diagnostic[] = []
  for (const source of sources) {
    const result = await source.probe?.(asked, signal)
    if (!result) return undefined
    skills.push(...result.skills)
    rejected.push(...result.rejected)
    diagnostics.push(...result.diagnostics)
    if (result.isWhole) continue
    // Further down a copy could be that would win.
    if (!skills.some((skill) => skill.name === name && skill.origin.trusted)) return undefined
    diagnostics.push(notSearched(source, name))
  }
  // A `skillKey` means something else when another skill has it for its name.
  const isClear = skills.some((skill) => skill.name === name) && skills.every(hasNoKey)
  return isClear ? { skills, rejected, diagnostics } : undefined
}

function hasNoKey({ metadata }: Skill): boolean {
  return metadata.skillKey === undefined
}

function notSearched({ id, folder }: SkillSource, name: string): Diagnostic {
  return finding('same-name-not-searched', folder?.path ?? id, {
    message: `other directories were not searched for the name ${JSON.stringify(name)}`,
    fix: `nexus skills why ${name} looks everywhere`,
  })
}
