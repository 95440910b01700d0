/** The prompt index of one agent as a runtime would make it, for commands that only look. */
import { aboutBudget, type Catalog, type PromptIndex } from '../skills/catalog/index.ts'
import { decideByPolicy } from '../authorize/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import type { Diagnostic } from '../kernel/index.ts'
import { createPromptIndex } from '../runtime/index.ts'
import { BUILTIN_TOOLS } from '../tools/index.ts'
import { leftOutBuiltins } from './tool-settings.ts'
import { readPolicies } from './policies.ts'

/** The text about skills that the model of that agent, default the first, would read. */
export async function inspectIndex(loaded: LoadedConfig, catalog: Catalog, agentId?: string): Promise<PromptIndex> {
  const { skills, execution } = loaded.config
  const leftOut = leftOutBuiltins(loaded.config)
  const names = BUILTIN_TOOLS.map(({ name }) => name).filter((name) => !leftOut.includes(name))
  const rules = loaded.files.length === 0 ? undefined : await rulesOf(loaded, agentId)
  return createPromptIndex({
    catalog,
    tools: rules ? names.filter((tool) => decideByPolicy(rules, tool).type !== 'deny') : names,
    surface: skills.surface,
    prompt: skills.prompt,
    isConfined: execution.sandbox !== 'none',
  }).index
}

async function rulesOf(loaded: LoadedConfig, agentId: string | undefined) {
  const { policies } = await readPolicies(loaded)
  return policies.find(({ agent }) => agentId === undefined || agent.id === agentId)?.policy
}

/** A warning, with the file where the setting would be written, when the budget shortens skills or leaves some out. */
export function budgetDiagnostics(loaded: LoadedConfig, index: PromptIndex): readonly Diagnostic[] {
  const found = aboutBudget(index, loaded.files.at(-1) ?? `${loaded.nexusHome}/nexus.yaml`)
  return found ? [found] : []
}
