/** command-setup: what the setup of a skill made, for the command that runs for it. */
import type { Failed, Services, Skill, ToolContext } from '../../kernel/index.ts'
import type { CommandNetwork } from '../../machine/sandbox/index.ts'
import { COMMANDS, failedBy } from '../messages.ts'
import { SANDBOX } from '../services.ts'

/** The setup that a command's skill has in its entry. */
export interface SkillSetup {
  readonly skill: Skill
  readonly callName: string
  readonly command: string
}

/** Directories of programs for the PATH; the failure says what a setup wrote that did not work. Runs it when its result is not there. */
export async function setupPath(
  services: Services,
  setup: SkillSetup | undefined,
  { network, context }: { readonly network: CommandNetwork | undefined; readonly context: ToolContext },
): Promise<readonly string[] | Failed> {
  const sandbox = services.get(SANDBOX)
  if (!setup || !sandbox?.setUp) return []
  const { skill, callName, command } = setup
  const { signal, limits } = context
  const placed = { ...(await sandbox.place(skill, signal)), source: skill }
  const networkDomains = limits?.networkDomains
  // It gets no variable of the skill, so no placeholder either.
  const hosts = network && { ...network, masks: [] }
  const result = await sandbox.setUp({ skill: placed, command, network: hosts, networkDomains }, signal)
  if (result?.type === 'failed') return failedBy('EXECUTION_ERROR', COMMANDS.setupFailed(callName, result.output))
  return result?.path ?? []
}
