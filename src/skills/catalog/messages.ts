import { commandFix, toSafeLine, type Words } from '../../kernel/index.ts'
import type { OverBudget } from './catalog.ts'

interface LowerCopy {
  readonly name: string
  /** Source of the better copy, and its SKILL.md. */
  readonly source: string
  readonly file: string
  /** Source of the copy that is used. */
  readonly used: string
}

/** The words of every diagnostic and error of the catalog. Facts come from outside, so they are made safe to print. */
export const MESSAGES = {
  'lower-copy-used': {
    invalid: ({ name, source, file, used }: LowerCopy): Words => ({
      message: `Nexus uses the copy of '${name}' from source '${used}', because that of source '${source}' is invalid.`,
      ...commandFix('Run:', 'skills', 'validate', toSafeLine(file)),
    }),
    held: ({ name, source, file, used }: LowerCopy, reasons: readonly string[]): Words => ({
      message: `Nexus uses the copy of '${name}' from source '${used}', because that of source '${source}' is held: ${toSafeLine(reasons.join('; '))}.`,
      ...commandFix('To use the other copy, fix what it lacks. Run:', 'skills', 'why', toSafeLine(file)),
    }),
  },
  'over-budget': ({ shortened, nameOnly, omitted, budgetChars, neededChars }: OverBudget): Words => {
    const parts = [
      shortened > 0 ? `${shortened} with a shortened description` : '',
      nameOnly > 0 ? `${nameOnly} by name only` : '',
      omitted > 0 ? `${omitted} not at all` : '',
    ]
    const shown = parts.filter((part) => part !== '').join(', ')
    const why =
      neededChars > budgetChars
        ? `All skills need ${neededChars} characters, the budget is ${budgetChars}.`
        : LONG_NAMES
    const fix =
      neededChars > budgetChars
        ? `Set skills.prompt.budgetChars to ${neededChars} in nexus.yaml, or disable skills that you do not need.`
        : 'Give these skills shorter names.'
    return { message: `The prompt shows some skills shortened: ${shown}. ${why}`, fix }
  },
  mention: {
    modelOnly: () => ({ message: 'only the model can start this skill (user-invocable: false).' }),
    held: (reasons: readonly string[], name: string): Words => ({
      message: `this skill is held: ${reasons.join('; ')}.`,
      ...commandFix('Run:', 'skills', 'why', name),
    }),
    invalid: (name: string): Words => ({
      message: 'this skill cannot be read.',
      ...commandFix('Run:', 'skills', 'why', name),
    }),
    tooMany: (most: number, names: string) => ({
      message: `A message can name ${most} skills at most; left out: ${names}.`,
    }),
  },
  'bad-budget': (budgetChars: number): Words => ({
    message: `The prompt budget must be a whole number of characters, not ${budgetChars}.`,
    fix: 'Set skills.prompt.budgetChars or SKILLS_PROMPT_CHAR_BUDGET to a number such as 12000.',
  }),
} as const

const LONG_NAMES = 'Names of more than 128 characters are not shown.'
