/** The first half of the pipeline: discover -> gate -> catalog. Discovery is done once, each catalog when an agent first needs it. */
import { buildCatalog, type Catalog } from '../skills/catalog/index.ts'
import { gate, type GateRules, NO_GATE_RULES } from '../skills/gate/index.ts'
import type { TargetFacts } from '../kernel/index.ts'
import { discover, type SkillSource, type SourceResult } from '../skills/sources/index.ts'

export interface SkillParts {
  readonly sources: readonly SkillSource[]
  readonly facts: TargetFacts
  /** Rules that configuration adds to gating, without those of an agent. */
  readonly gateRules?: Omit<GateRules, 'allowList'>
}

/** Rules of an agent that decide which skills it is offered. */
export interface CatalogRules {
  /** Names of the skills that it may see; absent = all. */
  readonly skills?: readonly string[]
  /** False for a group of which its policy lets it call nothing; absent = nothing is kept from it. */
  readonly allowsToolGroup?: (group: string) => boolean
}

/** The result of one discovery, and the catalogs over it. Immutable: a refresh makes another one. */
export interface FoundSkills {
  readonly result: SourceResult
  /** The catalog for these rules. Rules with the same key are the same rules: they share one catalog, made at the first call. */
  catalogFor(key: string, rules: () => CatalogRules): Catalog
}

/** Discovers once. A bad skill is a diagnostic, never a throw. Throws CANCELLED when the signal aborts. */
export async function findSkills(parts: SkillParts, signal?: AbortSignal): Promise<FoundSkills> {
  const { sources, facts, gateRules = NO_GATE_RULES } = parts
  const result = await discover(sources, { signal })
  const { skills, invalid, diagnostics, treeDigests } = result
  const catalogs = new Map<string, Catalog>()
  return {
    result,
    catalogFor(key, rules) {
      const known = catalogs.get(key)
      if (known) return known
      const gated = gate(skills, facts, { ...withRules(gateRules, rules()), invalid })
      const catalog = buildCatalog({ gated, invalid, diagnostics, treeDigests })
      catalogs.set(key, catalog)
      return catalog
    },
  }
}

function withRules(common: Omit<GateRules, 'allowList'>, { skills, allowsToolGroup }: CatalogRules): GateRules {
  const before = common.allowsToolGroup
  const both = allowsToolGroup && before && ((group: string) => before(group) && allowsToolGroup(group))
  const groups = both ?? allowsToolGroup ?? before
  return { ...common, allowList: skills, allowsToolGroup: groups }
}
