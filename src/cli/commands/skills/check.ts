import {
  type Catalog,
  copiesOf,
  everyCopy,
  type Examined,
  explainOffered,
  type Finding,
  shownName,
} from '../../../catalog/index.ts'
import {
  type Diagnostic,
  hasErrors,
  type JsonValue,
  NexusError,
  type RejectedSkill,
  type Skill,
  skillAddress,
  toSafeLine,
} from '../../../kernel/index.ts'
import { examineSkill } from '../../../load/index.ts'
import type { Local } from '../../../local/index.ts'
import type { Look } from '../../../local/index.ts'
import { createPace } from '../../../sources/index.ts'
import { type Invocation, lookingAlike } from '../../command.ts'
import { envelope, type ErrorMember } from '../../envelope.ts'
import { withProgress } from '../../interactive/progress.ts'
import { agentFlag, openFor } from '../../open.ts'
import { prepareAdvice } from '../../show/advice.ts'
import { explainHere } from '../../show/explanation.ts'
import { installData, installGround, missingInstallsOf, printInstalls } from '../../show/install.ts'
import { shellWord } from '../../show/shell-word.ts'
import {
  copiesIn,
  looseIn,
  printCheck,
  printRejected,
  type Reason,
  rejectedData,
  skillData,
  type SkillState,
  stateOf,
} from '../../show/skills.ts'
import { printVariables, variablesData, variablesIn } from '../../show/variables.ts'
import { formatDiagnostic } from '../../terminal.ts'

/** Held skills whose files are read for the lines of their needs; the reasons of further ones are told without. */
const MAX_ADVISED = 200

/** `nexus skills check [name]`: exit code 1 when the named skill is not ready, or any candidate is broken. */
export async function checkSkills(invocation: Invocation): Promise<number> {
  const name = invocation.positionals[0]
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const look = seenBy(local)
    const catalog = look.catalog(agentFlag(invocation))
    const { skills, rejected } = await chosen(name, { look, catalog, invocation })
    const judging = { local, look, catalog, invocation, isOfAll: name === undefined }
    const alike = lookingAlike(invocation)
    const states = (await withProgress(invocation.terminal, 'reading skills', () => judged(skills, judging))).map(
      (state) => ({ ...state, reasons: withFix(state.reasons, alike) }),
    )
    const loose = name === undefined ? looseIn(catalog) : []
    const problem = problemOf(name, { rejected, states, isSearched: !hasErrors(loose) })
    const error = problem?.fix === undefined ? problem : { ...problem, fix: alike(problem.fix) }
    const found = { states, rejected, loose, ...(error && { error }) }
    if (invocation.flags['json'] === true) printJson(found, { look, invocation })
    else printText(found, { look, invocation })
    return error ? 1 : 0
  } finally {
    await local.close()
  }
}

function withFix(reasons: readonly Reason[], alike: (text: string) => string): readonly Reason[] {
  return reasons.map((reason) => (reason.fix === undefined ? reason : { ...reason, fix: alike(reason.fix) }))
}

function seenBy({ runtime, loaded, workspace, sources, diagnostics }: Local): Look {
  const { facts } = runtime
  const found = runtime.diagnostics
  return { loaded, workspace, sources, diagnostics, facts, found, catalog: (agentId) => runtime.catalog(agentId) }
}

interface Around {
  readonly look: Look
  readonly invocation: Invocation
}

/** Every copy that a name means, or all. Throws SKILL_NOT_FOUND with the places that were searched. */
async function chosen(
  name: string | undefined,
  { look, catalog, invocation }: Around & { readonly catalog: Catalog },
): Promise<{ skills: readonly Skill[]; rejected: readonly RejectedSkill[] }> {
  const all = [...copiesIn(catalog)].sort((a, b) => (skillAddress(a) < skillAddress(b) ? -1 : 1))
  if (name === undefined) return { skills: all, rejected: catalog.rejected }
  const copies = copiesOf(catalog, name)
  const meant = new Set(everyCopy(copies))
  if (copies.files.size > 0) return { skills: all.filter((skill) => meant.has(skill)), rejected: copies.rejected }
  // It may be a path from the working directory.
  const { state, findings } = await explainHere(name, { ...look, catalog }, { invocation })
  const files = new Set(findings.map(({ file }) => file))
  const isTold = ({ file }: Skill | RejectedSkill): boolean => files.has(toSafeLine(file))
  if (state !== 'missing') return { skills: all.filter(isTold), rejected: catalog.rejected.filter(isTold) }
  throw notFound(name, findings, lookingAlike(invocation))
}

