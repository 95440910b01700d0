import type { Diagnostic } from '../../../kernel/index.ts'
import type { PromptIndex } from '../catalog.ts'
import { MESSAGES } from '../messages.ts'

/** A warning when the budget shortens skills or leaves some out. `path` is the file for the setting. */
export function aboutBudget({ overBudget }: Pick<PromptIndex, 'overBudget'>, path: string): Diagnostic | undefined {
  if (!overBudget) return undefined
  const words = MESSAGES['over-budget'](overBudget)
  return { code: 'over-budget', severity: 'warning', subject: 'skills.prompt.budgetChars', path, ...words }
}
