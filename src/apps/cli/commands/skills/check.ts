import { everyCopy } from '../../../../skills/catalog/index.ts'
import { type CopyDiagnosis, diagnoseCopy, diagnoseInvalid, type Finding } from '../../../../skills/diagnose/index.ts'
import {
  type Diagnostic,
  hasErrors,
  type InvalidSkill,
  type Skill,
  skillAddress,
  toSafeLine,
  commandFix,
} from '../../../../kernel/index.ts'
import type { Local } from '../../../../local/index.ts'
import { type Answer, commandHint, type Invocation } from '../../command.ts'
import { type ErrorMember, memberOf } from '../../envelope.ts'
import { withProgress } from '../../interactive/progress.ts'
import { agentFlag, openFor } from '../../open.ts'
import { copiesMeant, factsAbout, type Seen, seenIn } from '../../show/facts.ts'
import { findingsData, printCopy, printExplain, withCommands } from '../../show/findings.ts'
import { installData, installGround, missingInstallsOf, printInstalls } from '../../show/install.ts'
import { invalidData, looseIn, skillData, heldText } from '../../show/skills.ts'
import { notFound } from '../../show/not-found.ts'
import { printVariables, variablesData, variablesIn } from '../../show/variables.ts'
import { formatDiagnostic } from '../../terminal.ts'
import { canLoadSkills } from './why.ts'

/** `nexus skills check [name]`: exit code 1 when the named skill is not ready, or any candidate is broken. */
export async function checkSkills(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const name = invocation.positionals[0]
  await using local = await openFor(invocation, { record: 'memory' })
  const seen = seenIn(local, invocation)
  const { skills, invalid } = await chosen(name, seen, invocation)
  const states = await withProgress(terminal, 'reading skills', () =>
    judged(skills, { local, seen, invocation, isQuick: name === undefined }),
  )
  const loose = name === undefined ? looseIn(seen.catalog) : []
  const found = { name, states, invalid, loose }
  const ofSkills = [...skills, ...invalid].flatMap((each) => each.diagnostics)
  const error = problemOf(found, invocation)
  return {
    data: { target: seen.facts.target, skills: states.map(dataOf), invalid: invalid.map(invalidData) },
    diagnostics: [...local.diagnostics, ...new Set([...loose, ...ofSkills])],
    error,
    exit: error ? 1 : 0,
    show: () => print(found, seen, invocation),
  }
}

interface Chosen {
  readonly skills: readonly Skill[]
  readonly invalid: readonly InvalidSkill[]
}

/** Every copy that a name refers to, or all. Throws SKILL_NOT_FOUND. */
async function chosen(name: string | undefined, seen: Seen, invocation: Invocation): Promise<Chosen> {
  const { catalog } = seen
  const copies = name === undefined ? catalog : copiesMeant(name, catalog, invocation.cwd)
  const skills = everyCopy(copies).toSorted((a, b) => (skillAddress(a) < skillAddress(b) ? -1 : 1))
  if (name === undefined || skills.length + copies.invalid.length > 0) return { skills, invalid: copies.invalid }
  throw await notFound(name, seen, invocation)
}

/** One copy, with what is printed besides its diagnosis. */
interface Judged extends CopyDiagnosis {
  readonly skill: Skill
  readonly installs: ReturnType<typeof missingInstallsOf>
  readonly variables: ReturnType<ReturnType<typeof variablesIn>>
}

interface Judging {
  readonly local: Local
  readonly seen: Seen
  readonly invocation: Invocation
  readonly isQuick: boolean
}

