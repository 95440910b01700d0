import { type Catalog, estimateLine } from '../../catalog/index.ts'
import {
  type Diagnostic,
  type HeldSkill,
  type JsonValue,
  type RejectedSkill,
  type Skill,
  toSafeLine,
} from '../../kernel/index.ts'
import { formatDiagnostic, type Terminal } from '../terminal.ts'
import { formatTable, layOut, shorten } from './columns.ts'
import { type Rows, rowsOf } from './long-document.ts'

/** Why a copy is not simply ready; with the place of the cause, where it is known. */
export interface Reason {
  readonly code: string
  readonly text: string
  readonly fix?: string
  readonly file?: string
  readonly line?: number
}

/** Where a copy stands, with every reason. `unloadable`: it would be ready, but cannot be loaded. */
export interface SkillState {
  readonly state: 'ready' | 'unloadable' | 'held' | 'shadowed'
  readonly reasons: readonly Reason[]
  /** What reaches this copy. */
  readonly address: string
}

/** Every copy that can be read, whatever its state: ready, held and shadowed ones. */
export function copiesIn({ skills, held, shadowed }: Catalog): readonly Skill[] {
  return [...skills, ...held.map(({ skill }) => skill), ...shadowed.map(({ skill }) => skill)]
}

export function stateOf(catalog: Catalog, skill: Skill): SkillState {
  const address = catalog.addressOf(skill)
  const shadow = catalog.shadowed.find((shadowed) => shadowed.skill === skill)
  if (shadow) {
    const text =
      shadow.why === 'identical'
        ? `the same bytes as ${catalog.addressOf(shadow.by)}`
        : `shadowed by ${catalog.addressOf(shadow.by)} (${shadow.by.file})`
    const fix = shadow.why === 'identical' ? 'nothing has to be done' : `address it as ${address}`
    return { address, state: 'shadowed', reasons: [{ code: shadow.why, text, fix }] }
  }
  const held = catalog.held.find((candidateHeld) => candidateHeld.skill === skill)
  if (held) return { address, state: 'held', reasons: held.reasons.map((reason) => ({ ...reason })) }
  return { address, state: 'ready', reasons: [] }
}

/** The ready skills as lines of a table, in parts of some 10 KB. */
export function* readyInParts(catalog: Catalog, terminal: Terminal): Generator<string> {
  const { skills } = catalog
  if (skills.length === 0) yield 'No skill is ready.\n'
  const mark = terminal.paint('green', '✓')
  const rows = skills.map((skill) => [
    `${mark} ${terminal.paint('bold', shorten(calledIn(catalog, skill), 40))}`,
    terminal.paint('dim', skill.origin.source),
    terminal.paint('dim', `~${costOf(skill)} tokens`),
  ])
  const line = layOut({ rows, last: (index) => toSafeLine((skills[index] as Skill).description) }, terminal)
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    let part = ''
    for (let index = from; index < from + AT_ONCE && index < rows.length; index++) part += `${line(index)}\n`
    yield part
  }
}

/** Lines that are written together. */
const AT_ONCE = 64

/** The name, unless that is the address of another skill. */
function calledIn(catalog: Catalog, skill: Skill): string {
  return skill.name.includes('/') ? catalog.callName(skill) : toSafeLine(skill.name)
}

/** What a skill costs in the prompt when the index shows it whole. The index itself is not made for a list: `nexus prompt` has it. */
function costOf(skill: Skill): number {
  return estimateLine(skill.name, skill.description)
}

export function printOthers(catalog: Catalog, terminal: Terminal): void {
  for (const held of catalog.held)
    terminal.line(
      `${terminal.paint('yellow', '◌')} ${terminal.paint('bold', toSafeLine(held.skill.name))}  ${heldLine(held)}`,
    )
  for (const { skill } of catalog.shadowed) {
    terminal.line(
      `${terminal.paint('dim', '≡')} ${toSafeLine(catalog.addressOf(skill))}  ${stateOf(catalog, skill)
        .reasons.map((reason) => reason.text)
        .join('; ')}`,
    )
  }
  for (const broken of catalog.rejected) {
    terminal.line(
      `${terminal.paint('red', '✗')} ${toSafeLine(broken.name)}  ${toSafeLine(broken.diagnostics[0]?.message ?? '')} ${terminal.paint('dim', placeOf(broken))}`,
    )
  }
}

function placeOf({ file, diagnostics }: RejectedSkill): string {
  const line = diagnostics[0]?.line
  return toSafeLine(line === undefined ? file : `${file}:${line}`)
}

export function printHint(catalog: Catalog, terminal: Terminal): void {
  const counts = [
    catalog.held.length > 0 ? `${catalog.held.length} held back` : '',
    catalog.shadowed.length > 0 ? `${catalog.shadowed.length} shadowed` : '',
    catalog.rejected.length > 0 ? `${catalog.rejected.length} broken` : '',
  ].filter((text) => text !== '')
  if (counts.length > 0)
    terminal.note(terminal.paintNote('dim', `${counts.join(', ')}: nexus skills list --all, nexus skills check`))
}

function heldLine(held: HeldSkill): string {
  return held.reasons.map((reason) => toSafeLine(reason.text)).join('; ')
}

