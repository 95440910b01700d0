import type { Catalog } from '../../catalog/index.ts'
import { NexusError, type Skill, skillAddress, toSafeLine, toSafeText } from '../../kernel/index.ts'
import type { Local } from '../../local.ts'
import type { Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'
import { agentFlag, openFor } from '../open.ts'
import {
  listData,
  printCheck,
  printHint,
  printLoose,
  printOthers,
  printReady,
  printRejected,
  printSkill,
  rejectedData,
  skillData,
  stateOf,
} from '../show-skills.ts'

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
      const { outcome } = await local.runtime.call({
        tool: 'load_skill',
        arguments: { skill_name: name },
        origin: 'cli',
        ...agentOf(invocation),
      })
      if (outcome.type === 'failed')
        throw new NexusError('SKILL_INVALID', outcome.message, { fix: `nexus skills check ${name}` })
      terminal.line(toSafeText(outcome.text))
      return 0
    }
    const state = stateOf(catalog, skill)
    if (invocation.flags['json'] === true)
      terminal.json(
        envelope('skills show', { ...skillData(skill), ...state, description: skill.description }, skill.diagnostics),
      )
    else printSkill(skill, state, terminal)
    return 0
  })
}

/** `nexus skills check [name]`: exit code 1 when the named skill is not ready, or any candidate is broken. */
export async function checkSkills(invocation: Invocation): Promise<number> {
  const name = invocation.positionals[0]
  return withCatalog(invocation, (local, catalog) => {
    const { terminal } = invocation
    const matches = (candidateName: string, address: string): boolean =>
      name === undefined || candidateName === name || address === name
    const skills = [
      ...catalog.skills,
      ...catalog.held.map((held) => held.skill),
      ...catalog.shadowed.map((shadowed) => shadowed.skill),
    ]
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
async function withCatalog(
  invocation: Invocation,
  use: (local: Local, catalog: Catalog) => number | Promise<number>,
): Promise<number> {
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
  throw new NexusError('INVALID_ARGUMENT', `nexus ${command}: the name of the skill is missing.`, {
    fix: 'nexus skills list',
  })
}

/** Any copy of a skill by name (the one that wins first) or address, whatever its state. */
function candidate(catalog: Catalog, name: string): Skill {
  const copies = [
    ...catalog.skills,
    ...catalog.held.map((held) => held.skill),
    ...catalog.shadowed.map((shadowed) => shadowed.skill),
  ]
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
