import { budgetDiagnostics, inspectIndex, installedCopies } from '../../../../local/index.ts'
import type { Answer, Invocation } from '../../command.ts'
import { noteSources } from '../../show/installed.ts'
import { agentFlag, printDiagnostics, withInspection } from '../../open.ts'
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
export async function listSkills(invocation: Invocation): Promise<Answer> {
  return withInspection(invocation, async (inspection, catalog) => {
    const { terminal } = invocation
    const index = await inspectIndex(inspection.loaded, catalog, agentFlag(invocation))
    const inBudget = budgetDiagnostics(inspection.loaded, index)
    const all = invocation.flags['all'] === true
    return {
      data: listData(catalog, all, installedCopies(inspection.loaded)),
      diagnostics: [...inspection.diagnostics, ...catalog.diagnostics, ...inBudget],
      exit: 0,
      show: () => {
        terminal.line(formatReady(catalog, terminal))
        if (all) {
          printOthers(catalog, terminal)
          printDiagnostics(besideSkills(catalog), terminal)
          printWarned(catalog.skills, invocation)
        } else printHint(catalog, invocation)
        noteSources(inspection.loaded, invocation)
        printTrustHint(inspection, terminal)
        printSkillsAbove(inspection, invocation)
        printUnread(inspection, invocation)
        printDiagnostics(inBudget, terminal)
      },
    }
  })
}
