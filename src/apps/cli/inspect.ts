import type { Catalog } from '../../skills/catalog/index.ts'
import { type Inspection, inspectSkills } from '../../local/index.ts'
import type { Answer, Invocation } from './command.ts'
import { withProgress } from './interactive/progress.ts'
import { agentFlag, findings, places, printDiagnostics } from './open.ts'

/**
 * Finds the skills as the command's flags say, prints to stderr what is wrong with the configuration and the folders, and passes on
 * the share of the agent. Errors in the configuration do not stop it. Ctrl-C ends the process: there is nothing to clean up.
 */
export async function withInspection(
  invocation: Invocation,
  use: (inspection: Inspection, catalog: Catalog) => Answer | Promise<Answer>,
): Promise<Answer> {
  const { terminal } = invocation
  const asked = { ...places(invocation), tolerateConfigErrors: true }
  const inspection = await withProgress(terminal, 'looking for skills', () => inspectSkills(asked))
  printDiagnostics(findings(inspection.diagnostics, inspection.catalog()), terminal)
  return use(inspection, inspection.catalog(agentFlag(invocation)))
}
