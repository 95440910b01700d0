/** findings: why a command ended as it did, read from its result. The table is in `patterns.ts`. */
import { type CommandFinding, type CommandRun, innerCommand } from './command-run.ts'
import { homeFinding, missingFileFinding, outsideFindings } from './paths.ts'
import { limitFinding, networkFinding, notInstalledFinding, notStarted } from './patterns.ts'

export { type CommandFinding, type CommandRun, hasFailed, linesOf, type SkillDirectory } from './command-run.ts'

/** All that can be read from the result of a command, in order of weight. */
export function findingsOf(given: CommandRun): readonly CommandFinding[] {
  const run = { ...given, command: innerCommand(given.command) }
  const notInstalled = notInstalledFinding(run)
  const first = notStarted(run) ?? (notInstalled ? undefined : missingFileFinding(run))
  // The refused path belongs to that fault: a second note would give a wrong fix.
  const outside = notInstalled || first?.code === 'not-executable' ? [] : outsideFindings(run)
  const found = [first, notInstalled ?? networkFinding(run), limitFinding(run), ...outside, homeFinding(run)]
  return found.filter((finding) => finding !== undefined)
}
