/** What happened to a command, explained: from its result to findings, and from findings to notes. */
import type { CommandFinding } from './finding.ts'
import { installFinding, limitFinding } from './limits.ts'
import { networkFinding } from './network.ts'
import { notStartedFinding } from './not-started.ts'
import { missingFileFinding } from './missing-file.ts'
import { homeFinding, outsideFindings } from './outside.ts'
import { innerCommand, type Ran } from './ran.ts'

export type { CommandFinding, FindingRow } from './finding.ts'
export { fixOf, noteOf } from './messages.ts'
export { namesOfUnset } from './variables.ts'

/** All that can be read from the result of a command, in order of weight. */
export function findingsOf(given: Ran): readonly CommandFinding[] {
  const ran = { ...given, command: innerCommand(given.command) }
  const notInstalled = installFinding(ran)
  const notStarted = notStartedFinding(ran) ?? (notInstalled ? undefined : missingFileFinding(ran))
  const first = notInstalled ?? networkFinding(ran)
  // The refused path belongs to that fault: a second note would give a wrong fix.
  const isTold = notInstalled !== undefined || notStarted?.code === 'not-executable'
  const outside = isTold ? [] : outsideFindings(ran)
  return [notStarted, first, limitFinding(ran), ...outside, homeFinding(ran)].filter((finding) => finding !== undefined)
}
