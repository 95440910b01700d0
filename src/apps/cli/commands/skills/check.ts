import { everyCopy } from '../../../../skills/catalog/index.ts'
import { diagnoseInvalid } from '../../../../skills/diagnose/index.ts'
import {
  type Diagnostic,
  hasErrors,
  type InvalidSkill,
  skillAddress,
  toSafeLine,
  commandFix,
} from '../../../../kernel/index.ts'
import { type Answer, commandHint, type Invocation } from '../../command.ts'
import type { Failure } from '../../failure.ts'
import { withProgress } from '../../interactive/progress.ts'
import { agentOf, openFor } from '../../open.ts'
import { copyData, copyDescriber, type DescribedCopy, printVariables } from '../../show/copy.ts'
import { copiesMeant, factsAbout, seenIn } from '../../show/facts.ts'
import { printCopy, printExplain, withCommands } from '../../show/findings.ts'
import { missingInstallsOf, printInstalls } from '../../show/install.ts'
import { invalidData, looseIn, heldText } from '../../show/skills.ts'
import { notFound } from '../../show/not-found.ts'
import { formatDiagnostic } from '../../terminal.ts'
import { canLoadSkills } from './why.ts'

/** `nexus skills check [name]`: exit code 1 when the named skill is not ready, or any candidate is broken. */
export async function checkSkills(invocation: Invocation): Promise<Answer> {
  const { terminal, cwd } = invocation
  const [name] = invocation.positionals
  await using local = await openFor(invocation, { record: 'memory' })
  const seen = seenIn(local, invocation)
  const { catalog, facts } = seen
  const copies = name === undefined ? catalog : copiesMeant(name, catalog, cwd)
  const skills = everyCopy(copies).toSorted((a, b) => (skillAddress(a) < skillAddress(b) ? -1 : 1))
  const { invalid } = copies
  if (name !== undefined && skills.length + invalid.length === 0) throw await notFound(name, seen, invocation)
  const states = await withProgress(terminal, 'reading skills', async () => {
    const agent = agentOf(local, invocation)
    const about = await factsAbout(skills, seen, invocation, name === undefined)
    const all = { ...about, index: agent.index(), canLoad: canLoadSkills(agent) }
    return skills.map(copyDescriber(all, seen, invocation, missingInstallsOf))
  })
  const loose = name === undefined ? looseIn(catalog) : []
  const found = { name, states, invalid, loose }
  const ofSkills = [...skills, ...invalid].flatMap((each) => each.diagnostics)
  const error = problemOf(found, invocation)
  return {
    data: { target: facts.target, skills: states.map(copyData), invalid: invalid.map(invalidData) },
    diagnostics: [...local.diagnostics, ...new Set([...loose, ...ofSkills])],
    error,
    exit: error ? 1 : 0,
    show: () => print(found, facts.target, invocation),
  }
}

interface Found {
  readonly name: string | undefined
  readonly states: readonly DescribedCopy[]
  readonly invalid: readonly InvalidSkill[]
  readonly loose: readonly Diagnostic[]
}

function print({ states, invalid, loose }: Found, target: string, invocation: Invocation): void {
  const { terminal } = invocation
  terminal.line(terminal.paint('dim', `Checked against: ${toSafeLine(target)}`))
  for (const state of states) {
    printCopy(state, terminal)
    printInstalls(state.installs, terminal, '      ')
    printVariables(state.variables, terminal, false)
  }
  for (const broken of invalid.map(diagnoseInvalid)) {
    const findings = broken.findings.map((found) => withCommands(found, invocation))
    printCopy({ ...broken, findings }, terminal)
  }
  for (const diagnostic of loose) terminal.line(formatDiagnostic(diagnostic, terminal))
  const broken = invalid.flatMap(({ diagnostics }) => diagnostics)
  printExplain([...states.flatMap(({ findings }) => findings), ...broken, ...loose], terminal)
}

/** Why `check` ends with 1. */
function problemOf({ name, states, invalid, loose }: Found, invocation: Invocation): Failure | undefined {
  const why = (asked: string) => commandHint('To see why, run:', ['skills', 'why', asked], invocation)
  const [broken] = invalid
  if (broken) {
    const message =
      invalid.length === 1
        ? `The skill '${toSafeLine(broken.name)}' is invalid: its SKILL.md cannot be read.`
        : `${invalid.length} skills are invalid: their SKILL.md cannot be read.`
    const fix = commandFix('See every fault with its line:', 'skills', 'validate', broken.file)
    return { code: 'SKILL_INVALID', message, ...fix }
  }
  const unloadable = states.filter(({ verdict }) => verdict === 'unloadable').map(({ address }) => address)
  const [first] = unloadable
  if (first !== undefined) {
    const subject = unloadable.length === 1 ? `The skill '${toSafeLine(first)}'` : `${unloadable.length} skills`
    return { code: 'SKILL_INVALID', message: `${subject} cannot be loaded.`, ...why(first) }
  }
  if (hasErrors(loose))
    return {
      code: 'FILE_NOT_FOUND',
      message: 'Some folders could not be searched for skills.',
      fix: 'Fix the first problem of the diagnostics.',
    }
  if (name === undefined || states.some(({ verdict }) => verdict === 'ready')) return undefined
  return notActive(name, states, why(name))
}

/** A named skill of which no copy is ready. */
function notActive(name: string, states: readonly DescribedCopy[], fix: ReturnType<typeof commandHint>): Failure {
  const held = states.find(({ verdict }) => verdict === 'held')
  const reasons = (held ?? states[0])?.findings.filter(({ severity }) => severity !== 'info') ?? []
  const text = reasons.map(({ reason, message }) => reason ?? message).join('; ')
  const message = held ? heldText(name, text) : `'${toSafeLine(name)}' is not the active copy of its name: ${text}.`
  return { code: 'SKILL_HELD', message, ...fix }
}
