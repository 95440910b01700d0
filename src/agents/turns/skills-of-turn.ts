import { type Catalog, describeDiff, diffSnapshots, fromSnapshot, mentions } from '../../skills/catalog/index.ts'
import type { JsonObject } from '../../kernel/index.ts'
import type { AgentEvent } from './events.ts'

/** News about skills for a turn, besides the index. */
export interface SkillsOfTurn {
  /** For the person: what changed since the session's last turn, and `$names` that lead nowhere. */
  readonly notices: readonly Omit<Extract<AgentEvent, { readonly type: 'notice' }>, 'type'>[]
  /** For the model: the skills that the message names as `$skill-name`, and those that changed since it loaded them; empty when there is none. Source: seed 003, "Skill Discovery Trigger". */
  readonly instructions: string
}

/** Compares with what the session was offered before, and reads the message for `$skill-name`. Pure. */
export function skillsOfTurn(
  content: string,
  {
    catalog,
    before,
    now,
    canLoad = true,
    outdated = [],
  }: {
    readonly catalog: Catalog
    readonly before: JsonObject | undefined
    readonly now: JsonObject
    readonly canLoad?: boolean
    /** Names of loaded skills whose files changed since. */
    readonly outdated?: readonly string[]
  },
): SkillsOfTurn {
  const { skills, problems } = mentions(content, catalog)
  const names = skills.map((skill) => catalog.callName(skill)).join(', ')
  return {
    notices: [
      ...changes(before, now).map((text) => ({ code: 'skills-changed' as const, text })),
      ...outdated.map((name) => ({ code: 'skills-changed' as const, text: changedSinceLoaded(name) })),
      ...problems.map(({ name: _, ...problem }) => ({ code: 'skill-mention' as const, ...problem })),
    ],
    instructions: [
      ...(names === '' ? [] : [`The user named these skills${canLoad ? '; load them first' : ''}: ${names}.`]),
      ...(outdated.length === 0
        ? []
        : [`These skills changed after you loaded them: ${outdated.join(', ')}. Load them again before you use them.`]),
    ].join('\n'),
  }
}

function changedSinceLoaded(name: string): string {
  return `The skill '${name}' changed after the model loaded it. The model is asked to load it again.`
}

function changes(before: JsonObject | undefined, now: JsonObject): string[] {
  // Nearly always so; reading two snapshots of thousands of skills would hold up the process for that answer.
  if (before?.['version'] === now['version']) return []
  const told = before && fromSnapshot(before)
  const tells = fromSnapshot(now)
  const text = told && tells ? describeDiff(diffSnapshots(told, tells)) : ''
  return text === '' ? [] : [text]
}
