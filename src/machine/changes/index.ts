/** changes: what a command changed: which of it comes back into the workspace, what is held, and how it is undone. */
export { type Change, createGate, directoriesAbove, type Judgement, type Surroundings, type Verdict } from './gate.ts'
export { protectedBy } from './globs.ts'
export { mayLead, type Named, placesNamed, wayOf } from './named.ts'
export { isPlainTodo, isRepository } from './git-paths.ts'
export {
  appliedFiles,
  type ChangeSet,
  HELD,
  type HeldPath,
  heldPaths,
  type Records,
  recordsOf,
  type SetEntry,
  type Side,
} from './records.ts'
export { type Maker, NO_SET, type SetLimits, type Taken, takeChanges, TOO_MUCH } from './take.ts'
export { putSide, staysInside } from './sides.ts'
export { recordWrite, type SetsAt } from './write.ts'
export { type Choice, drop, isChosen, keep, type Outcome, recover, undo } from './undo.ts'
