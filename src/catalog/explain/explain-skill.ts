import { type Diagnostic, type RejectedSkill, shellWord, type Skill } from '../../kernel/index.ts'
import type { Catalog, PromptIndex } from '../catalog.ts'
import { shownName, shownText } from '../shown-text.ts'
import type { CatalogSnapshot } from '../snapshot.ts'
import { type Copies, copiesOf } from '../copies-of.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'
import { aboutHeld, type HeldParts } from './held.ts'
import type { SearchedRoot, StrayFile } from './misplaced.ts'
import { findMissing, type MissingParts } from './missing.ts'
import { explainOffered, type OfferedParts } from './offered.ts'

/** What explaining goes by; everything but the catalog may be absent, and is then not spoken of. */
export interface ExplainParts extends OfferedParts, HeldParts, MissingParts {
  /** Of the agent that is asked about. */
  readonly catalog: Catalog
  /** What that agent's model is told. */
  readonly index?: Pick<PromptIndex, 'items'>
  /** Where skills were looked for. */
  readonly roots?: readonly SearchedRoot[]
  /** What a session was told. */
  readonly snapshot?: Pick<CatalogSnapshot, 'skills'>
  readonly agentId?: string
  /** Name of the tool with which the agent loads skills; false when policy leaves it none. */
  readonly loadTool?: string | false
  /** Files that look like this skill in places that are not searched. */
  readonly strays?: readonly StrayFile[]
}

/** The one answer about a name. */
export interface Explanation {
  readonly name: string
  /**
   * Where the copy stands that the name means. `offered`: an agent can load it, whether the prompt names it or not; `unloadable`: it is offered,
   * but cannot be loaded.
   */
  readonly state: 'offered' | 'unloadable' | 'held' | 'shadowed' | 'rejected' | 'missing'
  /** At least one; the first is the answer, the others are about it, then about other copies. */
  readonly findings: readonly Finding[]
}

/** A skill may have dozens of small findings; the first say enough. */
const MAX_NOTES = 20

/**
 * Why a skill is, or is not, in the prompt, callable, shadowed or held: everything that is known, the answer first.
 * `name` may be a name, `$name`, `source/name`, a directory's name, or the path of a SKILL.md. Pure.
 */
export function explainSkill(name: string, parts: ExplainParts): Explanation {
  const { catalog } = parts
  const copies = copiesOf(catalog, name)
  const shown = shownText(name).slice(0, 120)
  const { offered, held, shadowed, rejected } = copies
  const state = stateOf(copies, parts)
  // Beside a copy that is offered, what became of the others is worth knowing, and no more.
  const beside = (findings: Finding[]): Finding[] =>
    offered.length === 0 ? findings : findings.map((each) => ({ ...each, severity: 'note' }))
  const findings: Finding[] = [
    ...offered.flatMap((skill) => explainOffered(skill, parts)),
    ...beside(held.flatMap(({ skill, reasons }) => aboutHeld(skill, reasons, parts))),
    ...rejected.flatMap((broken) => aboutRejected(broken)),
    ...beside(shadowed.flatMap((copy) => aboutShadowed(copy, parts))),
    ...copies.alike.map((skill) => lookAlike(skill, catalog)),
    ...(state === 'missing' ? findMissing(shownText(name).replace(/^\$/, ''), parts) : []),
    ...(copies.isDirectory ? named(copies, shown) : []),
    ...aboutFiles(catalog.diagnostics, copies),
  ]
  return { name: shown, state, findings: withoutRepeats(findings) }
}

/** One cause is told once: a finding about a difference of names covers the note of the parser, that of a shadow its warning. */
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  const has = (code: string): boolean => findings.some((found) => found.code === code)
  return findings.filter(
    ({ code }) => !(code === 'name-differs' && has('other-name')) && !(code === 'duplicate-name' && has('shadowed')),
  )
}

