import { copiesOf } from '../../../skills/catalog/index.ts'
import { type Failed, type NexusError } from '../../../kernel/index.ts'
import { type Invocation, commandHint } from '../command.ts'
import { callError, errorOf } from '../failure.ts'
import type { Seen } from './facts.ts'
import { notFound } from './not-found.ts'
import { heldText, reasonsText } from './skills.ts'

/** The error behind a load that failed. For a model a held skill does not exist; a person gets every reason. */
export async function notLoaded(
  outcome: Failed,
  { name, seen, invocation }: { name: string; seen: Seen; invocation: Invocation },
): Promise<NexusError> {
  const why = (asked: string) => commandHint('To see why, run:', ['skills', 'why', asked], invocation)
  if (outcome.code !== 'NOT_FOUND') return callError(outcome, outcome.code === 'PERMISSION_DENIED' ? {} : why(name))
  const {
    held: [held],
  } = copiesOf(seen.catalog, name)
  if (!held) return notFound(name, seen, invocation)
  const shown = held.skill.name
  return errorOf('SKILL_HELD', heldText(shown, reasonsText(held.reasons)), why(shown))
}
