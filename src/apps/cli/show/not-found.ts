import { callError, errorOf } from '../failure.ts'
import { copiesOf, everyCopy } from '../../../skills/catalog/index.ts'
import { type Failed, nearest, type NexusError, toSafeLine } from '../../../kernel/index.ts'
import { type Invocation, commandHint } from '../command.ts'
import { diagnoseHere, type Seen } from './facts.ts'
import { heldText, reasonsText } from './skills.ts'

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
  const { findings } = await diagnoseHere(name, seen, invocation)
  const [first] = findings
  if (findings.length !== 1 || !first || first.code === 'not-found') {
    const fix = commandHint('To see where Nexus looked, run:', ['skills', 'why', name], invocation)
    return errorOf('SKILL_NOT_FOUND', message, fix)
  }
  const file = first.path === undefined ? '' : ` (${invocation.terminal.shortPath(first.path)})`
  return errorOf('SKILL_NOT_FOUND', `There is no skill '${toSafeLine(name)}'. ${first.message}${file}`, first)
}

/** The error behind a load that failed. For a model a held skill does not exist; a person gets every reason. */
export async function notLoaded(
  outcome: Failed,
  name: string,
  seen: Seen,
  invocation: Invocation,
): Promise<NexusError> {
  const why = (asked: string) => commandHint('To see why, run:', ['skills', 'why', asked], invocation)
  if (outcome.code !== 'NOT_FOUND') return callError(outcome, outcome.code === 'PERMISSION_DENIED' ? {} : why(name))
  const [held] = copiesOf(seen.catalog, name).held
  if (!held) return notFound(name, seen, invocation)
  const shown = held.skill.name
  return errorOf('SKILL_HELD', heldText(shown, reasonsText(held.reasons)), why(shown))
}