function notFound(name: string, findings: readonly Finding[], alike: (text: string) => string): NexusError {
  const [first] = findings
  const place = first?.file === undefined ? '' : ` (${first.file})`
  const more = findings.length > 1 ? `   All of it: ${alike('nexus skills why')} ${shellWord(name)}` : ''
  const head = first?.code === 'not-found' ? '' : `There is no skill '${toSafeLine(name)}'. `
  return new NexusError('SKILL_NOT_FOUND', `${head}${first?.text ?? ''}${place}`, {
    fix: `${first?.fix ?? alike('nexus skills list --all')}${more}`,
  })
}

interface Judged extends SkillState {
  readonly skill: Skill
}

interface Judging extends Around {
  readonly local: Local
  readonly catalog: Catalog
  /** Many skills: of their files only the SKILL.md is read. */
  readonly isOfAll: boolean
}

/** Where each copy stands: reasons with their places, and for ready ones how the prompt shows them. */
async function judged(
  skills: readonly Skill[],
  { local, look, catalog, invocation, isOfAll }: Judging,
): Promise<readonly Judged[]> {
  const { loaded, facts } = look
  const { environment, signal } = invocation
  const agentId = agentFlag(invocation) ?? loaded.config.agents[0]?.id
  const reasonsOf = new Map(catalog.held.map(({ skill, reasons }) => [skill, reasons]))
  const held = skills.filter((skill) => reasonsOf.has(skill)).slice(0, MAX_ADVISED)
  const advise =
    held.length === 0 ? undefined : await prepareAdvice(held, { loaded, facts, environment, signal, agentId })
  const told = promptOf(local, agentFlag(invocation))
  const ready = new Set(catalog.skills)
  const examined = new Map<Skill, Examined>()
  const pace = createPace(signal)
  for (const skill of skills) {
    await pace()
    if (ready.has(skill)) examined.set(skill, await examineSkill(skill, { signal, isQuick: isOfAll }))
  }
  return skills.map((skill): Judged => {
    const standing = stateOf(catalog, skill)
    const reasons = reasonsOf.get(skill)
    if (standing.state === 'ready') return { skill, ...standing, ...stateOfReady(skill, examined.get(skill), told) }
    if (reasons === undefined || advise === undefined) return { skill, ...standing }
    return { skill, ...standing, reasons: reasons.map((reason) => ({ ...reason, ...advise(skill, reason) })) }
  })
}

/** Whether it can be loaded, and how the prompt shows it. */
function stateOfReady(
  skill: Skill,
  examined: Examined | undefined,
  told: (skill: Skill, examined: Examined | undefined) => readonly Reason[],
): Omit<SkillState, 'address'> {
  return { state: examined?.problem ? 'unloadable' : 'ready', reasons: told(skill, examined) }
}

/** What is worth knowing about how the model and people reach a ready skill. */
function promptOf(
  local: Local,
  agentId: string | undefined,
): (skill: Skill, examined: Examined | undefined) => readonly Reason[] {
  const { items } = local.runtime.index(agentId)
  const byName = new Map(items.map((item) => [item.name, item]))
  const canLoad = local.runtime.definitions(agentId).some(({ name }) => name === 'load_skill' || name === 'Skill')
  const { prompt } = local.loaded.config.skills
  return (skill, examined) => {
    const item = byName.get(shownName(skill))
    const findings = explainOffered(skill, {
      index: { items: item === undefined ? [] : [item] },
      prompt,
      examined: () => examined,
      ...(agentId !== undefined && { agentId }),
      ...(!canLoad && { loadTool: false as const }),
    })
    const own = new Set(skill.diagnostics.map(({ code }) => code))
    return findings
      .filter(({ code, severity }) => severity !== 'ok' && !own.has(code))
      .map(({ code, text, fix, file, line }) => ({
        ...{ code, text, fix },
        // That of the skill stands above its reasons.
        ...(file !== undefined && file !== toSafeLine(skill.file) && { file }),
        ...(line !== undefined && { line }),
      }))
  }
}

