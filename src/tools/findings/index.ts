/** What happened to a command, explained: from its result to findings, and from findings to notes. */
import type { CommandFinding } from './finding.ts'
import { networkFinding } from './network.ts'
import { notStartedFinding } from './not-started.ts'
import { homeFinding, outsideFindings, skillFileFinding } from './outside.ts'
import type { Ran } from './ran.ts'

export type { CommandFinding, FindingRow } from './finding.ts'
export { wordsOf } from './words.ts'

/** All that can be read from the result of a command, in order of weight. */
export function findingsOf(ran: Ran): readonly CommandFinding[] {
  const started = skillFileFinding(ran) ?? notStartedFinding(ran)
  return [started, networkFinding(ran), ...outsideFindings(ran), homeFinding(ran)].filter(
    (finding) => finding !== undefined,
  )
}
