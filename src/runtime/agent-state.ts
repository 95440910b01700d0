/** What one agent has: its catalog, its tools and services, its policy, and what its model is told. */
import { deniedCapabilities } from '../authorize/index.ts'
import { type Catalog, createSkillSearch } from '../catalog/index.ts'
import { type TargetFacts } from '../kernel/index.ts'
import { createLoader, type SkillStacks } from '../load/index.ts'
import {
  createRegistry,
  createServices,
  EXECUTION,
  LOADER,
  provideCommands,
  registerBuiltins,
  type Registry,
  SKILL_SEARCH,
  WORKSPACE,
} from '../tools/index.ts'
import { authorize } from './approval.ts'
import { createModelContext, type ModelContext } from './model-context.ts'
import type { AgentProfile, Parts } from './types.ts'

/** Made anew by every refresh. */
export interface AgentState {
  readonly profile: AgentProfile
  readonly catalog: Catalog
  readonly registry: Registry
  readonly modelContext: ModelContext
}

/** What all agents of a runtime share. */
export interface SharedState {
  readonly stacks: SkillStacks
  readonly facts: TargetFacts
  /** Values to redact: those of the configuration, and those that commands of skills were given. */
  readonly secrets: readonly [readonly string[], string[]]
}

/** The tools and services of one agent over its catalog. */
export function createAgentState(
  parts: Parts,
  { profile, catalog, stacks, facts, secrets }: Pick<AgentState, 'profile' | 'catalog'> & SharedState,
): AgentState {
  const { sandbox, workspace, execution } = parts
  const services = createServices()
  services.register(
    LOADER,
    createLoader({ catalog: () => catalog, stacks, ...(sandbox && { place: sandbox.place.bind(sandbox) }) }),
  )
  services.register(
    SKILL_SEARCH,
    createSkillSearch(catalog.skills, { isFound: ({ invocation }) => invocation.model, callName: catalog.callName }),
  )
  if (sandbox) {
    const areSecretsDenied = !maySeeSecrets(profile)
    const entries = areSecretsDenied ? undefined : parts.skillEntries
    provideCommands(services, {
      sandbox,
      catalog,
      stacks,
      facts,
      secrets,
      areSecretsDenied,
      ...(entries && { entries }),
    })
  }
  if (workspace !== undefined) services.register(WORKSPACE, workspace)
  if (execution) services.register(EXECUTION, execution)
  const registry = createRegistry(services)
  registerBuiltins(registry)
  parts.registerTools?.(registry, profile.id)
  const mayCall = (tool: string): boolean =>
    authorize({ registry, profile }, { tool, arguments: {}, agentId: profile.id, origin: 'model' }, undefined).type !==
    'deny'
  return { profile, catalog, registry, modelContext: createModelContext({ catalog, registry, mayCall }, parts) }
}

/** Policy may take the variables of skills away from an agent's commands: `run_command.secrets`. */
function maySeeSecrets({ policy }: AgentProfile): boolean {
  return deniedCapabilities(policy, { name: 'run_command', options: { capabilities: ['secrets'] } }).length === 0
}
