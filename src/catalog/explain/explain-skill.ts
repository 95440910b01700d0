import { type Diagnostic, nameKey, type RejectedSkill, type Skill, skillAddress } from '../../kernel/index.ts'
import type { Catalog, PromptIndex } from '../catalog.ts'
import { shownName, shownText } from '../shown-text.ts'
import type { CatalogSnapshot } from '../snapshot.ts'
import { type Copies, copiesOf } from './copies.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'
import { findMissing, type SearchedRoot, type StrayFile } from './missing.ts'

export interface ExplainParts {
  /** Of the agent that is asked about. */
  readonly catalog: Catalog
  /** What that agent's model is told; without it nothing is said about the prompt. */
  readonly index?: Pick<PromptIndex, 'items'>
  /** Where skills were looked for. */
  readonly roots?: readonly SearchedRoot[]
  /** What a session was told; without it nothing is said about a session. */
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
  /** Where the copy stands that the name means. `offered`: an agent can load it, whether the prompt names it or not. */
  readonly state: 'offered' | 'held' | 'shadowed' | 'rejected' | 'missing'
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
  const state = stateOf(copies)
  // Beside a copy that is offered, what became of the others is worth knowing, and no more.
  const beside = (findings: Finding[]): Finding[] =>
    offered.length === 0 ? findings : findings.map((each) => ({ ...each, severity: 'note' }))
  const findings: Finding[] = [
    ...offered.flatMap((skill) => aboutOffered(skill, parts)),
    ...beside(held.flatMap(({ skill, reasons }) => aboutHeld(skill, { reasons, parts }))),
    ...rejected.flatMap((broken) => aboutRejected(broken)),
    ...beside(shadowed.flatMap((copy) => aboutShadowed(copy))),
    ...(state === 'missing' ? findMissing(shown, parts) : []),
    ...(copies.isDirectory ? named(copies, shown) : []),
    ...aboutFiles(catalog.diagnostics, copies),
  ]
  return { name: shown, state, findings }
}

function stateOf({ offered, held, shadowed, rejected }: Copies): Explanation['state'] {
  if (offered.length > 0) return 'offered'
  if (held.length > 0) return 'held'
  if (rejected.length > 0) return 'rejected'
  return shadowed.length > 0 ? 'shadowed' : 'missing'
}

function aboutOffered(skill: Skill, parts: ExplainParts): Finding[] {
  const { file } = skill
  const findings = [inPrompt(skill, parts), ...inSession(skill, parts)]
  if (parts.loadTool === false) {
    const who = parts.agentId === undefined ? 'the agent' : `agent '${parts.agentId}'`
    const text = `${who} has no tool that loads skills, so it cannot use it.`
    findings.push(
      finding('no-loader', 'problem', { text, file, fix: 'Allow group:skills in the tools policy of the agent.' }),
    )
  }
  return [...findings, ...skill.diagnostics.slice(0, MAX_NOTES).map(fromDiagnostic)]
}

/** How the prompt shows it. */
function inPrompt(skill: Skill, { index }: ExplainParts): Finding {
  const { file } = skill
  const name = shownName(skill)
  const command = `nexus skills show ${name}`
  if (!skill.invocation.model) {
    const text = `It is ready, but not in the prompt: only a person may start it (disable-model-invocation).`
    const fix = `Write $${name} in a message, or take disable-model-invocation out of its frontmatter.`
    return finding('person-only', 'note', { text, file, fix })
  }
  if (!index) return finding('ready', 'ok', { text: 'It is ready.', file, fix: `Read it with: ${command}` })
  const item = index.items.find((each) => each.name === name)
  const budget =
    'Raise skills.prompt.budgetChars (SKILLS_PROMPT_CHAR_BUDGET), or switch off skills that are not needed.'
  switch (item?.shown) {
    case 'full':
      return finding('in-prompt', 'ok', {
        text: `It is in the prompt with its whole description (about ${item.tokens} tokens).`,
        file,
        fix: `Read it with: ${command}`,
      })
    case 'shortened':
      return finding('over-budget-shortened', 'note', {
        text: `It is in the prompt with a shortened description (about ${item.tokens} tokens): the index is over its budget.`,
        file,
        fix: budget,
      })
    case 'name':
      return finding('over-budget-name', 'note', {
        text: 'It is in the prompt by its name only: the index is over its budget, or its style is names.',
        file,
        fix: budget,
      })
    default:
      return finding('over-budget-omitted', 'problem', {
        text: 'It is ready, but left out of the prompt: the index is over its budget. The model can find it with find_skills.',
        file,
        fix: budget,
      })
  }
}

