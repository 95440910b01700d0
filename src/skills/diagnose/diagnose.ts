import {
  type Catalog,
  type Copies,
  copiesOf,
  everyCopy,
  type ShadowedSkill,
  shownName,
  shownText,
} from '../catalog/index.ts'
import { type HeldReason, type InvalidSkill, type Skill, skillAddress } from '../../kernel/index.ts'
import { type Facts, WHOLE_PATHS } from './facts.ts'
import { type Finding, finding, fromDiagnostics, type Verdict } from './finding.ts'
import { aboutHeld, aboutReason } from './held.ts'
import { MESSAGES } from './messages.ts'
import { findMissing } from './missing.ts'
import { aboutReady } from './ready.ts'

export interface CopyDiagnosis {
  readonly name: string
  readonly address: string
  readonly file: string
  readonly verdict: Verdict
  /** Address of the copy that its name means, where that is another one. */
  readonly winner?: string
  /** The first is the answer. */
  readonly findings: readonly Finding[]
}

export interface Diagnosis {
  readonly name: string
  readonly verdict: Verdict
  readonly copies: readonly Omit<CopyDiagnosis, 'findings'>[]
  /** At least one; the first is the answer, the others are about it, then about other copies. */
  readonly findings: readonly Finding[]
}

const MAX_SHOWN_CHARS = 120

/**
 * Why a skill is, or is not, in the prompt, callable, shadowed or held: everything that is known, the answer first.
 * `asked` may be a name, `$name`, `source/name`, a directory's name, or the path of a SKILL.md.
 */
export function diagnose(asked: string, facts: Facts): Diagnosis {
  const { catalog } = facts
  const copies = copiesOf(catalog, asked)
  const name = shownText(asked).slice(0, MAX_SHOWN_CHARS)
  const skills = everyCopy(copies).map((skill) => diagnoseCopy(skill, facts))
  const invalid = copies.invalid.map(diagnoseInvalid)
  const order: readonly Verdict[] = ['ready', 'unloadable', 'held', 'invalid', 'shadowed']
  const all = [...skills, ...invalid].toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))
  const [first] = all
  const isOffered = copies.skills.length > 0
  const findings = [
    ...all.flatMap((copy) => (isOffered ? besides(copy) : copy.findings)),
    ...copies.alike.map((skill) => lookAlike(skill, catalog)),
    ...(first ? [] : findMissing(shownText(asked).replace(/^\$/, ''), facts)),
    ...(copies.isDirectory ? otherName(copies, name) : []),
    ...fromDiagnostics(catalog.diagnostics.filter(({ path }) => copies.files.has(path))),
  ]
  return {
    name,
    verdict: first?.verdict ?? 'missing',
    copies: all.map(({ findings: _, ...copy }) => copy),
    findings: withoutRepeats(findings),
  }
}

/** Beside a copy that is offered the state of the others is worth knowing, and no more: it is not the reason why that one is not used. */
function besides({ verdict, findings }: CopyDiagnosis): readonly Finding[] {
  if (verdict === 'held' || verdict === 'shadowed') return findings.map((each) => ({ ...each, severity: 'info' }))
  if (verdict !== 'invalid') return findings
  return findings.map((each) => (each.severity === 'error' ? { ...each, severity: 'warning' } : each))
}

export function diagnoseCopy(skill: Skill, facts: Facts): CopyDiagnosis {
  const { catalog, examined } = facts
  const copy = { name: shownName(skill), address: catalog.addressOf(skill), file: skill.file }
  const shadow = catalog.shadowed.find((each) => each.skill === skill)
  if (shadow) {
    const findings = aboutShadowed(shadow, facts)
    return { ...copy, verdict: 'shadowed', winner: catalog.addressOf(shadow.by), findings }
  }
  const held = catalog.held.find((each) => each.skill === skill)
  if (held) return { ...copy, verdict: 'held', findings: aboutHeld(skill, held.reasons, facts) }
  const verdict = examined?.get(skill)?.problem ? 'unloadable' : 'ready'
  return { ...copy, verdict, findings: aboutReady(skill, facts) }
}

export function diagnoseInvalid(broken: InvalidSkill): CopyDiagnosis {
  const { name, file, diagnostics } = broken
  const found = fromDiagnostics(diagnostics)
  const unknown = { path: file, ...MESSAGES.invalid(), command: ['skills', 'validate', file] }
  const findings = found.length > 0 ? found : [finding('invalid', 'error', unknown)]
  return { name: shownText(name), address: skillAddress(broken), file, verdict: 'invalid', findings }
}

/** One cause is given once: a finding about a difference of names covers the note of the parser, that of a shadow its warning. */
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  const has = (code: string): boolean => findings.some((found) => found.code === code)
  return findings.filter(
    ({ code }) => !(code === 'name-differs' && has('other-name')) && !(code === 'duplicate-name' && has('shadowed')),
  )
}

function aboutShadowed(shadow: ShadowedSkill, facts: Facts): readonly Finding[] {
  const { skill, by, why, reasons } = shadow
  const heldToo = reasons.map((reason: HeldReason): Finding => {
    const message = MESSAGES.shadowed.heldToo(reason.text)
    return { ...aboutReason(skill, reason, facts), severity: 'info', message }
  })
  return [why === 'duplicate' ? duplicate(skill, by, facts) : shadowed(skill, by, facts), ...heldToo]
}

function duplicate({ file, origin }: Skill, by: Skill, { paths = WHOLE_PATHS }: Facts): Finding {
  return finding('duplicate', 'info', { path: file, ...MESSAGES.duplicate(origin.source, paths.shown(by.directory)) })
}

function shadowed(skill: Skill, by: Skill, { catalog, paths = WHOLE_PATHS }: Facts): Finding {
  const { file, origin } = skill
  const { source, tier } = origin
  const copies = { used: paths.shown(by.file), address: catalog.addressOf(skill) }
  const tiers = by.origin.tier === tier ? undefined : ([by.origin.tier, tier] as const)
  const words =
    by.origin.source === source
      ? MESSAGES.shadowed.sameSource(copies)
      : MESSAGES.shadowed.otherSource({ source, ...copies, ...(tiers && { tiers }) })
  return finding('shadowed', 'error', { path: file, ...words })
}

/** The asked text is the address of another skill. */
function lookAlike(skill: Skill, catalog: Catalog): Finding {
  const words = MESSAGES['name-like-address'](catalog.addressOf(skill))
  return finding('name-like-address', 'info', { path: skill.file, ...words })
}

/** The name asked for is that of a directory; the frontmatter has another one. */
function otherName(copies: Copies, asked: string): readonly Finding[] {
  const [skill] = everyCopy(copies)
  if (!skill) return []
  const words = MESSAGES['other-name']({ asked, name: shownName(skill), isLink: skill.linkedTo !== undefined })
  return [finding('other-name', 'info', { path: skill.file, ...words })]
}
