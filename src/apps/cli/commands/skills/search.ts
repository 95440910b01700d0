import { createSkillSearch } from '../../../../skills/catalog/index.ts'
import { toSafeLine } from '../../../../kernel/index.ts'
import { type Invocation, limitFlag } from '../../command.ts'
import { envelope } from '../../envelope.ts'
import { errorMember, printFailure } from '../../failure.ts'
import { withProgress } from '../../interactive/progress.ts'
import { errorOf, MESSAGES, NOTES } from '../../messages/index.ts'
import { agentFlag, openFor } from '../../open.ts'
import { formatTable, shorten } from '../../show/columns.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 1000

/** `nexus skills search <words…>`: the ready skills that match the words best. Exit code 4 when none does. */
export async function searchSkills(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const query = [...invocation.positionals, ...invocation.rest].join(' ').trim()
  if (query === '') {
    const message = MESSAGES.argumentMissing('skills search', 'words to search for', ['csv', 'chart'])
    throw errorOf('INVALID_ARGUMENT', message)
  }
  const limit = limitFlag(invocation, { usual: DEFAULT_LIMIT, most: MAX_LIMIT })
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const { skills: offered, addressOf, callName } = local.runtime.openAgent({ id: agentFlag(invocation) }).catalog()
    const search = createSkillSearch(offered, { callName })
    const { skills, total } = await withProgress(terminal, 'searching', () => search.find(query, { limit }))
    const none = { code: 'SKILL_NOT_FOUND', ...MESSAGES.searchEmpty(query) } as const
    if (invocation.flags['json'] === true) {
      const found = skills.map((skill) => ({
        name: skill.name,
        address: addressOf(skill),
        description: skill.description,
        file: skill.file,
      }))
      const about = { diagnostics: local.diagnostics, ...(found.length === 0 && { error: errorMember(none), exit: 4 }) }
      terminal.json(envelope('skills search', { query, total, skills: found }, { exit: 0, ...about }))
      return skills.length === 0 ? 4 : 0
    }
    if (skills.length === 0) return printFailure(none, terminal)
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
      terminal.note(terminal.paintNote('dim', NOTES.moreMatch(total - skills.length, Math.min(total, MAX_LIMIT))))
    return 0
  } finally {
    await local.close()
  }
}
