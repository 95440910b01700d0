import { createSkillSearch } from '../../../../skills/catalog/index.ts'
import { toSafeLine } from '../../../../kernel/index.ts'
import { type Answer, type Invocation, limitFlag } from '../../command.ts'
import { errorMember, printFailure } from '../../failure.ts'
import { withProgress } from '../../interactive/progress.ts'
import { errorOf, MESSAGES, NOTES } from '../../messages/index.ts'
import { agentFlag, openFor } from '../../open.ts'
import { formatTable, shorten } from '../../show/columns.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 1000

/** `nexus skills search <words…>`: the ready skills that match the words best. Exit code 4 when none does. */
export async function searchSkills(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const query = [...invocation.positionals, ...invocation.rest].join(' ').trim()
  if (query === '') {
    const message = MESSAGES.argumentMissing('skills search', 'words to search for', ['csv', 'chart'])
    throw errorOf('INVALID_ARGUMENT', message)
  }
  const limit = limitFlag(invocation, { usual: DEFAULT_LIMIT, most: MAX_LIMIT })
  await using local = await openFor(invocation, { record: 'memory' })
  const { skills: offered, addressOf, callName } = local.runtime.openAgent({ id: agentFlag(invocation) }).catalog()
  const search = createSkillSearch(offered, { callName })
  const { skills, total } = await withProgress(terminal, 'searching', () => search.find(query, { limit }))
  const { diagnostics } = local
  if (skills.length === 0) {
    const none = { code: 'SKILL_NOT_FOUND', ...MESSAGES.searchEmpty(query) } as const
    const data = { query, total, skills: [] }
    return { data, diagnostics, error: errorMember(none), exit: 4, show: () => void printFailure(none, terminal) }
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
  return {
    data: { query, total, skills: found },
    diagnostics,
    exit: 0,
    show: () => {
      terminal.line(formatTable(rows, terminal))
      if (total > skills.length)
        terminal.note(terminal.paintNote('dim', NOTES.moreMatch(total - skills.length, Math.min(total, MAX_LIMIT))))
    },
  }
}
