import { createSkillSearch } from '../../../../skills/catalog/index.ts'
import { commandFix, toSafeLine } from '../../../../kernel/index.ts'
import { type Answer, argumentMissing, type Invocation, numberFlag } from '../../command.ts'
import { many } from '../../failure.ts'
import { withProgress } from '../../interactive/progress.ts'
import { agentOf, openFor } from '../../open.ts'
import { formatTable, shorten } from '../../show/columns.ts'

const MAX_LIMIT = 1000

/** `nexus skills search <words…>`: the ready skills that match the words best. Exit code 4 when none does. */
export async function searchSkills(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const query = [...invocation.positionals, ...invocation.rest].join(' ').trim()
  if (query === '') throw argumentMissing('skills search', 'words to search for', ['csv', 'chart'])
  const limit = numberFlag(invocation, 'limit', { from: 1, to: MAX_LIMIT, example: 20 }) ?? 10
  await using local = await openFor(invocation, { record: 'memory' })
  const { skills: offered, addressOf, callName } = agentOf(local, invocation).catalog()
  const search = createSkillSearch(offered, { callName })
  const { skills, total } = await withProgress(terminal, 'searching', () => search.find(query, { limit }))
  const { diagnostics } = local
  if (skills.length === 0) {
    const message = `No ready skill matches '${toSafeLine(query)}'.`
    const fix = commandFix('See all skills, also those that are held:', 'skills', 'list', '--all')
    return { data: { query, total, skills }, diagnostics, error: { code: 'SKILL_NOT_FOUND', message, ...fix } }
  }
  const rows = skills.map((skill) => [
    terminal.paint('bold', shorten(search.callName(skill), 40)),
    terminal.paint('dim', skill.origin.source),
    toSafeLine(skill.description),
  ])
  const found = skills.map((skill) => {
    const { name, description, file } = skill
    return { name, address: addressOf(skill), description, file }
  })
  const more = many(total - skills.length, 'more skill')
  return {
    data: { query, total, skills: found },
    diagnostics,
    exit: 0,
    show: () => {
      terminal.line(formatTable(rows, terminal))
      if (total > skills.length)
        terminal.note(terminal.paintNote('dim', `${more} matched: --limit ${Math.min(total, MAX_LIMIT)}`))
    },
  }
}