export function printSkill(skill: Skill, state: SkillState & { readonly sha256: string }, terminal: Terminal): void {
  const { metadata } = skill
  const list = (label: string, values: readonly string[]): string[][] =>
    values.length === 0 ? [] : [[label, toSafeLine(values.join(', '))]]
  terminal.line(
    `${metadata.emoji === undefined ? '' : `${metadata.emoji} `}${terminal.paint('bold', toSafeLine(skill.name))}  ${state.state}`,
  )
  for (const reason of state.reasons)
    terminal.line(
      `  ${terminal.paint('yellow', toSafeLine(reason.text))}${reason.fix === undefined ? '' : `  ${terminal.paint('dim', toSafeLine(reason.fix))}`}`,
    )
  terminal.line(`\n${toSafeLine(skill.description)}\n`)
  terminal.line(
    formatTable([
      ['address', toSafeLine(state.address)],
      ['file', toSafeLine(skill.file)],
      ['source', `${skill.origin.tier}${skill.origin.trusted ? '' : ', not trusted'}`],
      ...list('license', skill.license === undefined ? [] : [skill.license]),
      ...list('compatibility', skill.compatibility === undefined ? [] : [skill.compatibility]),
      ...list('homepage', metadata.homepage === undefined ? [] : [metadata.homepage]),
      ...list('os', metadata.os),
      ...list('needs', metadata.requires.bins),
      ...list('needs one of', metadata.requires.anyBins),
      ...list('variables', metadata.requires.env),
      ...list('config', metadata.requires.config),
      ...list('allowed tools', skill.allowedTools),
      ['sha256', state.sha256],
    ]),
  )
  for (const diagnostic of skill.diagnostics) terminal.line(`\n${formatDiagnostic(diagnostic, terminal.paint)}`)
}

export function printCheck(skill: Skill, state: SkillState, terminal: Terminal): void {
  const mark = {
    ready: terminal.paint('green', '✓'),
    unloadable: terminal.paint('red', '✗'),
    held: terminal.paint('yellow', '◌'),
    shadowed: terminal.paint('dim', '≡'),
  }[state.state]
  terminal.line(
    `${mark} ${terminal.paint('bold', toSafeLine(state.address))}  ${state.state}  ${terminal.paint('dim', toSafeLine(skill.file))}`,
  )
  for (const { text, file, line, fix } of state.reasons) {
    const where = line === undefined ? file : `${file ?? skill.file}:${line}`
    const place = where === undefined ? '' : `  ${terminal.paint('dim', toSafeLine(where))}`
    const next = fix === undefined ? '' : `\n      ${terminal.paint('cyan', 'fix:')} ${toSafeLine(fix)}`
    terminal.line(`    ${toSafeLine(text)}${place}${next}`)
  }
  for (const diagnostic of skill.diagnostics)
    terminal.line(formatDiagnostic(diagnostic, terminal.paint).replace(/^/gm, '    '))
}

export function printRejected(broken: RejectedSkill, terminal: Terminal): void {
  terminal.line(
    `${terminal.paint('red', '✗')} ${terminal.paint('bold', toSafeLine(broken.name))}  broken  ${terminal.paint('dim', toSafeLine(broken.file))}`,
  )
  for (const diagnostic of broken.diagnostics)
    terminal.line(formatDiagnostic(diagnostic, terminal.paint).replace(/^/gm, '    '))
}

/** Diagnostics that belong to no single skill: roots, collisions, limits. */
export function looseIn(catalog: Catalog): readonly Diagnostic[] {
  const told = new Set([...copiesIn(catalog), ...catalog.rejected].flatMap((entry) => entry.diagnostics))
  return catalog.diagnostics.filter((diagnostic) => !told.has(diagnostic) && diagnostic.severity !== 'info')
}

/** What `skills list --json` says, without its lists. */
export function listData(catalog: Catalog, all: boolean): JsonValue {
  const empty = Object.fromEntries(Object.keys(listsIn(catalog, all)).map((name) => [name, []]))
  return {
    ...empty,
    counts: {
      ready: catalog.skills.length,
      held: catalog.held.length,
      shadowed: catalog.shadowed.length,
      rejected: catalog.rejected.length,
    },
  }
}

/** Its lists, in their order. */
export function listsIn(catalog: Catalog, all: boolean): Readonly<Record<string, Rows>> {
  const skills = rowsOf(catalog.skills, (skill) => readyData(skill, catalog.addressOf(skill)))
  if (!all) return { skills }
  return {
    skills,
    held: rowsOf(catalog.held, ({ skill, reasons }) => ({
      ...skillData(skill, catalog.addressOf(skill)),
      reasons: reasons.map((reason) => ({ ...reason })),
    })),
    shadowed: rowsOf(catalog.shadowed, ({ skill, by, why }) => ({
      ...skillData(skill, catalog.addressOf(skill)),
      ...{ by: catalog.addressOf(by), why },
    })),
    rejected: rowsOf(catalog.rejected, rejectedData),
  }
}

/** Written out, because a list has thousands of them. */
function readyData(skill: Skill, address: string): JsonValue {
  const { name, origin, description } = skill
  return {
    name,
    address,
    tier: origin.tier,
    trusted: origin.trusted,
    file: skill.file,
    diagnostics: diagnosticsOf(skill),
    description,
    tokens: estimateLine(name, description),
  }
}

export function skillData(skill: Skill, address: string): { [key: string]: JsonValue } {
  return {
    name: skill.name,
    address,
    tier: skill.origin.tier,
    trusted: skill.origin.trusted,
    file: skill.file,
    diagnostics: diagnosticsOf(skill),
  }
}

const NONE: readonly never[] = Object.freeze([])

/** Of nearly all skills there are none. */
function diagnosticsOf({ diagnostics }: Skill): JsonValue {
  return diagnostics.length === 0 ? NONE : diagnostics.map(diagnosticData)
}

export function rejectedData(broken: RejectedSkill): JsonValue {
  return {
    name: broken.name,
    file: broken.file,
    tier: broken.origin.tier,
    diagnostics: broken.diagnostics.map(diagnosticData),
  }
}

function diagnosticData(diagnostic: Diagnostic): JsonValue {
  return { ...diagnostic }
}
