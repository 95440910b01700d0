import { budgetDiagnostics, inspectIndex } from '../../../../local/index.ts'
import type { Invocation } from '../../command.ts'
import { envelope } from '../../envelope.ts'
import { withInspection } from '../../inspect.ts'
import { agentFlag, printDiagnostics } from '../../open.ts'
import {
  besideSkills,
  formatReady,
  listData,
  printHint,
  printOthers,
  printTrustHint,
  printWarned,
} from '../../show/skills.ts'
import { printSkillsAbove, printUnread } from '../../show/other-clients.ts'

/** `nexus skills list` */
export async function listSkills(invocation: Invocation): Promise<number> {
  return withInspection(invocation, async (inspection, catalog) => {
    const index = await inspectIndex(inspection.loaded, catalog, agentFlag(invocation))
    const inBudget = budgetDiagnostics(inspection.loaded, index)
    const { terminal } = invocation
    const all = invocation.flags['all'] === true
    if (invocation.flags['json'] === true) {
      const diagnostics = [...inspection.diagnostics, ...catalog.diagnostics, ...inBudget]
      terminal.json(envelope('skills list', listData(catalog, all), { diagnostics, exit: 0 }))
      return 0
    }
    terminal.line(formatReady(catalog, terminal))
    if (all) {
      printOthers(catalog, terminal)
      printDiagnostics(besideSkills(catalog), terminal)
      printWarned(catalog.skills, invocation)
    } else printHint(catalog, invocation)
    printTrustHint(inspection, terminal)
    printSkillsAbove(inspection, invocation)
    printUnread(inspection, invocation)
    printDiagnostics(inBudget, terminal)
    return 0
  })
}
