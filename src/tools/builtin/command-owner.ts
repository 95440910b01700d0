/** command-owner: whether a command may run for the skill that it names, and which skill's files its text names. */
import type { Catalog } from '../../skills/catalog/index.ts'
import { type Failed, type Skill, type ToolContext } from '../../kernel/index.ts'
import type { LoadedInSession } from '../../skills/load/index.ts'
import { COMMANDS, failedBy } from '../messages.ts'

/** Why the command is not run for the skill that it names. People and programs name outright; a model has to have read the instructions. */
export function ownerProblem(
  skill: Skill,
  about: {
    readonly catalog: Catalog
    readonly loaded: readonly LoadedInSession[]
    readonly named: readonly LoadedInSession[]
    readonly context: ToolContext
  },
): Failed | undefined {
  const { catalog, loaded, named, context } = about
  const address = catalog.addressOf(skill)
  const name = catalog.callName(skill)
  const isTaken = context.origin === 'cli' || context.origin === 'library'
  if (!isTaken && !loaded.some((each) => each.address === address))
    return failedBy('INVALID_PARAM', COMMANDS.notLoaded(name))
  const other = named.find((each) => each.address !== address)
  if (other) return failedBy('INVALID_PARAM', COMMANDS.otherSkill(name, other.name))
  return undefined
}

/** True when the text contains the path of the directory, or of something in it, and not merely of a neighbour. */
export function namesDirectory(text: string, directory: string): boolean {
  for (let at = text.indexOf(directory); at >= 0; at = text.indexOf(directory, at + 1)) {
    const before = text[at - 1] ?? ' '
    const after = text[at + directory.length] ?? ' '
    if (!/[\w./-]/.test(before) && !/[\w.-]/.test(after)) return true
  }
  return false
}
