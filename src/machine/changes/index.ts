/** changes: what a command changed: which of it comes back into the workspace, what is held, and how it is undone. */
export { type Change, judge, type Judgement, type Surroundings, type Verdict } from './gate.ts'
export { isPlainTodo, isRepository } from './git-paths.ts'
