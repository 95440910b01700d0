/** The first half of the pipeline: discover -> gate -> catalog, for every agent. The runtime and commands that only look share it. */
import { buildCatalogInSlices, type Catalog } from './catalog/index.ts'
import { gateInSlices, type GateRules, NO_GATE_RULES } from './gate/index.ts'
import type { TargetFacts } from './kernel/index.ts'
import { createPace, discover, rest, type SkillSource, type SourceResult } from './sources/index.ts'

export interface SurveyParts {
  readonly sources: readonly SkillSource[]
  readonly facts: TargetFacts
  /** `skills`: names that the agent may see; absent = all. */
  readonly agents: readonly { readonly id: string; readonly skills?: readonly string[] }[]
  /** Rules that configuration adds to gating, without an agent's allow-list. */
  readonly gateRules?: Omit<GateRules, 'allowList'>
  /** Longest stretch of synchronous work; default what a server can bear. */
  readonly sliceMs?: number
  /** What the sources hold, when they were searched already. */
  readonly found?: SourceResult
}

/** What was found, and each agent's share of it by the agent's id. */
export interface Survey {
  readonly found: SourceResult
  readonly catalogs: ReadonlyMap<string, Catalog>
}

/** Looks at the world once, in slices. A bad skill is a diagnostic, never a throw. Throws CANCELLED when the signal aborts. */
export async function survey(parts: SurveyParts, signal?: AbortSignal): Promise<Survey> {
  const { sources, facts, agents, gateRules = NO_GATE_RULES, sliceMs } = parts
  const found =
    parts.found ?? (await discover(sources, { ...(signal && { signal }), ...(sliceMs !== undefined && { sliceMs }) }))
  const catalogs = new Map<string, Catalog>()
  for (const { id, skills } of agents) {
    await rest(signal)
    const rules = skills ? { ...gateRules, allowList: skills } : gateRules
    const breathe = createPace(signal, sliceMs)
    const { rejected, diagnostics } = found
    const gated = await gateInSlices(found.skills, facts, { rules, rejected, breathe })
    catalogs.set(id, await buildCatalogInSlices({ gated, rejected, diagnostics }, breathe))
  }
  return { found, catalogs }
}
