import { type Catalog, estimateLine, everyCopy } from '../../catalog/index.ts'
import {
  type Diagnostic,
  type HeldReason,
  type JsonValue,
  type RejectedSkill,
  type Skill,
  toSafeLine,
} from '../../kernel/index.ts'
import type { Terminal } from '../terminal.ts'
import { formatTable, shorten } from './columns.ts'

/** The ready skills as a table. */
export function formatReady(catalog: Catalog, terminal: Terminal): string {
  if (catalog.skills.length === 0) return 'No skill is ready.'
  const rows = catalog.skills.map((skill) => [
    `${terminal.paint('green', '✓')} ${terminal.paint('bold', shorten(calledIn(catalog, skill), 40))}`,
    terminal.paint('dim', skill.origin.source),
    terminal.paint('dim', `~${estimateLine(skill.name, skill.description)} tokens`),
    toSafeLine(skill.description),
  ])
  return formatTable(rows, terminal)
}

/** The name, unless that is the address of another skill. */
function calledIn(catalog: Catalog, skill: Skill): string {
  return skill.name.includes('/') ? catalog.callName(skill) : toSafeLine(skill.name)
}

export function printOthers(catalog: Catalog, { line, paint }: Terminal): void {
  for (const { skill, reasons } of catalog.held)
    line(`${paint('yellow', '◌')} ${paint('bold', toSafeLine(skill.name))}  ${reasonsText(reasons)}`)
  for (const { skill, by, why } of catalog.shadowed) {
    const winner = catalog.addressOf(by)
    const text = why === 'duplicate' ? `duplicate of ${winner}` : `shadowed by ${winner} (${by.file})`
    line(`${paint('dim', '≡')} ${toSafeLine(catalog.addressOf(skill))}  ${toSafeLine(text)}`)
  }
  for (const { name, file, diagnostics } of catalog.rejected) {
    const [first] = diagnostics
    const place = toSafeLine(first?.line === undefined ? file : `${file}:${first.line}`)
    line(`${paint('red', '✗')} ${toSafeLine(name)}  ${toSafeLine(first?.message ?? '')} ${paint('dim', place)}`)
  }
}

/** The reasons for holding on one line. */
export function reasonsText(reasons: readonly HeldReason[]): string {
  return reasons.map(({ text }) => toSafeLine(text)).join('; ')
}

export function printHint({ held, shadowed, rejected }: Catalog, terminal: Terminal): void {
  const counts = Object.entries({ 'held back': held, shadowed, broken: rejected })
    .filter(([, copies]) => copies.length > 0)
    .map(([what, copies]) => `${copies.length} ${what}`)
  if (counts.length > 0)
    terminal.note(terminal.paintNote('dim', `${counts.join(', ')}: nexus skills list --all, nexus skills check`))
}

/** Diagnostics that belong to no single skill: roots, collisions, limits. */
export function looseIn(catalog: Catalog): readonly Diagnostic[] {
  const ofSkills = new Set([...everyCopy(catalog), ...catalog.rejected].flatMap((entry) => entry.diagnostics))
  return catalog.diagnostics.filter((diagnostic) => !ofSkills.has(diagnostic) && diagnostic.severity !== 'info')
}

/** What `skills list --json` says. */
export function listData(catalog: Catalog, all: boolean): JsonValue {
  const { skills, held, shadowed, rejected } = catalog
  const others = {
    held: held.map(({ skill, reasons }) => ({
      ...skillData(skill, catalog.addressOf(skill)),
      reasons: reasons.map((reason) => ({ ...reason })),
    })),
    shadowed: shadowed.map(({ skill, by, why }) => ({
      ...skillData(skill, catalog.addressOf(skill)),
      ...{ by: catalog.addressOf(by), why },
    })),
    rejected: rejected.map(rejectedData),
  }
  return {
    skills: skills.map((skill) => ({
      ...skillData(skill, catalog.addressOf(skill)),
      description: skill.description,
      tokens: estimateLine(skill.name, skill.description),
    })),
    ...(all && others),
    counts: { ready: skills.length, held: held.length, shadowed: shadowed.length, rejected: rejected.length },
  }
}

export function skillData(skill: Skill, address: string): { [key: string]: JsonValue } {
  const { name, origin, file, diagnostics } = skill
  const { tier, trusted } = origin
  return { name, address, tier, trusted, file, diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic })) }
}

export function rejectedData({ name, file, origin, diagnostics }: RejectedSkill): { [key: string]: JsonValue } {
  return { name, file, tier: origin.tier, diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic })) }
}