/** Whether a session that goes on knows it. */
function inSession(skill: Skill, { snapshot }: ExplainParts): Finding[] {
  if (!snapshot) return []
  const key = nameKey(shownName(skill))
  const told = snapshot.skills.find((each) => nameKey(shownName(each)) === key)
  const { file } = skill
  const fix = 'Send the next message: each turn begins with the skills as they are then.'
  if (!told) {
    const text = 'The session does not know it yet: it came after the last turn began.'
    return [finding('stale-session', 'problem', { text, file, fix })]
  }
  const isSame = told.size === skill.stamp.size && told.description === skill.description
  if (isSame && told.address === skillAddress(skill)) return []
  const what = told.address === skillAddress(skill) ? 'an earlier text of it' : `another copy of it, ${told.address}`
  return [finding('stale-session', 'note', { text: `The session was told of ${what}.`, file, fix })]
}

function aboutHeld(
  skill: Skill,
  { reasons, parts }: { reasons: Catalog['held'][number]['reasons']; parts: ExplainParts },
): Finding[] {
  const { agentId, snapshot } = parts
  const { file } = skill
  const findings = reasons.map(({ code, text, fix }) => {
    const line = skill.diagnostics.find((diagnostic) => diagnostic.code === code)?.line
    const said = code === 'not-allowed' && agentId !== undefined ? `not allowed for agent '${agentId}'` : text
    return finding(code, 'problem', {
      text: `Held back: ${said}.`,
      file,
      ...(line !== undefined && { line }),
      fix: fix ?? 'Run: nexus skills check',
    })
  })
  const key = nameKey(shownName(skill))
  if (snapshot?.skills.some((each) => nameKey(shownName(each)) === key)) {
    const text = 'The session was told of it when it was ready.'
    const fix = 'The next turn no longer offers it, until it is ready again.'
    findings.push(finding('stale-session', 'note', { text, file, fix }))
  }
  const told = new Set<string>(reasons.map(({ code }) => code))
  return [
    ...findings,
    ...skill.diagnostics
      .filter(({ code }) => !told.has(code))
      .slice(0, MAX_NOTES)
      .map(fromDiagnostic),
  ]
}

function aboutRejected({ file, diagnostics }: RejectedSkill): Finding[] {
  const found = diagnostics.slice(0, MAX_NOTES).map(fromDiagnostic)
  if (found.length > 0) return found
  return [
    finding('rejected', 'problem', {
      text: 'It cannot be read as a skill.',
      file,
      fix: `Run: nexus skills validate ${file}`,
    }),
  ]
}

function aboutShadowed({ skill, by, why, reasons }: Catalog['shadowed'][number]): Finding[] {
  const { file } = skill
  const address = skillAddress(skill)
  const head =
    why === 'identical'
      ? finding('collapsed', 'note', {
          text: `The copy of source '${skill.origin.source}' has the same bytes as ${by.file}, which stands above it; the two count as one.`,
          file,
          fix: 'Nothing has to be done; remove one of the two if you like.',
        })
      : finding('shadowed', 'problem', {
          text: `The copy of source '${skill.origin.source}' is shadowed by ${by.file} (${by.origin.tier} stands above, or comes before, ${skill.origin.tier}).`,
          file,
          fix: `Give one of them another name, remove ${by.file}, or call this copy by its address ${address}.`,
        })
  const rest = reasons.map(({ code, text, fix }) =>
    finding(code, 'note', {
      text: `That copy would be held back as well: ${text}.`,
      file,
      fix: fix ?? 'Run: nexus skills check',
    }),
  )
  return [head, ...rest]
}

/** The name asked for is that of a directory; the frontmatter says another. */
function named(copies: Copies, asked: string): Finding[] {
  const thing = copies.offered[0] ?? copies.held[0]?.skill ?? copies.shadowed[0]?.skill
  if (!thing) return []
  const text = `The directory is named ${asked}, but the skill's name is ${shownName(thing)}: the frontmatter decides.`
  const fix = `Call it ${shownName(thing)}, or set name: ${asked} in its frontmatter.`
  return [finding('other-name', 'note', { text, file: thing.file, fix })]
}

/** What the catalog and the sources say of these files. */
function aboutFiles(diagnostics: readonly Diagnostic[], { files }: Copies): Finding[] {
  return diagnostics
    .filter(({ path }) => files.has(path))
    .slice(0, MAX_NOTES)
    .map(fromDiagnostic)
}