interface Found {
  readonly states: readonly Judged[]
  readonly rejected: readonly RejectedSkill[]
  readonly loose: readonly Diagnostic[]
  readonly error?: ErrorMember
}

function printJson({ states, rejected, loose, error }: Found, { look, invocation }: Around): void {
  const ground = installGround(look, invocation)
  const variablesOf = variablesIn(look, agentFlag(invocation))
  const asData = ({ skill, state, reasons, address }: Judged): JsonValue => {
    const installs = missingInstallsOf(skill, ground)
    const variables = variablesOf(skill)
    return {
      ...skillData(skill, address),
      ...{ state, reasons: reasons.map((reason) => ({ ...reason })) },
      ...(installs.length > 0 && { install: installData(installs) }),
      ...(variables.length > 0 && { variables: variablesData(variables) }),
    }
  }
  const ofSkills = [
    ...states.flatMap(({ skill }) => skill.diagnostics),
    ...rejected.flatMap((each) => each.diagnostics),
  ]
  const diagnostics = [...look.diagnostics, ...new Set([...loose, ...ofSkills])]
  const data = { target: look.facts.target, skills: states.map(asData), rejected: rejected.map(rejectedData) }
  invocation.terminal.json(
    envelope('skills check', data, { diagnostics, exit: error ? 1 : 0, ...(error && { error }) }),
  )
}

function printText({ states, rejected, loose }: Found, { look, invocation }: Around): void {
  const { terminal } = invocation
  const ground = installGround(look, invocation)
  const variablesOf = variablesIn(look, agentFlag(invocation))
  terminal.line(terminal.paint('dim', `Checked against: ${toSafeLine(look.facts.target)}`))
  for (const { skill, ...state } of states) {
    printCheck(skill, state, terminal)
    printInstalls(missingInstallsOf(skill, ground), { terminal, indent: '      ' })
    printVariables(variablesOf(skill), { terminal, all: false })
  }
  for (const broken of rejected) printRejected(broken, terminal)
  for (const diagnostic of loose) terminal.line(formatDiagnostic(diagnostic, terminal.paint))
}

/** Why `check` ends with 1. */
function problemOf(
  name: string | undefined,
  found: { rejected: readonly RejectedSkill[]; states: readonly Judged[]; isSearched: boolean },
): ErrorMember | undefined {
  const { rejected, states, isSearched } = found
  const [broken] = rejected
  if (broken) {
    const many = rejected.length === 1 ? `'${toSafeLine(broken.name)}' is` : `${rejected.length} skills are`
    return { code: 'SKILL_INVALID', message: `${many} broken.`, fix: `nexus skills validate ${shellWord(broken.file)}` }
  }
  const unloadable = states.filter(({ state }) => state === 'unloadable')
  if (unloadable.length > 0) return aboutUnloadable(unloadable)
  if (!isSearched) return { code: 'FILE_NOT_FOUND', message: 'Not every place could be searched; see the diagnostics.' }
  if (name === undefined || states.some(({ state }) => state === 'ready')) return undefined
  const held = states.find(({ state }) => state === 'held') ?? states[0]
  const reasons = (held?.reasons ?? []).map(({ text }) => toSafeLine(text)).join('; ')
  const what = held?.state === 'held' ? 'is held back' : 'is not the copy that its name means'
  const fix = `nexus skills why ${shellWord(name)}`
  return { code: 'SKILL_HELD', message: `'${toSafeLine(name)}' ${what}: ${reasons}.`, fix }
}

function aboutUnloadable(unloadable: readonly Judged[]): ErrorMember {
  const [first] = unloadable
  const shown = toSafeLine(first?.address ?? '')
  const many = unloadable.length === 1 ? `'${shown}'` : `${unloadable.length} skills`
  return { code: 'SKILL_INVALID', message: `${many} cannot be loaded.`, fix: `nexus skills why ${shellWord(shown)}` }
}
