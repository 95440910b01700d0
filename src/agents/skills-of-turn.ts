import { type Catalog, describeDiff, diffSnapshots, fromSnapshot, mentions } from '../catalog/index.ts'
import type { JsonObject } from '../kernel/index.ts'
import type { NoticeCode } from './events.ts'

/** What a turn is to know about skills besides the index. */
export interface SkillsOfTurn {
  /** For the person: what changed since the session's last turn, and `$names` that lead nowhere. */
  readonly notices: readonly { readonly code: NoticeCode; readonly text: string }[]
  /** For the model: the skills that the message names as `$skill-name`; empty when there is none. Source: seed 003, "Skill Discovery Trigger". */
  readonly instructions: string
}

/** Compares with what the session was told before, and reads the message for `$skill-name`. Pure. */
export function skillsOfTurn(
  content: string,
  {
    catalog,
    before,
    now,
    canLoad = true,
  }: {
    readonly catalog: Catalog
    readonly before: JsonObject | undefined
    readonly now: JsonObject
    readonly canLoad?: boolean
  },
): SkillsOfTurn {
  const { skills, problems } = mentions(content, catalog)
  const names = skills.map((skill) => catalog.callName(skill)).join(', ')
  return {
    notices: [
      ...changes(before, now).map((text) => ({ code: 'skills-changed' as const, text })),
      ...problems.map(({ text }) => ({ code: 'skill-mention' as const, text })),
    ],
    instructions: names === '' ? '' : `The user named these skills${canLoad ? '; load them first' : ''}: ${names}.`,
  }
}

function changes(before: JsonObject | undefined, now: JsonObject): string[] {
  // Nearly always so; reading two snapshots of thousands of skills would hold up the process for that answer.
  if (before?.['version'] === now['version']) return []
  const told = before && fromSnapshot(before)
  const tells = fromSnapshot(now)
  const text = told && tells ? describeDiff(diffSnapshots(told, tells)) : ''
  return text === '' ? [] : [text]
}
