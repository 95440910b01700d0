import { basename } from 'node:path'
import { type Catalog, estimateLine, everyCopy } from '../../../skills/catalog/index.ts'
import {
  type Diagnostic,
  type HeldReason,
  type JsonObject,
  type JsonValue,
  type InvalidSkill,
  type Skill,
  toSafeLine,
} from '../../../kernel/index.ts'
import type { Inspection, Installed } from '../../../local/index.ts'
import { type Invocation, whereArgs } from '../command.ts'
import { commandData, findingData } from '../envelope.ts'
import { installedData } from './installed.ts'
import type { Terminal } from '../terminal.ts'
import { formatTable, shorten } from './columns.ts'

export function formatReady(catalog: Catalog, terminal: Terminal): string {
  if (catalog.skills.length === 0) return 'No skill is ready.'
  // The name, unless that is the address of another skill.
  const rows = catalog.skills.map((skill) => {
    const mark = skill.invocation.model ? terminal.paint('green', '✓') : terminal.paint('dim', '·')
    return [
      `${mark} ${terminal.paint('bold', shorten(skill.name.includes('/') ? catalog.callName(skill) : toSafeLine(skill.name), 40))}`,
      terminal.paint('dim', skill.origin.source),
      terminal.paint('dim', costOf(skill)),
      toSafeLine(skill.description),
    ]
  })
  return formatTable(rows, terminal)
}

/** The share of the prompt, or the reason why there is none. */
function costOf(skill: Skill): string {
  if (skill.invocation.model) return `~${tokensOf(skill)} tokens`
  return skill.invocation.user ? 'people only' : 'nothing starts it'
}

function tokensOf({ name, description, invocation }: Skill): number {
  return invocation.model ? estimateLine(name, description) : 0
}

/** Copies by state; `ready` counts those that a model may load. */
export function countsOf({ skills, held, shadowed, invalid }: Catalog) {
  const ready = skills.filter(({ invocation }) => invocation.model).length
  const others = { held: held.length, shadowed: shadowed.length, invalid: invalid.length }
  return { ready, notForModel: skills.length - ready, ...others }
}

/** Every copy that is held, shadowed or invalid, one a line, with the reason. */
export function printOthers(catalog: Catalog, { line, paint, shortPath }: Terminal): void {
  for (const { skill, reasons } of catalog.held)
    line(`${paint('yellow', '◌')} ${paint('bold', toSafeLine(skill.name))}  ${reasonsText(reasons)}`)
  for (const { skill, by, why } of catalog.shadowed) {
    const winner = catalog.addressOf(by)
    const text = why === 'duplicate' ? `duplicate of ${winner}` : `shadowed by ${winner} (${shortPath(by.file)})`
    line(`${paint('dim', '≡')} ${toSafeLine(catalog.addressOf(skill))}  ${toSafeLine(text)}`)
  }
  for (const { name, file, diagnostics } of catalog.invalid) {
    const [first] = diagnostics
    const place = first?.line === undefined ? shortPath(file) : `${shortPath(file)}:${first.line}`
    line(`${paint('red', '✗')} ${toSafeLine(name)}  ${toSafeLine(first?.message ?? '')} ${paint('dim', place)}`)
  }
}

export function reasonsText(reasons: readonly HeldReason[]): string {
  return reasons.map(({ text }) => toSafeLine(text)).join('; ')
}

/** Names the skills that are not offered, and the command that gives the reasons. */
export function printHint(catalog: Catalog, invocation: Invocation): void {
  const { skills, held, shadowed, invalid } = catalog
  const { terminal } = invocation
  printWarned(skills, invocation)
  const groups = {
    untrusted: held.filter(isUntrusted).map(({ skill }) => skill.name),
    held: held.filter((each) => !isUntrusted(each)).map(({ skill }) => skill.name),
    shadowed: shadowed.map(({ skill }) => skill.name),
    invalid: invalid.map(({ name }) => name),
    'not searched': besideSkills(catalog).map(({ path }) => basename(path)),
  }
  const lines = Object.entries(groups)
    .filter(([, names]) => names.length > 0)
    .map(([state, names]) => `${names.length} ${state}: ${someOf([...new Set(names)])}`)
  if (lines.length === 0) return
  const reasons = terminal.commandLine(whereArgs(['skills', 'list', '--all'], invocation))
  terminal.note(terminal.paintNote('dim', [...lines, `For the reasons: ${reasons}`].join('\n')))
}

