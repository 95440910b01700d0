import { everyCopy } from '../../../../skills/catalog/index.ts'
import { type CopyDiagnosis, diagnoseCopy, diagnoseInvalid, type Finding } from '../../../../skills/diagnose/index.ts'
import {
  type Diagnostic,
  type ErrorCode,
  hasErrors,
  type JsonValue,
  type InvalidSkill,
  type Skill,
  skillAddress,
  toSafeLine,
} from '../../../../kernel/index.ts'
import type { Local, Inspection } from '../../../../local/index.ts'
import { type Invocation, whereFix } from '../../command.ts'
import { commandData, envelope, type ErrorMember } from '../../envelope.ts'
import { withProgress } from '../../interactive/progress.ts'
import { type Message, MESSAGES, NOTES } from '../../messages/index.ts'
import { agentFlag, openFor } from '../../open.ts'
import { copiesMeant, factsAbout, type Seen, seenIn } from '../../show/facts.ts'
import { findingsData, printCopy, printExplain, withCommands } from '../../show/findings.ts'
import { installData, installGround, missingInstallsOf, printInstalls } from '../../show/install.ts'
import { invalidData, looseIn, skillData } from '../../show/skills.ts'
import { notFound } from '../../show/not-found.ts'
import { printVariables, variablesData, variablesIn } from '../../show/variables.ts'
import { formatDiagnostic } from '../../terminal.ts'
import { canLoadSkills } from './why.ts'

/** `nexus skills check [name]`: exit code 1 when the named skill is not ready, or any candidate is broken. */
export async function checkSkills(invocation: Invocation): Promise<number> {
  const name = invocation.positionals[0]
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const seen = { ...seenIn(local, invocation), diagnostics: local.diagnostics }
    const { skills, invalid } = await chosen(name, seen, invocation)
    const states = await withProgress(invocation.terminal, 'reading skills', () =>
      judged(skills, { local, seen, invocation, isQuick: name === undefined }),
    )
    const loose = name === undefined ? looseIn(seen.catalog) : []
    const error = problemOf({ name, states, invalid, isSearched: !hasErrors(loose) }, invocation)
    const found = { states, invalid, loose, ...(error && { error }) }
    const extras = extrasOf(seen, invocation)
    if (invocation.flags['json'] === true) printJson(found, { seen, extras, invocation })
    else printText(found, { seen, extras, invocation })
    return error ? 1 : 0
  } finally {
    await local.close()
  }
}

type Checked = Seen & Pick<Inspection, 'diagnostics'>

interface Chosen {
  readonly skills: readonly Skill[]
  readonly invalid: readonly InvalidSkill[]
}

/** Every copy that a name refers to, or all. Throws SKILL_NOT_FOUND. */
async function chosen(name: string | undefined, seen: Checked, invocation: Invocation): Promise<Chosen> {
  const { catalog } = seen
  const copies = name === undefined ? catalog : copiesMeant(name, catalog, invocation.cwd)
  const skills = everyCopy(copies).toSorted((a, b) => (skillAddress(a) < skillAddress(b) ? -1 : 1))
  if (name === undefined || skills.length + copies.invalid.length > 0) return { skills, invalid: copies.invalid }
  throw await notFound(name, seen, invocation)
}

interface Judged extends CopyDiagnosis {
  readonly skill: Skill
}

interface Judging {
  readonly local: Local
  readonly seen: Checked
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
  return skills.map((skill) => {
    const { findings, ...copy } = diagnoseCopy(skill, facts)
    return { ...copy, skill, findings: findings.map((found) => withCommands(found, invocation)) }
  })
}

/** What is printed about a skill besides its diagnosis. */
interface Extras {
  readonly installs: (skill: Skill) => ReturnType<typeof missingInstallsOf>
  readonly variables: ReturnType<typeof variablesIn>
}

function extrasOf(seen: Checked, invocation: Invocation): Extras {
  const ground = installGround(seen, invocation)
  return {
    installs: (skill) => missingInstallsOf(skill, ground),
    variables: variablesIn(seen),
  }
}

interface Found {
  readonly states: readonly Judged[]
  readonly invalid: readonly InvalidSkill[]
  readonly loose: readonly Diagnostic[]
  readonly error?: ErrorMember
}

interface Around {
  readonly seen: Checked
  readonly extras: Extras
  readonly invocation: Invocation
}

function printJson({ states, invalid, loose, error }: Found, { seen, extras, invocation }: Around): void {
  const asData = ({ skill, address, verdict, winner, findings }: Judged): JsonValue => {
    const installs = extras.installs(skill)
    const variables = extras.variables(skill)
    return {
      ...skillData(skill, address),
      verdict,
      ...(winner !== undefined && { winner }),
      findings: findingsData(findings),
      ...(installs.length > 0 && { install: installData(installs) }),
      ...(variables.length > 0 && { variables: variablesData(variables) }),
    }
  }
  const ofSkills = [...states.map(({ skill }) => skill), ...invalid].flatMap((each) => each.diagnostics)
  const diagnostics = [...seen.diagnostics, ...new Set([...loose, ...ofSkills])]
  const data = { target: seen.facts.target, skills: states.map(asData), invalid: invalid.map(invalidData) }
  invocation.terminal.json(
    envelope('skills check', data, { diagnostics, exit: error ? 1 : 0, ...(error && { error }) }),
  )
}

function printText({ states, invalid, loose }: Found, { seen, extras, invocation }: Around): void {
  const { terminal } = invocation
  terminal.line(terminal.paint('dim', NOTES.checkedAgainst(toSafeLine(seen.facts.target))))
  for (const state of states) {
    printCopy(state, terminal)
    printInstalls(extras.installs(state.skill), { terminal, indent: '      ' })
    printVariables(extras.variables(state.skill), { terminal, all: false })
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
function problemOf(
  {
    name,
    states,
    invalid,
    isSearched,
  }: Pick<Found, 'states' | 'invalid'> & { readonly name: string | undefined; readonly isSearched: boolean },
  invocation: Invocation,
): ErrorMember | undefined {
  const why = (asked: string): Omit<Message, 'message'> =>
    whereFix('To see why, run:', ['skills', 'why', asked], invocation)
  const [broken] = invalid
  if (broken)
    return member(
      'SKILL_INVALID',
      MESSAGES.skillsInvalid(
        invalid.map((each) => each.name),
        broken.file,
      ),
    )
  const unloadable = states.filter(({ verdict }) => verdict === 'unloadable').map(({ address }) => address)
  const [first] = unloadable
  if (first !== undefined) return member('SKILL_INVALID', MESSAGES.skillsUnloadable(unloadable, why(first)))
  if (!isSearched) return member('FILE_NOT_FOUND', MESSAGES.sourcesUnsearched())
  if (name === undefined || states.some(({ verdict }) => verdict === 'ready')) return undefined
  const held = states.find(({ verdict }) => verdict === 'held')
  const reasons = (held ?? states[0])?.findings.filter(({ severity }) => severity !== 'info') ?? []
  const text = reasons.map(({ reason, message }) => reason ?? message).join('; ')
  const message = held ? MESSAGES.skillHeld(name, text, why(name)) : MESSAGES.skillNotActive(name, text, why(name))
  return member('SKILL_HELD', message)
}

function member(code: ErrorCode, { proposal, ...words }: Message): ErrorMember {
  return { code, ...words, ...commandData(proposal) }
}
