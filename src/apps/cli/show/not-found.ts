import { errorOf } from '../failure.ts'
import { everyCopy } from '../../../skills/catalog/index.ts'
import { nearest, type NexusError, toSafeLine } from '../../../kernel/index.ts'
import { type Invocation, commandHint } from '../command.ts'
import { diagnoseHere, type Seen } from './facts.ts'

const MAX_LISTED = 20

/** The error for a name that no skill has: the same command with the name that is meant, else what is known of where the skill is. */
export async function notFound(name: string, seen: Seen, invocation: Invocation): Promise<NexusError> {
  const { catalog } = seen
  const near = nearest(
    name,
    [...new Set([...catalog.skills, ...everyCopy(catalog)])].map((skill) => skill.name),
  )
  const listed = catalog.skills.slice(0, MAX_LISTED).map((skill) => toSafeLine(skill.name))
  const more = catalog.skills.length > listed.length ? [`${catalog.skills.length - listed.length} more`] : []
  const ready = [...listed, ...more].join(', ') || 'none'
  const message = `There is no skill '${toSafeLine(name)}'. Ready skills: ${ready}.`
  if (near !== undefined) {
    const { rest } = invocation
    const line = [...invocation.command.split(' '), near, ...(rest.length > 0 ? ['--', ...rest] : [])]
    const fix = commandHint(`Did you mean '${toSafeLine(near)}'? Run:`, line, invocation)
    return errorOf('SKILL_NOT_FOUND', message, fix)
  }
  const { findings } = await diagnoseHere(name, seen, { invocation })
  const [first] = findings
  if (findings.length !== 1 || !first || first.code === 'not-found') {
    const fix = commandHint('To see where Nexus looked, run:', ['skills', 'why', name], invocation)
    return errorOf('SKILL_NOT_FOUND', message, fix)
  }
  const next = { fix: first.fix, ...(first.proposal && { proposal: first.proposal }) }
  const file = first.path === undefined ? '' : ` (${invocation.terminal.shortPath(first.path)})`
  return errorOf('SKILL_NOT_FOUND', `There is no skill '${toSafeLine(name)}'. ${first.message}${file}`, next)
}