/** Findings that keep skills from being found. Two copies of a name are listed as skills already. */
export function besideSkills({ diagnostics }: Catalog): Catalog['diagnostics'] {
  return diagnostics.filter(({ code, severity }) => severity !== 'info' && code !== 'duplicate-name')
}

/** Ready skills that may not do what their author thinks. */
export function printWarned(skills: readonly Skill[], invocation: Invocation): void {
  const warned = skills.filter(({ diagnostics }) => diagnostics.some(({ severity }) => severity === 'warning'))
  if (warned.length === 0) return
  const { terminal } = invocation
  const line = terminal.commandLine(whereArgs(['skills', 'check'], invocation))
  const text = `${warned.length} ready with warnings: ${someOf(warned.map(({ name }) => name))}. To see them: ${line}`
  terminal.note(terminal.paintNote('yellow', text))
}

const isUntrusted = ({ reasons }: Catalog['held'][number]): boolean => reasons.some(({ code }) => code === 'untrusted')

/** Nothing runs beside untrusted skills, so the way on concerns trusted ones too. */
export function printTrustHint({ waitsForTrust }: Pick<Inspection, 'waitsForTrust'>, terminal: Terminal): void {
  if (waitsForTrust)
    terminal.note(
      `No command runs in this workspace until you trust it. Inspect its skills and its nexus.yaml, then run: ${terminal.commandLine(['trust'])}`,
    )
}

/** Skills that only people start are named where there are some. */
export function countsText({ ready, notForModel, held, shadowed, invalid }: ReturnType<typeof countsOf>): string {
  const others = notForModel === 0 ? '' : ` (and ${notForModel} not for the model)`
  return `${ready} ready${others}, ${held} held, ${shadowed} shadowed, ${invalid} invalid`
}

export function heldText(name: string, reasons: string): string {
  return `The skill '${toSafeLine(name)}' is held: ${reasons}.`
}

/** More names are only counted. */
const MOST_NAMES = 8

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => shorten(toSafeLine(name), 40))
  return names.length > MOST_NAMES ? `${shown.join(', ')} and ${names.length - MOST_NAMES} more` : shown.join(', ')
}

/** Diagnostics of no single skill: of folders, collisions and limits. */
export function looseIn(catalog: Catalog): readonly Diagnostic[] {
  const ofSkills = new Set([...everyCopy(catalog), ...catalog.invalid].flatMap((entry) => entry.diagnostics))
  return catalog.diagnostics.filter((diagnostic) => !ofSkills.has(diagnostic) && diagnostic.severity !== 'info')
}

export function listData(
  catalog: Catalog,
  all: boolean,
  installedAt: (file: string) => Installed | undefined,
): JsonValue {
  const { skills, held, shadowed, invalid } = catalog
  const dataOf = (skill: Skill) => ({
    ...skillData(skill, catalog.addressOf(skill)),
    ...(installedData(installedAt(skill.file)) as JsonObject),
  })
  const others = {
    held: held.map(({ skill, reasons }) => ({
      ...dataOf(skill),
      reasons: reasons.map(({ proposal, ...reason }) => ({ ...reason, ...commandData(proposal) })),
    })),
    shadowed: shadowed.map(({ skill, by, why }) => ({ ...dataOf(skill), ...{ by: catalog.addressOf(by), why } })),
    invalid: invalid.map(invalidData),
  }
  return {
    skills: skills.map((skill) => ({
      ...dataOf(skill),
      description: skill.description,
      tokens: tokensOf(skill),
      invocation: { ...skill.invocation },
    })),
    ...(all && others),
    counts: countsOf(catalog),
  }
}

export function skillData(skill: Skill, address: string): { [key: string]: JsonValue } {
  const { name, origin, file, diagnostics } = skill
  const { tier, trusted } = origin
  return { name, address, tier, trusted, file, diagnostics: diagnostics.map(findingData) }
}

export function invalidData({ name, file, origin, diagnostics }: InvalidSkill): { [key: string]: JsonValue } {
  return { name, file, tier: origin.tier, diagnostics: diagnostics.map(findingData) }
}
