/** left: a workspace that one command can work in, and what came back of it, in words for the model and the user. */
import { appliedFiles, NO_SET, type SetEntry } from '../../changes/index.ts'
import { CHANGED } from '../messages.ts'
import type { Pushed } from '../mirror/push.ts'
import type { Mount, Seen } from '../runner/protocol.ts'
import type { CommandChanges } from '../sandbox.ts'

/** A workspace that a command can work in now. */
export interface Entered {
  readonly mount: Mount
  /** The directory in which the overlay of the command is mounted; absent without one. */
  readonly layer?: string
  /** The parts that the command sees; absent = all. */
  readonly view?: readonly Seen[]
  /** Dependency directories in it that are the workspace's own, read-only. */
  readonly bound?: readonly string[]
  /** Takes the changes back, in at most `maxMs`; returns what the caller should know. Call it exactly once. */
  leave(maxMs: number): Promise<Left>
}

/** The changes of a command, after they were taken back. */
export interface Left {
  readonly notes: readonly string[]
  readonly changes?: CommandChanges
}

/** A set in words, and in numbers. */
export function leftBy({ taken, notes }: Pushed): Left {
  if (taken === undefined) return { notes }
  const { set, entries } = taken
  const unitsIf = (isMeant: (entry: SetEntry) => boolean): { readonly unit: string; readonly reason: string }[] => [
    ...new Map(entries.filter(isMeant).map(({ unit, reason = '' }) => [unit, { unit, reason }])).values(),
  ]
  const namesIf = (isMeant: (entry: SetEntry) => boolean): string[] => unitsIf(isMeant).map(({ unit }) => unit)
  const applied = appliedFiles(entries)
  const [ofFiles, ofGit] = [
    unitsIf(({ verdict, git }) => verdict === 'held' && git === undefined),
    unitsIf(({ verdict, git }) => verdict === 'held' && git !== undefined),
  ]
  const conflicts = namesIf(({ verdict }) => verdict === 'conflict')
  const { id = '' } = set ?? {}
  const rows: readonly (readonly [readonly unknown[], () => string])[] = [
    [set === undefined ? applied : [], CHANGED.noSet],
    [ofFiles, () => CHANGED.held(ofFiles, id)],
    [ofGit, () => CHANGED.heldGit(ofGit, id)],
    [conflicts, () => CHANGED.conflict(conflicts, id)],
    ...namesOf(namesIf),
  ]
  const said = [...notes, ...rows.flatMap(([names, say]) => (names.length > 0 ? say() : []))]
  if (set === undefined) return { notes: said }
  const held = [...namesIf(({ verdict }) => verdict === 'held'), ...conflicts]
  return { notes: said, changes: { id, applied: applied.map(({ path }) => path), held } }
}

/** Places of which no set has the bytes. */
function namesOf(
  namesIf: (isMeant: (entry: SetEntry) => boolean) => string[],
): (readonly [readonly string[], () => string])[] {
  const notTaken = namesIf(({ verdict, reason }) => verdict === 'never' && reason === NO_SET)
  const packages = namesIf(({ verdict, reason }) => verdict === 'beside' && reason !== undefined)
  const never = namesIf(({ verdict, reason }) => verdict === 'never' && reason !== NO_SET)
  return [
    [notTaken, () => CHANGED.notTaken(notTaken)],
    [packages, () => CHANGED.beside(packages)],
    [never, () => CHANGED.never(never)],
  ]
}
