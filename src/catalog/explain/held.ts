import { type Diagnostic, type HeldReason, nameKey, type Skill } from '../../kernel/index.ts'
import { shownName } from '../shown-text.ts'
import type { CatalogSnapshot } from '../snapshot.ts'
import { aboutLeftOut, aboutLoading, type ExaminedParts } from './examined.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'

/** What is known of a reason besides its words: where its cause was written, and a nearer thing to do. */
export interface Advice {
  readonly file?: string
  readonly line?: number
  readonly fix?: string
}

export interface HeldParts extends ExaminedParts {
  readonly agentId?: string
  readonly snapshot?: Pick<CatalogSnapshot, 'skills'>
  /** Looks into files and settings; without it the reasons speak for themselves. */
  readonly advise?: (skill: Skill, reason: HeldReason) => Advice | undefined
}

const MAX_NOTES = 20

/** Findings of the parser that say where and how the cause of a reason is mended. */
const CAUSES: Partial<Record<HeldReason['code'], readonly string[]>> = {
  'missing-description': ['description-missing', 'description-not-text'],
}

/** Every reason of a skill that is held, then what else there is to say about its file. */
export function aboutHeld(skill: Skill, reasons: readonly HeldReason[], parts: HeldParts): Finding[] {
  const told = new Set<Diagnostic>()
  const findings = reasons.map((reason) => {
    const cause = skill.diagnostics.find(({ code }) => CAUSES[reason.code]?.includes(code))
    if (cause !== undefined) told.add(cause)
    return cause === undefined ? asFinding(skill, reason, parts) : fromCause(skill, reason, cause)
  })
  return [
    ...findings,
    ...aboutLoading(skill, parts),
    ...inSession(skill, parts),
    ...aboutLeftOut(skill, parts),
    ...skill.diagnostics
      .filter((diagnostic) => !told.has(diagnostic))
      .slice(0, MAX_NOTES)
      .map(fromDiagnostic),
  ]
}

function fromCause(skill: Skill, { code, text, fix }: HeldReason, cause: Diagnostic): Finding {
  const why = cause.message.replace(/; the skill is held$/, '')
  return finding(code, 'problem', {
    text: `Held back: ${text}: ${why}.`,
    file: skill.file,
    ...(cause.line !== undefined && { line: cause.line }),
    fix: cause.fix ?? fix ?? `Correct ${skill.file}.`,
  })
}

function asFinding(skill: Skill, reason: HeldReason, { agentId, advise }: HeldParts): Finding {
  const { code, text, fix } = reason
  const said = code === 'not-allowed' && agentId !== undefined ? `not allowed for agent '${agentId}'` : text
  const advice = advise?.(skill, reason)
  return finding(code, 'problem', {
    text: `Held back: ${said}.`,
    file: advice?.file ?? skill.file,
    ...(advice?.line !== undefined && { line: advice.line }),
    fix: advice?.fix ?? fix ?? 'Run: nexus skills check',
  })
}

function inSession(skill: Skill, { snapshot }: HeldParts): Finding[] {
  const key = nameKey(shownName(skill))
  if (!snapshot?.skills.some((each) => nameKey(shownName(each)) === key)) return []
  return [
    finding('stale-session', 'note', {
      text: 'The session was told of it when it was ready.',
      file: skill.file,
      fix: 'The next turn no longer offers it, until it is ready again.',
    }),
  ]
}