function stateOf({ offered, held, shadowed, rejected }: Copies, { examined }: ExplainParts): Explanation['state'] {
  const isBroken = (skill: Skill): boolean => examined?.(skill)?.problem !== undefined
  if (offered.length > 0) return offered.every(isBroken) ? 'unloadable' : 'offered'
  if (held.length > 0) return 'held'
  if (rejected.length > 0) return 'rejected'
  return shadowed.length > 0 ? 'shadowed' : 'missing'
}

function aboutRejected({ file, diagnostics }: RejectedSkill): Finding[] {
  const found = diagnostics.slice(0, MAX_NOTES).map(fromDiagnostic)
  if (found.length > 0) return found
  return [
    finding('rejected', 'problem', {
      text: 'It cannot be read as a skill.',
      file,
      fix: `Run: nexus skills validate ${shellWord(file)}`,
    }),
  ]
}

function aboutShadowed(
  { skill, by, why, reasons }: Catalog['shadowed'][number],
  { catalog, advise }: ExplainParts,
): Finding[] {
  const { file } = skill
  const address = catalog.addressOf(skill)
  const head = why === 'identical' ? collapsed(skill, by) : shadowed(skill, by, address)
  const rest = reasons.map((reason) =>
    finding(reason.code, 'note', {
      text: `That copy would be held back as well: ${reason.text}.`,
      file,
      fix: advise?.(skill, reason)?.fix ?? reason.fix ?? 'Run: nexus skills check',
    }),
  )
  return [head, ...rest]
}

function collapsed({ file, origin }: Skill, by: Skill): Finding {
  return finding('collapsed', 'note', {
    text: `The copy of source '${origin.source}' has the same bytes as ${by.file}, which stands above it; the two count as one.`,
    file,
    fix: 'Nothing has to be done; remove one of the two if you like.',
  })
}

function shadowed(skill: Skill, by: Skill, address: string): Finding {
  const { file, origin } = skill
  if (by.origin.source === origin.source) {
    const text = `The copy in ${file} is shadowed by ${by.file}: one source has the name twice, and the last one in the order of paths counts.`
    const fix = `Call this copy by its address ${address}, write another name: in one of the two, or remove one.`
    return finding('shadowed', 'problem', { text, file, fix })
  }
  const rank =
    by.origin.tier === origin.tier ? 'which comes before it' : `${by.origin.tier} stands above ${origin.tier}`
  return finding('shadowed', 'problem', {
    text: `The copy of source '${origin.source}' is shadowed by ${by.file} (${rank}).`,
    file,
    fix: `Call this copy by its address ${address}, give one of them another name, or remove ${by.file}.`,
  })
}

/** What was asked for is the address of another skill. */
function lookAlike(skill: Skill, catalog: Catalog): Finding {
  const text = 'Another skill has this for its name, but an address means the skill that is there.'
  const fix = `Call that other one by its address ${catalog.addressOf(skill)}, or give it another name.`
  return finding('name-like-address', 'note', { text, file: skill.file, fix })
}

/** The name asked for is that of a directory; the frontmatter says another. */
function named(copies: Copies, asked: string): Finding[] {
  const thing = copies.offered[0] ?? copies.held[0]?.skill ?? copies.shadowed[0]?.skill
  if (!thing) return []
  const text = `The directory is named ${asked}, but the skill's name is ${shownName(thing)}: the frontmatter decides.`
  const set =
    thing.linkedTo === undefined
      ? `set name: ${asked} in its frontmatter`
      : `put a file with name: ${asked} in place of the link`
  const fix = `Call it ${shownName(thing)}, or ${set}.`
  return [finding('other-name', 'note', { text, file: thing.file, fix })]
}

/** What the catalog and the sources say of these files. */
function aboutFiles(diagnostics: readonly Diagnostic[], { files }: Copies): Finding[] {
  return diagnostics
    .filter(({ path }) => files.has(path))
    .slice(0, MAX_NOTES)
    .map(fromDiagnostic)
}
