import { type Catalog, copiesOf } from '../../catalog/index.ts'
import { type Failed, NexusError, toSafeLine } from '../../kernel/index.ts'
import { type Invocation, proposed } from '../command.ts'
import { callError } from '../failure.ts'
import { reasonsText } from './skills.ts'

/** The error behind a load that failed. A model is not told of skills that are held; a person is, with every reason. */
export function notLoaded(
  outcome: Failed,
  { name, catalog, invocation }: { name: string; catalog: Catalog; invocation: Invocation },
): NexusError {
  const why = (asked: string): { fix: string } => ({ fix: proposed(['skills', 'why', asked], invocation) })
  if (outcome.code !== 'NOT_FOUND') return callError(outcome, outcome.code === 'PERMISSION_DENIED' ? {} : why(name))
  const {
    held: [held],
  } = copiesOf(catalog, name)
  if (!held) return new NexusError('SKILL_NOT_FOUND', outcome.message, why(name))
  const shown = held.skill.name
  return new NexusError('SKILL_HELD', `'${toSafeLine(shown)}' is held back: ${reasonsText(held.reasons)}.`, why(shown))
}
