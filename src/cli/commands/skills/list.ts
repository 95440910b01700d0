import { budgetDiagnostics, inspectIndex } from '../../../local/index.ts'
import type { Invocation } from '../../command.ts'
import { envelope } from '../../envelope.ts'
import { withLook } from '../../look.ts'
import { agentFlag, printDiagnostics } from '../../open.ts'
import { formatReady, listData, printHint, printOthers } from '../../show/skills.ts'

/** `nexus skills list` */
export async function listSkills(invocation: Invocation): Promise<number> {
  return withLook(invocation, async (look, catalog) => {
    const index = await inspectIndex(look.loaded, catalog, agentFlag(invocation))
    const inBudget = budgetDiagnostics(look.loaded, index)
    const { terminal } = invocation
    const all = invocation.flags['all'] === true
    if (invocation.flags['json'] === true) {
      const diagnostics = [...look.diagnostics, ...catalog.diagnostics, ...inBudget]
      terminal.json(envelope('skills list', listData(catalog, all), { diagnostics, exit: 0 }))
      return 0
    }
    terminal.line(formatReady(catalog, terminal))
    if (all) printOthers(catalog, terminal)
    else printHint(catalog, terminal)
    printDiagnostics(inBudget, terminal)
    return 0
  })
}