async function judged(
  skills: readonly Skill[],
  { local, seen, invocation, isQuick }: Judging,
): Promise<readonly Judged[]> {
  const agentId = agentFlag(invocation)
  const about = await factsAbout(skills, seen, { invocation, isQuick })
  const facts = {
    ...about,
    index: local.runtime.openAgent({ id: agentId }).index(),
    canLoad: canLoadSkills(local, agentId),
  }
  const ground = installGround(seen, invocation)
  const variablesOf = variablesIn(seen)
  return skills.map((skill) => {
    const { findings, ...copy } = diagnoseCopy(skill, facts)
    return {
      ...copy,
      skill,
      findings: findings.map((found) => withCommands(found, invocation)),
      installs: missingInstallsOf(skill, ground),
      variables: variablesOf(skill),
    }
  })
}

interface Found extends Pick<Chosen, 'invalid'> {
  readonly name: string | undefined
  readonly states: readonly Judged[]
  readonly loose: readonly Diagnostic[]
}

function dataOf({ skill, address, verdict, winner, findings, installs, variables }: Judged) {
  return {
    ...skillData(skill, address),
    verdict,
    winner,
    findings: findingsData(findings),
    ...(installs.length > 0 && { install: installData(installs) }),
    ...(variables.length > 0 && { variables: variablesData(variables) }),
  }
}

function print({ states, invalid, loose }: Found, seen: Seen, invocation: Invocation): void {
  const { terminal } = invocation
  terminal.line(terminal.paint('dim', `Checked against: ${toSafeLine(seen.facts.target)}`))
  for (const state of states) {
    printCopy(state, terminal)
    printInstalls(state.installs, { terminal, indent: '      ' })
    printVariables(state.variables, { terminal, all: false })
  }
  for (const broken of invalid.map(diagnoseInvalid)) {
    const findings = broken.findings.map((found: Finding) => withCommands(found, invocation))
    printCopy({ ...broken, findings }, terminal)
  }
  for (const diagnostic of loose) terminal.line(formatDiagnostic(diagnostic, terminal))
  const broken = invalid.flatMap(({ diagnostics }) => diagnostics)
  printExplain([...states.flatMap(({ findings }) => findings), ...broken, ...loose], terminal)
}

/** Why `check` ends with 1. */
function problemOf({ name, states, invalid, loose }: Found, invocation: Invocation): ErrorMember | undefined {
  const why = (asked: string) => commandHint('To see why, run:', ['skills', 'why', asked], invocation)
  const [broken] = invalid
  if (broken) {
    const message =
      invalid.length === 1
        ? `The skill '${toSafeLine(broken.name)}' is invalid: its SKILL.md cannot be read.`
        : `${invalid.length} skills are invalid: their SKILL.md cannot be read.`
    const fix = commandFix('See every fault with its line:', 'skills', 'validate', broken.file)
    return memberOf('SKILL_INVALID', { message, ...fix })
  }
  const unloadable = states.filter(({ verdict }) => verdict === 'unloadable').map(({ address }) => address)
  const [first] = unloadable
  if (first !== undefined) {
    const subject = unloadable.length === 1 ? `The skill '${toSafeLine(first)}'` : `${unloadable.length} skills`
    return memberOf('SKILL_INVALID', { message: `${subject} cannot be loaded.`, ...why(first) })
  }
  if (hasErrors(loose))
    return memberOf('FILE_NOT_FOUND', {
      message: 'Some folders could not be searched for skills.',
      fix: 'Fix the first problem of the diagnostics.',
    })
  if (name === undefined || states.some(({ verdict }) => verdict === 'ready')) return undefined
  return notActive(name, states, why(name))
}

/** A named skill of which no copy is ready. */
function notActive(name: string, states: readonly Judged[], fix: ReturnType<typeof commandHint>): ErrorMember {
  const held = states.find(({ verdict }) => verdict === 'held')
  const reasons = (held ?? states[0])?.findings.filter(({ severity }) => severity !== 'info') ?? []
  const text = reasons.map(({ reason, message }) => reason ?? message).join('; ')
  const message = held ? heldText(name, text) : `'${toSafeLine(name)}' is not the active copy of its name: ${text}.`
  return memberOf('SKILL_HELD', { message, ...fix })
}
