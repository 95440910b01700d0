import { createSkillSearch } from '../../../catalog/index.ts'
import { NexusError, toSafeLine } from '../../../kernel/index.ts'
import { type Invocation, stringFlag } from '../../command.ts'
import { envelope } from '../../envelope.ts'
import { withProgress } from '../../interactive/progress.ts'
import { agentFlag, openFor } from '../../open.ts'
import { formatTable, shorten } from '../../show/columns.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 1000

/** `nexus skills search <words…>`: the ready skills that fit the words best. Exit code 4 when none does. */
export async function searchSkills(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const query = [...invocation.positionals, ...invocation.rest].join(' ').trim()
  if (query === '') {
    throw new NexusError('INVALID_ARGUMENT', 'nexus skills search: the words are missing.', {
      fix: 'nexus skills search csv chart',
    })
  }
  const limit = limitFlag(invocation)
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const { skills: offered, addressOf, callName } = local.runtime.openAgent({ id: agentFlag(invocation) }).catalog()
    const search = createSkillSearch(offered, { callName })
    const { skills, total } = await withProgress(terminal, 'searching', () => search.find(query, { limit }))
    if (invocation.flags['json'] === true) {
      const found = skills.map((skill) => ({
        name: skill.name,
        address: addressOf(skill),
        description: skill.description,
        file: skill.file,
      }))
      const none = {
        code: 'SKILL_NOT_FOUND',
        message: `No ready skill fits '${toSafeLine(query)}'.`,
        fix: 'nexus skills list --all',
      }
      const about = { diagnostics: local.diagnostics, ...(found.length === 0 && { error: none, exit: 4 }) }
      terminal.json(envelope('skills search', { query, total, skills: found }, { exit: 0, ...about }))
      return skills.length === 0 ? 4 : 0
    }
    if (skills.length === 0) {
      terminal.note(`No ready skill fits '${toSafeLine(query)}'. Others may be held back: nexus skills list --all`)
      return 4
    }
    terminal.line(
      formatTable(
        skills.map((skill) => [
          terminal.paint('bold', shorten(search.callName(skill), 40)),
          terminal.paint('dim', skill.origin.source),
          toSafeLine(skill.description),
        ]),
        terminal,
      ),
    )
    if (total > skills.length)
      terminal.note(
        terminal.paintNote('dim', `${total - skills.length} more fit: --limit ${Math.min(total, MAX_LIMIT)}`),
      )
    return 0
  } finally {
    await local.close()
  }
}

function limitFlag(invocation: Invocation): number {
  const text = stringFlag(invocation, 'limit')
  if (text === undefined) return DEFAULT_LIMIT
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new NexusError('INVALID_ARGUMENT', `--limit ${toSafeLine(text)}: give a whole number from 1 to ${MAX_LIMIT}.`, {
    fix: '--limit 20',
  })
}
