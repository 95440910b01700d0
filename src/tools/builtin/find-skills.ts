import { shownText } from '../../skills/catalog/index.ts'
import { type Outcome, type Services, type Skill, skillAddress, succeeded, type Tool } from '../../kernel/index.ts'
import { shorten } from '../bound.ts'
import { defineTool } from '../define.ts'
import { SKILL_SEARCH } from '../services.ts'
import { CALLS, failedBy } from '../messages.ts'

/**
 * `find_skills{query*, limit?}`: skills by words, for a catalog that does not fit into the prompt. It searches the service
 * `SKILL_SEARCH`, which contains what the model may start. Ours; see decisions, "prompt index".
 */
export function createFindSkillsTool(services: Services): Tool {
  return defineTool({
    name: 'find_skills',
    description:
      'Search the skills by words of their names, tags and descriptions. Use it when no listed skill fits the task: the list may be cut. Then load the best match.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'A few words about the task, such as "fill in pdf form"' },
        limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT, description: 'Most results' },
      },
      required: ['query'],
    },
    execute: async (args) => {
      const query = String(args.query ?? '').trim()
      if (query === '') return failedBy('INVALID_PARAM', CALLS.textRequired('query'))
      const limit = Number(args.limit ?? DEFAULT_LIMIT)
      const search = services.require(SKILL_SEARCH)
      const { skills, total } = await search.find(query, { limit })
      return toFound(query, skills, total, search.callName)
    },
  })
}

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 50
const MAX_DESCRIPTION_CHARS = 300
const MAX_QUERY_CHARS = 100

function toFound(query: string, skills: readonly Skill[], total: number, callName: (skill: Skill) => string): Outcome {
  const asked = shownText(query).slice(0, MAX_QUERY_CHARS).toWellFormed()
  const found = skills.map((skill) => ({
    name: callName(skill),
    description: shorten(shownText(skill.description), MAX_DESCRIPTION_CHARS),
    address: shownText(skillAddress(skill)),
  }))
  const data = { skills: found, total }
  if (found.length === 0) return succeeded(`No skill matches '${asked}' (total: 0). Try fewer or other words.`, data)
  const lines = found.map(({ name, description, address }) => `- ${name}: ${description} (${address})`)
  const head = `${found.length} ${found.length === 1 ? 'skill' : 'skills'} for '${asked}' (total: ${total}), best first. Load one by its name.`
  const text = [head, ...lines].join('\n')
  return succeeded(text, data, { stats: { found: total } })
}
