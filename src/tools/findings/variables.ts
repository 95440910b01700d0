/** Finds in the output of a failed command the variables that it did not have. */
import { type Ran, textOf } from './ran.ts'

/** A name with an underscore: other words in capitals are rarely variables. Git reports its own where none is missing. */
const NAME = '(?!GIT_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+'
const UNSET: readonly RegExp[] = [
  // sh: `set -u` and `${NAME:?}`
  /\b([A-Z][A-Z0-9_]{2,}): (?:unbound variable|parameter (?:null or )?not set)/,
  // python
  new RegExp(`KeyError: ['"](${NAME})['"]`),
  new RegExp(
    `\\b(${NAME})\\b.{0,60}\\b(?:[Nn]ot (?:set|defined|found)|[Uu]nset|[Mm]issing|[Rr]equired|[Uu]ndefined)\\b`,
  ),
  new RegExp(`\\b(?:[Mm]issing|[Uu]nset|[Rr]equires?|[Uu]ndefined|[Ss]et|[Ee]xport|variable)\\b.{0,60}\\b(${NAME})\\b`),
]
const MAX_NAMES = 3

/** Names of variables that the command says it lacks. */
export function namesOfUnset(ran: Pick<Ran, 'command' | 'result'>): readonly string[] {
  const { exitCode, end } = ran.result
  if (end === 'exit' && exitCode === 0) return []
  const names = textOf(ran).flatMap((line) => {
    const match = UNSET.map((pattern) => pattern.exec(line)).find((each) => each !== null)
    return match?.[1] === undefined ? [] : [match[1]]
  })
  return [...new Set(names)].slice(0, MAX_NAMES)
}
