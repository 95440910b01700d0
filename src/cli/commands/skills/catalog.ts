import type { Catalog } from '../../../catalog/index.ts'
import {
  hasErrors,
  NexusError,
  type RejectedSkill,
  type Skill,
  skillAddress,
  toSafeLine,
  toSafeText,
} from '../../../kernel/index.ts'
import type { Invocation } from '../../command.ts'
import { envelope, type ErrorMember } from '../../envelope.ts'
import { callError } from '../../failure.ts'
import { withLook } from '../../look.ts'
import { agentFlag } from '../../open.ts'
import { installData, installGround, installsOf, missingInstallsOf, printInstalls } from '../../show/install.ts'
import {
  copiesIn,
  listData,
  looseIn,
  printCheck,
  printHint,
  printOthers,
  printReady,
  printRejected,
  printSkill,
  rejectedData,
  skillData,
  stateOf,
} from '../../show/skills.ts'
import { shellWord } from '../../show/shell-word.ts'
import { printVariables, variablesData, variablesIn } from '../../show/variables.ts'
import { formatDiagnostic } from '../../terminal.ts'

/** `nexus skills list` */
export async function listSkills(invocation: Invocation): Promise<number> {
  return withLook(invocation, (look, catalog) => {
    const { terminal } = invocation
    const all = invocation.flags['all'] === true
    if (invocation.flags['json'] === true) {
      const diagnostics = [...look.diagnostics, ...catalog.diagnostics]
      terminal.json(envelope('skills list', listData(catalog, all), { diagnostics, exit: 0 }))
      return 0
    }
    printReady(catalog, terminal)
    if (all) printOthers(catalog, terminal)
    else printHint(catalog, terminal)
    return 0
  })
}

/** `nexus skills show <name>` */
export async function showSkill(invocation: Invocation): Promise<number> {
  const name = onlyName(invocation, 'skills show')
  return withLook(invocation, async (look, catalog) => {
    const { terminal } = invocation
    const skill = candidate(catalog, name)
    const content = invocation.flags['content'] === true ? await load(name, invocation) : undefined
    const state = stateOf(catalog, skill)
    const variables = variablesIn(look, agentFlag(invocation))(skill)
    const installs = installsOf(skill, installGround(look, invocation))
    if (invocation.flags['json'] === true) {
      const data = {
        ...skillData(skill),
        sha256: skill.fileDigest,
        ...state,
        description: skill.description,
        ...(skill.metadata.install.length > 0 && { install: installData(installs) }),
        ...(variables.length > 0 && { variables: variablesData(variables) }),
        ...(content && { content }),
      }
      const diagnostics = [...look.diagnostics, ...skill.diagnostics]
      terminal.json(envelope('skills show', data, { diagnostics, exit: 0 }))
    } else if (content !== undefined) terminal.line(toSafeText(content))
    else {
      printSkill(skill, state, terminal)
      if (variables.length + installs.length > 0) terminal.line('')
      printVariables(skill, variables, { terminal, all: true })
      printInstalls(installs, { terminal, indent: '' })
    }
    return 0
  })
}

/** The instructions as the model would get them: for them there must be a runtime. */
async function load(name: string, invocation: Invocation): Promise<string> {
  const { agentOf, openFor } = await import('../../open.ts')
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const { outcome } = await local.runtime.call(
      { tool: 'load_skill', arguments: { skill_name: name }, origin: 'cli', ...agentOf(invocation) },
      { signal: invocation.signal },
    )
    if (outcome.type !== 'failed') return outcome.text
    const fix = { fix: `nexus skills why ${shellWord(name)}` }
    throw outcome.code === 'NOT_FOUND'
      ? new NexusError('SKILL_NOT_FOUND', outcome.message, fix)
      : callError(outcome, fix)
  } finally {
    await local.close()
  }
}

