import type { Catalog, PromptIndex } from '../../catalog/index.ts'
import { type Diagnostic, type HeldSkill, type JsonValue, NexusError, type RejectedSkill, type Skill, skillAddress, toSafeLine, toSafeText } from '../../kernel/index.ts'
import type { Local } from '../../local.ts'
import type { Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'
import { agentFlag, openFor } from '../open.ts'
import { formatDiagnostic, formatTable, shorten, type Terminal } from '../terminal.ts'

/** `nexus skills list` */
export async function listSkills(invocation: Invocation): Promise<number> {
  return withCatalog(invocation, (local, catalog) => {
    const { terminal } = invocation
    const index = local.runtime.index(agentFlag(invocation))
    const all = invocation.flags['all'] === true
    if (invocation.flags['json'] === true) {
      terminal.json(envelope('skills list', listData(catalog, index, all), catalog.diagnostics))
      return 0
    }
    printReady(catalog, index, terminal)
    if (all) printOthers(catalog, terminal)
    else printHint(catalog, terminal)
    return 0
  })
}

/** `nexus skills show <name>` */
export async function showSkill(invocation: Invocation): Promise<number> {
  const name = onlyName(invocation, 'skills show')
  return withCatalog(invocation, async (local, catalog) => {
    const { terminal } = invocation
    const skill = candidate(catalog, name)
    if (invocation.flags['content'] === true) {
      const { outcome } = await local.runtime.call({ tool: 'load_skill', arguments: { skill_name: name }, origin: 'cli', ...agentOf(invocation) })
      if (outcome.type === 'failed') throw new NexusError('SKILL_INVALID', outcome.message, { fix: `nexus skills check ${name}` })
      terminal.line(toSafeText(outcome.text))
      return 0
    }
    const state = stateOf(catalog, skill)
    if (invocation.flags['json'] === true) terminal.json(envelope('skills show', { ...skillData(skill), ...state, description: skill.description }, skill.diagnostics))
    else printSkill(skill, state, terminal)
    return 0
  })
}

/** `nexus skills check [name]`: exit code 1 when the named skill is not ready, or any candidate is broken. */
export async function checkSkills(invocation: Invocation): Promise<number> {
  const name = invocation.positionals[0]
  return withCatalog(invocation, (local, catalog) => {
    const { terminal } = invocation
    const matches = (candidateName: string, address: string): boolean => name === undefined || candidateName === name || address === name
    const skills = [...catalog.skills, ...catalog.held.map((held) => held.skill), ...catalog.shadowed.map((shadowed) => shadowed.skill)]
      .filter((skill) => matches(skill.name, skillAddress(skill)))
      .sort((a, b) => (skillAddress(a) < skillAddress(b) ? -1 : 1))
    const rejected = catalog.rejected.filter((broken) => matches(broken.name, `${broken.origin.source}/${broken.name}`))
    if (name !== undefined && skills.length + rejected.length === 0) throw notFound(catalog, name)
    const states = skills.map((skill) => ({ skill, ...stateOf(catalog, skill) }))
    if (invocation.flags['json'] === true) {
      const data = {
        target: local.runtime.facts.target,
        skills: states.map(({ skill, ...state }) => ({ ...skillData(skill), ...state })),
        rejected: rejected.map(rejectedData),
      }
      terminal.json(envelope('skills check', data, catalog.diagnostics))
    } else {
      terminal.line(terminal.paint('dim', `Checked against: ${toSafeLine(local.runtime.facts.target)}`))
      for (const { skill, ...state } of states) printCheck(skill, state, terminal)
      for (const broken of rejected) printRejected(broken, terminal)
      if (name === undefined) printLoose(catalog, terminal)
    }
    const named = states.some(({ state }) => state === 'ready')
    return rejected.length > 0 || (name !== undefined && !named) ? 1 : 0
  })
}

/** Opens the runtime without recording, and hands over the agent's catalog. */
async function withCatalog(invocation: Invocation, use: (local: Local, catalog: Catalog) => number | Promise<number>): Promise<number> {
  const local = await openFor(invocation, { record: 'memory' })
  try {
    return await use(local, local.runtime.catalog(agentFlag(invocation)))
  } finally {
    await local.close()
  }
}

function agentOf(invocation: Invocation): { agentId?: string } {
  const agentId = agentFlag(invocation)
  return agentId === undefined ? {} : { agentId }
}

function onlyName(invocation: Invocation, command: string): string {
  const [name] = invocation.positionals
  if (name !== undefined) return name
  throw new NexusError('INVALID_ARGUMENT', `nexus ${command}: the name of the skill is missing.`, { fix: 'nexus skills list' })
}

/** Any copy of a skill by name (the one that wins first) or address, whatever its state. */
function candidate(catalog: Catalog, name: string): Skill {
  const copies = [...catalog.skills, ...catalog.held.map((held) => held.skill), ...catalog.shadowed.map((shadowed) => shadowed.skill)]
  const found = copies.find((skill) => skill.name === name) ?? copies.find((skill) => skillAddress(skill) === name)
  if (found) return found
  const broken = catalog.rejected.find((skill) => skill.name === name)
  if (broken) {
    const [first] = broken.diagnostics
    throw new NexusError('SKILL_INVALID', `${broken.file}: ${first?.message ?? 'cannot be read'}`, { fix: first?.fix ?? `nexus skills check ${name}` })
  }
  throw notFound(catalog, name)
}

function notFound(catalog: Catalog, name: string): NexusError {
  const names = catalog.skills.map((skill) => skill.name)
  return new NexusError('SKILL_NOT_FOUND', `There is no skill '${toSafeLine(name)}'. Ready: ${names.join(', ') || 'none'}.`, {
    fix: 'nexus skills list --all   (a skill is a folder with a file called exactly SKILL.md)',
  })
}

/** Where a copy stands, with every reason. */
export interface SkillState {
  readonly state: 'ready' | 'held' | 'shadowed'
  readonly reasons: readonly { readonly code: string; readonly text: string; readonly fix?: string }[]
}

function stateOf(catalog: Catalog, skill: Skill): SkillState {
  const shadow = catalog.shadowed.find((shadowed) => shadowed.skill === skill)
  if (shadow) {
    const text = shadow.why === 'identical' ? `the same bytes as ${skillAddress(shadow.by)}` : `shadowed by ${skillAddress(shadow.by)} (${shadow.by.file})`
    return { state: 'shadowed', reasons: [{ code: shadow.why, text, fix: `address it as ${skillAddress(skill)}` }] }
  }
  const held = catalog.held.find((candidateHeld) => candidateHeld.skill === skill)
  if (held) return { state: 'held', reasons: held.reasons.map((reason) => ({ ...reason })) }
  return { state: 'ready', reasons: [] }
}

function printReady(catalog: Catalog, index: PromptIndex, terminal: Terminal): void {
  if (catalog.skills.length === 0) {
    terminal.line('No skill is ready.')
    return
  }
  const tokens = new Map(index.items.map((item) => [item.name, item.tokens]))
  const rows = catalog.skills.map((skill) => [
    `${terminal.paint('green', '✓')} ${terminal.paint('bold', shorten(toSafeLine(skill.name), 40))}`,
    terminal.paint('dim', skill.origin.source),
    terminal.paint('dim', `~${tokens.get(skill.name) ?? 0} tokens`),
    shorten(toSafeLine(skill.description), Math.max(30, terminal.columns - 62)),
  ])
  terminal.line(formatTable(rows))
}

function printOthers(catalog: Catalog, terminal: Terminal): void {
  for (const held of catalog.held) terminal.line(`${terminal.paint('yellow', '◌')} ${terminal.paint('bold', toSafeLine(held.skill.name))}  ${heldLine(held)}`)
  for (const { skill } of catalog.shadowed) {
    terminal.line(`${terminal.paint('dim', '≡')} ${toSafeLine(skillAddress(skill))}  ${stateOf(catalog, skill).reasons.map((reason) => reason.text).join('; ')}`)
  }
  for (const broken of catalog.rejected) {
    terminal.line(`${terminal.paint('red', '✗')} ${toSafeLine(broken.name)}  ${toSafeLine(broken.diagnostics[0]?.message ?? '')} ${terminal.paint('dim', broken.file)}`)
  }
}

function printHint(catalog: Catalog, terminal: Terminal): void {
  const counts = [
    catalog.held.length > 0 ? `${catalog.held.length} held back` : '',
    catalog.shadowed.length > 0 ? `${catalog.shadowed.length} shadowed` : '',
    catalog.rejected.length > 0 ? `${catalog.rejected.length} broken` : '',
  ].filter((text) => text !== '')
  if (counts.length > 0) terminal.note(terminal.paintNote('dim', `${counts.join(', ')}: nexus skills list --all, nexus skills check`))
}

function heldLine(held: HeldSkill): string {
  return held.reasons.map((reason) => toSafeLine(reason.text)).join('; ')
}

function printSkill(skill: Skill, state: SkillState, terminal: Terminal): void {
  const { metadata } = skill
  const list = (label: string, values: readonly string[]): string[][] => (values.length === 0 ? [] : [[label, toSafeLine(values.join(', '))]])
  terminal.line(`${metadata.emoji === undefined ? '' : `${metadata.emoji} `}${terminal.paint('bold', toSafeLine(skill.name))}  ${state.state}`)
  for (const reason of state.reasons) terminal.line(`  ${terminal.paint('yellow', toSafeLine(reason.text))}${reason.fix === undefined ? '' : `  ${terminal.paint('dim', toSafeLine(reason.fix))}`}`)
  terminal.line(`\n${toSafeLine(skill.description)}\n`)
  terminal.line(
    formatTable([
      ['address', toSafeLine(skillAddress(skill))],
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
      ...list('install', metadata.install.map((spec) => spec.label ?? `${spec.kind} ${spec.id}`)),
      ['sha256', skill.fileDigest],
    ]),
  )
  for (const diagnostic of skill.diagnostics) terminal.line(`\n${formatDiagnostic(diagnostic, terminal.paint)}`)
}

function printCheck(skill: Skill, state: SkillState, terminal: Terminal): void {
  const mark = { ready: terminal.paint('green', '✓'), held: terminal.paint('yellow', '◌'), shadowed: terminal.paint('dim', '≡') }[state.state]
  terminal.line(`${mark} ${terminal.paint('bold', toSafeLine(skillAddress(skill)))}  ${state.state}  ${terminal.paint('dim', toSafeLine(skill.file))}`)
  for (const reason of state.reasons) {
    terminal.line(`    ${toSafeLine(reason.text)}${reason.fix === undefined ? '' : `\n      ${terminal.paint('cyan', 'fix:')} ${toSafeLine(reason.fix)}`}`)
  }
  for (const diagnostic of skill.diagnostics) terminal.line(formatDiagnostic(diagnostic, terminal.paint).replace(/^/gm, '    '))
}

function printRejected(broken: RejectedSkill, terminal: Terminal): void {
  terminal.line(`${terminal.paint('red', '✗')} ${terminal.paint('bold', toSafeLine(broken.name))}  broken  ${terminal.paint('dim', toSafeLine(broken.file))}`)
  for (const diagnostic of broken.diagnostics) terminal.line(formatDiagnostic(diagnostic, terminal.paint).replace(/^/gm, '    '))
}

/** Diagnostics that belong to no single skill: roots, collisions, limits. */
function printLoose(catalog: Catalog, terminal: Terminal): void {
  const told = new Set([...catalog.skills, ...catalog.rejected].flatMap((entry) => entry.diagnostics))
  for (const diagnostic of catalog.diagnostics) {
    if (!told.has(diagnostic) && diagnostic.severity !== 'info') terminal.line(formatDiagnostic(diagnostic, terminal.paint))
  }
}

function listData(catalog: Catalog, index: PromptIndex, all: boolean): JsonValue {
  const items = new Map(index.items.map((item) => [item.name, item]))
  return {
    skills: catalog.skills.map((skill) => ({ ...skillData(skill), description: skill.description, shown: items.get(skill.name)?.shown ?? 'omitted', tokens: items.get(skill.name)?.tokens ?? 0 })),
    ...(all && {
      held: catalog.held.map(({ skill, reasons }) => ({ ...skillData(skill), reasons: reasons.map((reason) => ({ ...reason })) })),
      shadowed: catalog.shadowed.map(({ skill, by, why }) => ({ ...skillData(skill), by: skillAddress(by), why })),
      rejected: catalog.rejected.map(rejectedData),
    }),
    counts: { ready: catalog.skills.length, held: catalog.held.length, shadowed: catalog.shadowed.length, rejected: catalog.rejected.length },
  }
}

function skillData(skill: Skill): { [key: string]: JsonValue } {
  return { name: skill.name, address: skillAddress(skill), tier: skill.origin.tier, trusted: skill.origin.trusted, file: skill.file, sha256: skill.fileDigest, diagnostics: skill.diagnostics.map(diagnosticData) }
}

function rejectedData(broken: RejectedSkill): JsonValue {
  return { name: broken.name, file: broken.file, tier: broken.origin.tier, diagnostics: broken.diagnostics.map(diagnosticData) }
}

function diagnosticData(diagnostic: Diagnostic): JsonValue {
  return { ...diagnostic }
}
