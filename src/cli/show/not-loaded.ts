import { type Catalog, copiesOf } from '../../catalog/index.ts'
import { type Failed, NexusError, shellWord, toSafeLine } from '../../kernel/index.ts'
import { type Invocation, lookingAlike } from '../command.ts'
import { callError } from '../failure.ts'

/** The error behind a load that failed. A model is not told of skills that are held; a person is, with every reason. */
export function notLoaded(
  outcome: Failed,
  { name, catalog, invocation }: { name: string; catalog: Catalog; invocation: Invocation },
): NexusError {
  const why = lookingAlike(invocation)('nexus skills why')
  if (outcome.code !== 'NOT_FOUND')
    return callError(outcome, outcome.code === 'PERMISSION_DENIED' ? {} : { fix: `${why} ${shellWord(name)}` })
  const {
    held: [held],
  } = copiesOf(catalog, name)
  if (!held) return new NexusError('SKILL_NOT_FOUND', outcome.message, { fix: `${why} ${shellWord(name)}` })
  const shown = held.skill.name
  const reasons = held.reasons.map(({ text }) => toSafeLine(text)).join('; ')
  return new NexusError('SKILL_HELD', `'${toSafeLine(shown)}' is held back: ${reasons}.`, {
    fix: `${why} ${shellWord(shown)}`,
  })
}
