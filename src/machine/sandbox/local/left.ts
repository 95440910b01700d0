/** left: what came back of a command, in words for the model and the user. */
import { appliedFiles, NO_SET, type SetEntry } from '../../changes/index.ts'
import { CHANGED } from '../messages.ts'
import type { Pushed } from '../mirror/push.ts'
import type { CommandChanges } from '../sandbox.ts'

/** The changes of a command, after they were taken back. */
export interface Left {
  readonly notes: readonly string[]
  readonly changes?: CommandChanges
}

interface HeldUnit {
  readonly unit: string
  readonly reason: string
}

/** A set in words, and in numbers. */
export function leftBy({ taken, notes }: Pushed): Left {
  if (taken === undefined) return { notes }
  const { set, entries } = taken
  const unitsOf = (verdict: SetEntry['verdict']): SetEntry[] => [
    ...new Map(entries.filter((entry) => entry.verdict === verdict).map((entry) => [entry.unit, entry])).values(),
  ]
  const [held, conflicts] = [unitsOf('held'), unitsOf('conflict')]
  const [notTaken, never] = [true, false].map((isOfSecrets) =>
    unitsOf('never').filter(({ reason }) => (reason === NO_SET) === isOfSecrets),
  ) as [SetEntry[], SetEntry[]]
  const [ofFiles, ofGit] = [false, true].map((isOfGit) =>
    held.filter(({ git }) => (git !== undefined) === isOfGit).map(({ unit, reason = '' }) => ({ unit, reason })),
  ) as [HeldUnit[], HeldUnit[]]
  const packages = unitsOf('beside').filter(({ reason }) => reason !== undefined)
  const names = (some: readonly SetEntry[]): string[] => some.map(({ unit }) => unit)
  const applied = appliedFiles(entries)
  if (set === undefined)
    return {
      notes: [
        ...notes,
        ...(applied.length > 0 ? [CHANGED.noSet()] : []),
        ...(notTaken.length > 0 ? [CHANGED.notTaken(names(notTaken))] : []),
        ...(packages.length > 0 ? [CHANGED.beside(names(packages))] : []),
        ...(never.length > 0 ? [CHANGED.never(names(never))] : []),
      ],
    }
  return {
    notes: [
      ...notes,
      ...(ofFiles.length > 0 ? [CHANGED.held(ofFiles, set.id)] : []),
      ...(ofGit.length > 0 ? [CHANGED.heldGit(ofGit, set.id)] : []),
      ...(conflicts.length > 0 ? [CHANGED.conflict(names(conflicts), set.id)] : []),
      ...(packages.length > 0 ? [CHANGED.beside(names(packages))] : []),
      ...(never.length > 0 ? [CHANGED.never(names(never))] : []),
    ],
    changes: { id: set.id, applied: applied.map(({ path }) => path), held: names([...held, ...conflicts]) },
  }
}
