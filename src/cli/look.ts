import type { Catalog } from '../catalog/index.ts'
import { type Look, lookAround } from '../local/index.ts'
import { type Invocation, stringFlag } from './command.ts'
import { withProgress } from './interactive/progress.ts'
import { agentFlag, findings, printDiagnostics, skillsDirs } from './open.ts'

/**
 * Looks at the skills as the command's flags say, prints to stderr what is wrong with the configuration and the places, and
 * hands over the share of the agent. Errors in the configuration do not stop who merely looks. Ctrl-C ends the process: there is
 * nothing to put in order.
 */
export async function withLook(
  invocation: Invocation,
  use: (look: Look, catalog: Catalog) => number | Promise<number>,
): Promise<number> {
  const { terminal, cwd, environment, flags } = invocation
  const configPath = stringFlag(invocation, 'config')
  const look = await withProgress(terminal, 'looking for skills', () =>
    lookAround({
      ...{ cwd, environment },
      skillsDirs: skillsDirs(invocation),
      tolerateConfigErrors: true,
      ...(configPath !== undefined && { configPath }),
      ...(flags['trust'] === true && { trusted: true }),
    }),
  )
  printDiagnostics(findings({ diagnostics: look.diagnostics, found: look.found, catalog: look.catalog() }), terminal)
  return use(look, look.catalog(agentFlag(invocation)))
}
