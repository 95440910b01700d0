/** The policy of each agent, from the configuration. */
import {
  applyDelta,
  DEFAULT_PRESET,
  grantsLayer,
  type Layer,
  noGrants,
  parsePolicy,
  type PolicyPlace,
  type PolicyRules,
  presetPermissions,
  toolGroupRule,
  unnamedPermissions,
} from '../authorize/index.ts'
import { type AgentConfig, explainConfig, type LoadedConfig, type Origin } from '../config/index.ts'
import type { Diagnostic } from '../kernel/index.ts'
import type { AgentProfile } from '../runtime/index.ts'
import { BUILTIN_TOOLS } from '../tools/index.ts'
import { namesInPermissions } from './permission-names.ts'

/** The policies of the agents, and their faults: names that mean nothing, groups that contain each other. */
export async function readPolicies(
  loaded: LoadedConfig,
): Promise<{ policies: readonly AgentPolicy[]; diagnostics: readonly Diagnostic[] }> {
  const { agents, tools, skills } = loaded.config
  const known = { groups: tools.groups, knownTools: BUILTIN_TOOLS, hasOtherTools: skills.custom.length > 0 }
  const parse = (originOf?: OriginOf): AgentPolicy[] =>
    agents.map((agent, index) => {
      const locate = (keys: readonly (string | number)[]): PolicyPlace | undefined =>
        placeOf(originOf?.(keys[0] === 'groups' ? ['tools', ...keys] : ['agents', index, 'tools', ...keys]))
      const parsed = parsePolicy({ ...agent.tools, ...known, locate })
      const allowsToolGroup = toolGroupRule(parsed.rules)
      const layers = permissionLayers(agent, loaded)
      return { agent, ...parsed, layers, allowsToolGroup }
    })
  const policies = parse()
  const findingsOf = (parsed: readonly AgentPolicy[], originOf?: OriginOf): readonly Diagnostic[] => [
    ...parsed.flatMap(({ diagnostics }) => diagnostics),
    ...namesInPermissions(loaded.config, known, (keys) => placeOf(originOf?.(keys))),
  ]
  if (findingsOf(policies).length === 0) return { policies, diagnostics: [] }
  // Places cost a reading of the schema, so they are looked for only when there is something to say.
  const { originOf } = await explainConfig(loaded)
  const found = findingsOf(parse(originOf), originOf)
  // A finding that all agents share is reported once.
  return { policies, diagnostics: [...new Map(found.map((each) => [JSON.stringify(each), each])).values()] }
}

/** Profiles for the runtime; `trust` takes part in every decision, also in those of a shadow. */
export function profilesOf(
  policies: readonly AgentPolicy[],
  { trust, scope }: { readonly trust: Layer; readonly scope: string },
): AgentProfile[] {
  const rulesOf = ({ rules, layers }: AgentPolicy): Pick<AgentProfile, 'policy' | 'layers'> => {
    return { policy: rules, layers: [trust, ...layers] }
  }
  return policies.map((policy) => {
    const { id, skills, shadow: name } = policy.agent
    // A name that refers to nothing, or to the agent itself, is an error of the configuration.
    const shadow = policies.find(({ agent }) => agent.id === name && name !== id)
    return {
      id,
      ...rulesOf(policy),
      skills,
      shadow: shadow && { agent: shadow.agent.id, ...rulesOf(shadow), scope },
    }
  })
}

type OriginOf = Awaited<ReturnType<typeof explainConfig>>['originOf']

/** The layer of what an agent is granted: `trusted` in the workspace where nothing is configured. */
function permissionLayers(
  { id, preset, permissions }: AgentConfig,
  { config, workspace }: LoadedConfig,
): readonly Layer[] {
  const { presets, destructiveTools } = config.permissions
  // Paths of its own apply to commands too, which nothing keeps there without a sandbox.
  if (preset === undefined && permissions?.allowedPaths === undefined) {
    const isConfined = config.execution.sandbox !== 'none'
    const unnamed = unnamedPermissions(workspace.directory, { isConfined })
    const granted = applyDelta(unnamed, permissions ?? {})
    return [grantsLayer(granted, { destructiveTools, asksOverMcp: permissions !== undefined })]
  }
  const base = presetPermissions(preset ?? DEFAULT_PRESET, { presets, workspace: workspace.directory })
  // An unknown preset is an error of the configuration. Where that is tolerated, nothing is granted.
  if ('problem' in base) return [noGrants(id, base.name)]
  return [grantsLayer(applyDelta(base, permissions ?? {}), { destructiveTools })]
}

/** In a list of several files, or of which something was left out, an item has another number than in its file. */
function placeOf(origin: Origin | undefined): PolicyPlace | undefined {
  if (origin === undefined) return undefined
  const { keys, ...place } = origin
  const index = keys?.at(-1)
  return { ...place, ...(typeof index === 'number' && { index }) }
}

export interface AgentPolicy {
  readonly agent: AgentConfig
  readonly rules: PolicyRules
  readonly layers: readonly Layer[]
  /** Which groups of tools its skills may need; absent when all. */
  readonly allowsToolGroup?: (group: string) => boolean
  readonly diagnostics: readonly Diagnostic[]
}
