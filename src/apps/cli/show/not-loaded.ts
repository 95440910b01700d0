import { copiesOf } from '../../../skills/catalog/index.ts'
import type { Failed, NexusError, ProposedCommand } from '../../../kernel/index.ts'
import { type Invocation, commandHint } from '../command.ts'
import { callError } from '../failure.ts'
import { errorOf, MESSAGES } from '../messages/index.ts'
import type { Seen } from './facts.ts'
import { notFound } from './not-found.ts'
import { reasonsText } from './skills.ts'

/** The error behind a load that failed. For a model a held skill does not exist; a person gets every reason. */
export async function notLoaded(
  outcome: Failed,
  { name, seen, invocation }: { name: string; seen: Seen; invocation: Invocation },
): Promise<NexusError> {
  const why = (asked: string): { fix: string; proposal: ProposedCommand } =>
    commandHint('To see why, run:', ['skills', 'why', asked], invocation)
  if (outcome.code !== 'NOT_FOUND') return callError(outcome, outcome.code === 'PERMISSION_DENIED' ? {} : why(name))
  const {
    held: [held],
  } = copiesOf(seen.catalog, name)
  if (!held) return notFound(name, seen, invocation)
  const shown = held.skill.name
  return errorOf('SKILL_HELD', MESSAGES.skillHeld(shown, reasonsText(held.reasons), why(shown)))
}