/** `nexus skills check [name]`: exit code 1 when the named skill is not ready, or any candidate is broken. */
export async function checkSkills(invocation: Invocation): Promise<number> {
  const name = invocation.positionals[0]
  return withLook(invocation, (look, catalog) => {
    const { terminal } = invocation
    const matches = (candidateName: string, address: string): boolean =>
      name === undefined || candidateName === name || address === name
    const skills = copiesIn(catalog)
      .filter((skill) => matches(skill.name, skillAddress(skill)))
      .sort((a, b) => (skillAddress(a) < skillAddress(b) ? -1 : 1))
    const rejected = catalog.rejected.filter((broken) => matches(broken.name, `${broken.origin.source}/${broken.name}`))
    if (name !== undefined && skills.length + rejected.length === 0) throw notFound(catalog, name)
    const ground = installGround(look, invocation)
    const variablesOf = variablesIn(look, agentFlag(invocation))
    const states = skills.map((skill) => ({ skill, ...stateOf(catalog, skill) }))
    const loose = name === undefined ? looseIn(catalog) : []
    const isReady = name === undefined || states.some(({ state }) => state === 'ready')
    const error = problemOf(name, { rejected, isReady, isSearched: !hasErrors(loose) })
    if (invocation.flags['json'] === true) {
      const data = {
        target: look.facts.target,
        skills: states.map(({ skill, ...state }) => {
          const installs = missingInstallsOf(skill, ground)
          const variables = variablesOf(skill)
          return {
            ...skillData(skill),
            ...state,
            ...(installs.length > 0 && { install: installData(installs) }),
            ...(variables.length > 0 && { variables: variablesData(variables) }),
          }
        }),
        rejected: rejected.map(rejectedData),
      }
      const found = [
        ...loose,
        ...skills.flatMap((skill) => skill.diagnostics),
        ...rejected.flatMap((broken) => broken.diagnostics),
      ]
      const diagnostics = [...look.diagnostics, ...new Set(found)]
      terminal.json(envelope('skills check', data, { diagnostics, exit: error ? 1 : 0, ...(error && { error }) }))
    } else {
      terminal.line(terminal.paint('dim', `Checked against: ${toSafeLine(look.facts.target)}`))
      for (const { skill, ...state } of states) {
        printCheck(skill, state, terminal)
        printInstalls(missingInstallsOf(skill, ground), { terminal, indent: '      ' })
        printVariables(skill, variablesOf(skill), { terminal, all: false })
      }
      for (const broken of rejected) printRejected(broken, terminal)
      for (const diagnostic of loose) terminal.line(formatDiagnostic(diagnostic, terminal.paint))
    }
    return error ? 1 : 0
  })
}

/** Why `check` ends with 1. */
function problemOf(
  name: string | undefined,
  found: { rejected: readonly RejectedSkill[]; isReady: boolean; isSearched: boolean },
): ErrorMember | undefined {
  const { rejected, isReady, isSearched } = found
  const [broken] = rejected
  if (broken) {
    const many = rejected.length === 1 ? `'${toSafeLine(broken.name)}' is` : `${rejected.length} skills are`
    return { code: 'SKILL_INVALID', message: `${many} broken.`, fix: `nexus skills validate ${shellWord(broken.file)}` }
  }
  if (!isSearched) return { code: 'FILE_NOT_FOUND', message: 'Not every place could be searched; see the diagnostics.' }
  if (isReady) return undefined
  const fix = `nexus skills why ${shellWord(name ?? '')}`
  return { code: 'SKILL_NOT_FOUND', message: `'${toSafeLine(name ?? '')}' is not ready.`, fix }
}

function onlyName(invocation: Invocation, command: string): string {
  const [name] = invocation.positionals
  if (name !== undefined) return name
  throw new NexusError('INVALID_ARGUMENT', `nexus ${command}: the name of the skill is missing.`, {
    fix: 'nexus skills list',
  })
}

/** Any copy of a skill by name (the one that wins first) or address, whatever its state. */
function candidate(catalog: Catalog, name: string): Skill {
  const copies = copiesIn(catalog)
  const found = copies.find((skill) => skill.name === name) ?? copies.find((skill) => skillAddress(skill) === name)
  if (found) return found
  const broken = catalog.rejected.find((skill) => skill.name === name)
  if (broken) {
    const [first] = broken.diagnostics
    throw new NexusError('SKILL_INVALID', `${broken.file}: ${first?.message ?? 'cannot be read'}`, {
      fix: first?.fix ?? `nexus skills check ${name}`,
    })
  }
  throw notFound(catalog, name)
}

function notFound(catalog: Catalog, name: string): NexusError {
  const names = catalog.skills.map((skill) => skill.name)
  return new NexusError(
    'SKILL_NOT_FOUND',
    `There is no skill '${toSafeLine(name)}'. Ready: ${names.join(', ') || 'none'}.`,
    {
      fix: 'nexus skills list --all   (a skill is a folder with a file called exactly SKILL.md)',
    },
  )
}
