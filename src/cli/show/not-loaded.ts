import { type Catalog, copiesOf } from '../../catalog/index.ts'
import { type Failed, NexusError, type ProposedCommand } from '../../kernel/index.ts'
import { type Invocation, whereFix } from '../command.ts'
import { callError } from '../failure.ts'
import { errorOf, MESSAGES } from '../messages/index.ts'
import { reasonsText } from './skills.ts'

/** The error behind a load that failed. For a model a held skill does not exist; a person gets every reason. */
export function notLoaded(
  outcome: Failed,
  { name, catalog, invocation }: { name: string; catalog: Catalog; invocation: Invocation },
): NexusError {
  const why = (asked: string): { fix: string; proposal: ProposedCommand } =>
    whereFix('To see why, run:', ['skills', 'why', asked], invocation)
  if (outcome.code !== 'NOT_FOUND') return callError(outcome, outcome.code === 'PERMISSION_DENIED' ? {} : why(name))
  const {
    held: [held],
  } = copiesOf(catalog, name)
  if (!held) return new NexusError('SKILL_NOT_FOUND', outcome.message, why(name))
  const shown = held.skill.name
  return errorOf('SKILL_HELD', MESSAGES.skillHeld(shown, reasonsText(held.reasons), why(shown)))
}
