/** inspect: finds and gates the skills of this machine without the means to run them, for `nexus skills list` and the like. */
import type { Catalog } from '../skills/catalog/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import { type Diagnostic, type Gated, NexusError, type Skill, type TargetFacts } from '../kernel/index.ts'
import { gate } from '../skills/gate/index.ts'
import { openSandbox } from '../machine/sandbox/index.ts'
import { readSettings, sandboxOptions, type Settings, type SettingsOptions, waitsForTrust } from './settings.ts'
import type { SkillSource } from '../skills/sources/index.ts'
import { type CatalogRules, findSkills } from '../runtime/index.ts'

/** The skills of this machine, and what was found on the way. */
export interface Inspection {
  readonly loaded: LoadedConfig
  readonly workspace: LoadedConfig['workspace']
  /** Like in an open runtime: until the workspace is trusted, no command runs in it. */
  readonly waitsForTrust: boolean
  /** Where skills were searched for, in order of precedence. */
  readonly sources: readonly SkillSource[]
  readonly facts: TargetFacts
  /** Findings about configuration and policy. */
  readonly diagnostics: readonly Diagnostic[]
  /** Findings about sources. */
  readonly found: readonly Diagnostic[]
  /** The share of one agent, default the first. Throws INVALID_ARGUMENT for an unknown agent. */
  catalog(agentId?: string): Catalog
  /** Gates skills that are not here yet, as if they were. */
  gate(skills: readonly Skill[]): Gated
}

export interface InspectOptions extends SettingsOptions {
  readonly signal?: AbortSignal
}

/** Reads the configuration, then finds and gates once. Throws as `readSettings` does, and CANCELLED when the signal aborts. */
export async function inspectSkills(options: InspectOptions = {}): Promise<Inspection> {
  const settings = await readSettings(options)
  const { loaded, sources, gateRules } = settings
  const { agents, diagnostics: inRules } = await rulesOf(settings)
  const sandbox = openSandbox(sandboxOptions(loaded))
  const facts = await sandbox.facts()
  const found = await findSkills({ sources, gateRules, facts }, options.signal)
  const catalogOf = (agentId?: string): Catalog => {
    const agent = agentOf(agents, agentId)
    return found.catalogFor(agent.id, () => agent)
  }
  return {
    loaded,
    workspace: loaded.workspace,
    waitsForTrust: waitsForTrust(loaded, catalogOf()),
    sources,
    facts,
    diagnostics: [...loaded.diagnostics, ...(sandbox.diagnostics ?? []), ...inRules],
    found: found.result.diagnostics,
    catalog: catalogOf,
    gate: (skills) => gate(skills, facts, gateRules),
  }
}

/** The rules for which skills each agent is offered, and findings in the rules of agents and entries. */
interface Rules {
  readonly agents: readonly CatalogAgent[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Without files no rule is other than it is shipped: nothing is kept from an agent, and what knows the rules is not loaded. */
async function rulesOf({ loaded }: Settings): Promise<Rules> {
  const { agents } = loaded.config
  if (loaded.files.length === 0) return { agents: agents.map(({ id, skills }) => ({ id, skills })), diagnostics: [] }
  const { readPolicies } = await import('./policies.ts')
  const { readEntries } = await import('./entries.ts')
  const { policies, diagnostics } = await readPolicies(loaded)
  return {
    agents: policies.map(({ agent: { id, skills }, allowsToolGroup }) => ({ id, skills, allowsToolGroup })),
    diagnostics: [...diagnostics, ...(await readEntries(loaded))],
  }
}

interface CatalogAgent extends CatalogRules {
  readonly id: string
}

function agentOf(agents: readonly CatalogAgent[], agentId: string | undefined): CatalogAgent {
  const agent = agentId === undefined ? agents[0] : agents.find(({ id }) => id === agentId)
  if (agent) return agent
  throw new NexusError('INVALID_ARGUMENT', `The configuration defines no agent '${agentId}'.`, {
    fix: `Known agents: ${agents.map(({ id }) => id).join(', ')}. Add it under agents: in nexus.yaml.`,
  })
}
