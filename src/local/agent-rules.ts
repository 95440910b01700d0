/** The rules of a configured agent as data: what it may do, and what it and its descendants may ever do. */
import {
  type AgentRules,
  applyDelta,
  type Ceiling,
  ceilingLayers,
  DEFAULT_PRESET,
  grantsLayer,
  type Layer,
  noGrants,
  type Permissions,
  type PolicyRules,
  presetPermissions,
  unnamedPermissions,
} from '../authorize/index.ts'
import type { AgentConfig, LoadedConfig } from '../config/index.ts'

export interface ConfiguredRules {
  /** Beside its policy in every decision about its calls. */
  readonly layers: readonly Layer[]
  /** Also in every decision about the calls of its descendants. */
  readonly inherited: readonly Layer[]
  /** Absent for a preset that does not exist: the agent and its descendants may call nothing. */
  readonly rules?: AgentRules
}

/** `ceilingPolicy`: the tools of `ceiling`, where it has some. Source: decisions, "ceiling". */
export function rulesOfAgent(
  agent: AgentConfig,
  loaded: LoadedConfig,
  {
    policy,
    ceilingPolicy = policy,
  }: { readonly policy: PolicyRules; readonly ceilingPolicy?: PolicyRules | undefined },
): ConfiguredRules {
  const { id, ceiling } = agent
  const { destructiveTools } = loaded.config.permissions
  const permissions = permissionsOf(agent, loaded)
  const isOwn = ceiling?.preset !== undefined || ceiling?.permissions !== undefined
  const widest = isOwn ? permissionsOf({ preset: agent.preset, ...ceiling }, loaded) : permissions
  // An unknown preset is an error of the configuration. Where that is tolerated, nothing is granted.
  const unknown = [permissions, widest].find((each): each is Unknown => 'problem' in each)
  if (unknown) return { layers: [noGrants(id, unknown.name)], inherited: [noGrants(id, unknown.name)] }
  const own: Ceiling = { of: id, policy: ceilingPolicy, permissions: widest as Permissions }
  const granted = permissions as Permissions
  const isUnnamed = isUnwritten(agent)
  // The ceiling of an agent that names none is made of the layers that it has anyway.
  const ceilings = ceilingLayers([own])
  const grants = grantsLayer(granted, { destructiveTools, asksOverMcp: !isUnnamed || agent.permissions !== undefined })
  return {
    layers: [grants, ...(ceiling ? ceilings : [])],
    inherited: ceilings,
    rules: { policy, permissions: granted, destructiveTools, ceilings: [own] },
  }
}

type Unknown = Extract<ReturnType<typeof presetPermissions>, { problem: unknown }>
type Written = Pick<AgentConfig, 'preset' | 'permissions'>

/** Paths of its own apply to commands too, which nothing keeps there without a sandbox. */
function isUnwritten({ preset, permissions }: Written): boolean {
  return preset === undefined && permissions?.allowedPaths === undefined
}

/** `trusted` in the workspace where nothing is configured. */
function permissionsOf(written: Written, { config, workspace }: LoadedConfig): Permissions | Unknown {
  const { preset, permissions = {} } = written
  if (isUnwritten(written)) {
    const isConfined = config.execution.sandbox !== 'none'
    return applyDelta(unnamedPermissions(workspace.directory, { isConfined }), permissions)
  }
  const { presets } = config.permissions
  const base = presetPermissions(preset ?? DEFAULT_PRESET, { presets, workspace: workspace.directory })
  return 'problem' in base ? base : applyDelta(base, permissions)
}
