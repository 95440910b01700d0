/** provide-commands: registers what `run_command` needs, for one agent. */
import type { Catalog } from '../../skills/catalog/index.ts'
import type { CallLimits, Services } from '../../kernel/index.ts'
import type { Sandbox } from '../../machine/sandbox/index.ts'
import { SANDBOX, TARGET } from '../services.ts'
import { createSkillCommands, SKILL_COMMANDS, type SkillCommandParts, type SkillCommands } from './skill-commands.ts'

/** What `provideCommands` needs. */
export interface CommandServices extends Omit<SkillCommandParts, 'onSecret' | 'catalog' | 'allowedSecrets'> {
  readonly sandbox: Sandbox
  /** The catalog of the agent at the moment. */
  readonly catalog: () => Catalog
  /** What a command may be given, for the hint that is shown before it is called. */
  readonly limits: () => CallLimits
  /** Known secrets, and the list that grows with those that commands get. */
  readonly secrets: readonly [readonly string[], string[]]
}

/** Registers what `run_command` needs: `SANDBOX`, `TARGET` and `SKILL_COMMANDS`. */
export function provideCommands(
  services: Services,
  { sandbox, secrets, catalog, limits, ...parts }: CommandServices,
): void {
  const [, given] = secrets
  const onSecret = (value: string): void => {
    if (!given.includes(value)) given.push(value)
  }
  services.register(SANDBOX, sandbox)
  services.register(TARGET, parts.facts)
  /** Of the catalog and limits of the call before: nearly always the same. */
  let last:
    | { readonly catalog: Catalog; readonly secrets: CallLimits['secrets']; readonly made: SkillCommands }
    | undefined
  const over = ({ secrets: allowedSecrets }: CallLimits): SkillCommands => {
    const now = catalog()
    if (last?.catalog === now && last.secrets === allowedSecrets) return last.made
    const made = createSkillCommands({ ...parts, catalog: now, allowedSecrets, onSecret })
    last = { catalog: now, secrets: allowedSecrets, made }
    return made
  }
  services.register(SKILL_COMMANDS, {
    variablesOf: (skill) => over(limits()).variablesOf(skill),
    own: (command, context) => over(context.limits ?? {}).own(command, context),
  })
}
