import type { Catalog } from '../../skills/catalog/index.ts'
import { type Inspection, inspectSkills } from '../../local/index.ts'
import { type Invocation, stringFlag } from './command.ts'
import { withProgress } from './interactive/progress.ts'
import { agentFlag, findings, printDiagnostics, skillsDirs } from './open.ts'

/**
 * Finds the skills as the command's flags say, prints to stderr what is wrong with the configuration and the folders, and passes on
 * the share of the agent. Errors in the configuration do not stop it. Ctrl-C ends the process: there is nothing to clean up.
 */
export async function withInspection(
  invocation: Invocation,
  use: (inspection: Inspection, catalog: Catalog) => number | Promise<number>,
): Promise<number> {
  const { terminal } = invocation
  const inspection = await inspect(invocation)
  const { diagnostics, found } = inspection
  printDiagnostics(findings({ diagnostics, found, catalog: inspection.catalog() }), terminal)
  return use(inspection, inspection.catalog(agentFlag(invocation)))
}

function inspect(invocation: Invocation): Promise<Inspection> {
  const { terminal, cwd, environment, flags } = invocation
  const configPath = stringFlag(invocation, 'config')
  return withProgress(terminal, 'looking for skills', () =>
    inspectSkills({
      ...{ cwd, environment },
      skillsDirs: skillsDirs(invocation),
      tolerateConfigErrors: true,
      ...(configPath !== undefined && { configPath }),
      ...(flags['trust'] === true && { trusted: true }),
    }),
  )
}
