/** The first half of the pipeline: discover -> gate -> catalog, for every agent. The runtime and commands that only look share it. */
import { buildCatalog, type Catalog } from '../catalog/index.ts'
import { gate, type GateRules, NO_GATE_RULES } from '../gate/index.ts'
import type { TargetFacts } from '../kernel/index.ts'
import { discover, type SkillSource, type SourceResult, yieldToEventLoop } from '../sources/index.ts'

export interface CatalogsParts {
  readonly sources: readonly SkillSource[]
  readonly facts: TargetFacts
  readonly agents: readonly CatalogAgent[]
  /** Rules that configuration adds to gating, without those of an agent. */
  readonly gateRules?: Omit<GateRules, 'allowList'>
}

/** What of an agent decides which skills it is offered. */
export interface CatalogAgent {
  readonly id: string
  /** Names of the skills that it may see; absent = all. */
  readonly skills?: readonly string[]
  /** False for a group of which its policy lets it call nothing; absent = nothing is kept from it. */
  readonly allowsToolGroup?: (group: string) => boolean
}

/** What was found, and each agent's share of it by the agent's id. */
export interface BuiltCatalogs {
  readonly found: SourceResult
  readonly catalogs: ReadonlyMap<string, Catalog>
}

/** Discovers once, and gates and catalogs for each agent. A bad skill is a diagnostic, never a throw. Throws CANCELLED when the signal aborts. */
export async function buildCatalogs(parts: CatalogsParts, signal?: AbortSignal): Promise<BuiltCatalogs> {
  const { sources, facts, agents, gateRules = NO_GATE_RULES } = parts
  const found = await discover(sources, signal ? { signal } : {})
  const catalogs = new Map<string, Catalog>()
  for (const agent of agents) {
    await yieldToEventLoop(signal)
    const rules = rulesFor(agent, gateRules)
    const { rejected, diagnostics, treeDigests } = found
    const gated = gate(found.skills, facts, { ...rules, rejected })
    catalogs.set(agent.id, buildCatalog({ gated, rejected, diagnostics, ...(treeDigests && { treeDigests }) }))
  }
  return { found, catalogs }
}

function rulesFor({ skills, allowsToolGroup }: CatalogAgent, common: Omit<GateRules, 'allowList'>): GateRules {
  const before = common.allowsToolGroup
  const both = allowsToolGroup && before && ((group: string) => before(group) && allowsToolGroup(group))
  const groups = both ?? allowsToolGroup ?? before
  if (!skills && !groups) return common
  return { ...common, ...(skills && { allowList: skills }), ...(groups && { allowsToolGroup: groups }) }
}
