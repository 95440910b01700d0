/** kept: the copies of git sources of nexus.yaml, as the commands show them and take what waits. */
import { type GitSource, gitSources, refreshAccess } from '../../../local/index.ts'
import type { LoadedConfig } from '../../../config/index.ts'
import { endWaiting, fetchKept, lockOf, nameOfPlace, readStatus, type Waiting } from '../../../skills/install/index.ts'
import type { Invocation } from '../command.ts'
import { withProgress } from '../interactive/progress.ts'
import { carryOut, type Outcome } from './plan.ts'
import type { Installing } from './place.ts'

/** A source with what waits in it for a person. */
interface WaitingSource extends GitSource {
  readonly waiting: readonly Waiting[]
}

/** Sources where a revision waits, of these skills or of all. */
export function waitingSources(loaded: LoadedConfig, names: readonly string[] = []): readonly WaitingSource[] {
  return gitSources(loaded).flatMap((each) => {
    const { waiting } = readStatus(each.scope)
    const chosen = waiting.filter(({ name }) => names.length === 0 || names.includes(name))
    return chosen.length === 0 ? [] : [{ ...each, waiting: chosen }]
  })
}

/** Whether a git source has a skill of this name, served or waiting. */
export function isKept(loaded: LoadedConfig, name: string): boolean {
  return gitSources(loaded).some(
    ({ scope }) =>
      [...lockOf(scope).keys()].some((place) => nameOfPlace(place) === name) ||
      readStatus(scope).waiting.some((each) => each.name === name),
  )
}

/** Shows the plan for what waits, asks, and takes it. */
export async function takeWaiting(
  { source, scope, waiting }: WaitingSource,
  installing: Installing,
  invocation: Invocation,
): Promise<Outcome> {
  const { environment, signal, terminal } = invocation
  const access = refreshAccess(scope, installing.loaded, { environment, signal })
  const fetched = await withProgress(terminal, 'fetching files', () => fetchKept(scope, source, { access }))
  const names = waiting.map(({ name }) => name)
  const planned = (fetched?.planned ?? []).filter(({ name }) => names.includes(name))
  const outcome = await carryOut(planned, { ...installing, scope, isTrusted: true }, { invocation })
  if (outcome.applied) await endWaiting(scope, names)
  return outcome
}
