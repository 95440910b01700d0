/** The tools and services of one agent, made once: a refresh changes the catalog that they look into, not them. */
import { type Catalog, createSkillSearch, type SkillSearch } from '../skills/catalog/index.ts'
import { type CallLimits, redactText, type Services } from '../kernel/index.ts'
import { createLoader } from '../skills/load/index.ts'
import {
  AGENT_STATUS,
  CLOCK,
  createRegistry,
  createServices,
  EXECUTION,
  FILES,
  LOADER,
  OUTPUT_KEEPER,
  provideCommands,
  registerBuiltins,
  type Registry,
  REDACT_TEXT,
  SKILL_SEARCH,
  WEB,
  WORKSPACE,
} from '../tools/index.ts'
import type { ProjectState } from './project-state.ts'
import type { Parts } from './types.ts'

/** The agent of a tool, as its tools see it at each call. */
export interface AgentView {
  readonly id: string
  readonly sessionId: string | undefined
  /** The catalog that calls look into. */
  catalog(): Catalog
  /** The decision about a call of that tool, whatever its arguments are. */
  verdict(tool: string): { readonly type: 'allow' | 'ask' | 'deny'; readonly limits: CallLimits }
}

/** Registers the services, the built-in tools, then those of `registerTools`. */
export function createAgentTools(project: ProjectState, agent: AgentView): Registry {
  const { parts, stacks, facts, secrets, kept, clock } = project
  const { sandbox, workspace, skillEntries } = parts
  const { catalog } = agent
  const services = createServices()
  services.register(LOADER, createLoader({ catalog, stacks, place: sandbox?.place.bind(sandbox) }))
  services.register(SKILL_SEARCH, searchOver(catalog))
  if (sandbox) {
    const limits = (): CallLimits => agent.verdict('run_command').limits
    provideCommands(services, { sandbox, catalog, stacks, facts, secrets, limits, entries: skillEntries })
  }
  if (kept) services.register(OUTPUT_KEEPER, kept)
  services.register(REDACT_TEXT, (text, isCut) => redactText(text, isCut, ...secrets))
  services.register(CLOCK, clock)
  provideSettings(services, parts)
  const registry = createRegistry(services)
  services.register(AGENT_STATUS, () => {
    const of = (type: 'allow' | 'ask'): string[] => registry.names.filter((name) => agent.verdict(name).type === type)
    const { skills, held } = catalog()
    return {
      agent: agent.id,
      session: agent.sessionId ?? null,
      tools: [...of('allow'), ...of('ask')],
      asks: of('ask'),
      skills: { ready: skills.length, held: held.length },
      workspace: workspace ?? null,
    }
  })
  registerBuiltins(registry)
  parts.registerTools?.(registry, agent.id)
  return registry
}

function provideSettings(services: Services, { workspace, files, execution, web }: Parts): void {
  if (workspace !== undefined) services.register(WORKSPACE, workspace)
  if (files) services.register(FILES, files)
  if (execution) services.register(EXECUTION, execution)
  if (web) services.register(WEB, web)
}

/** A search over the catalog of the moment; its index is kept as long as the catalog is the same. */
function searchOver(catalog: () => Catalog): SkillSearch {
  let last: { readonly over: Catalog; readonly search: SkillSearch } | undefined
  const now = (): SkillSearch => {
    const over = catalog()
    if (last?.over === over) return last.search
    const { skills, callName } = over
    const search = createSkillSearch(skills, { isFound: ({ invocation }) => invocation.model, callName })
    last = { over, search }
    return search
  }
  return { find: (...args) => now().find(...args), callName: (skill) => now().callName(skill) }
}
