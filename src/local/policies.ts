/** The policy of each agent, from the configuration. */
import {
  type AgentRules,
  checkToolNames,
  type Layer,
  parsePolicy,
  type PolicyInput,
  type PolicyPlace,
  type PolicyRules,
  toolGroupRule,
} from '../authorize/index.ts'
import {
  type AgentConfig,
  type Config,
  explainConfig,
  type LoadedConfig,
  nameOf,
  type Origin,
} from '../config/index.ts'
import type { Diagnostic } from '../kernel/index.ts'
import type { AgentProfile } from '../runtime/index.ts'
import { BUILTIN_TOOLS } from '../tools/index.ts'
import { rulesOfAgent } from './agent-rules.ts'

/** The policies of the agents, and their faults: names that mean nothing, groups that contain each other. */
export async function readPolicies(
  loaded: LoadedConfig,
): Promise<{ policies: readonly AgentPolicy[]; diagnostics: readonly Diagnostic[] }> {
  const { agents, tools, skills } = loaded.config
  const known = { groups: tools.groups, knownTools: BUILTIN_TOOLS, hasOtherTools: skills.custom.length > 0 }
  const parse = (originOf?: OriginOf): AgentPolicy[] =>
    agents.map((agent, index) => {
      const locate = (keys: readonly (string | number)[]): PolicyPlace | undefined =>
        placeOf(originOf?.(keys[0] === 'groups' ? ['tools', ...keys] : ['agents', index, ...inAgent(keys)]))
      const parsed = parsePolicy({ ...agent.tools, ...known, locate })
      const policy = parsed.rules
      const { tools: most } = agent.ceiling ?? {}
      const ceiling = most && parsePolicy({ ...most, ...known, locate: (keys) => locate(['ceiling', ...keys]) })
      const rules = rulesOfAgent(agent, loaded, { policy, ceilingPolicy: ceiling?.rules })
      const diagnostics = [...parsed.diagnostics, ...(ceiling?.diagnostics ?? [])]
      return { agent, policy, diagnostics, allowsToolGroup: toolGroupRule(policy), ...rules }
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
  const rulesOf = ({ policy, layers }: AgentPolicy): Pick<AgentProfile, 'policy' | 'layers'> => {
    return { policy, layers: [trust, ...layers] }
  }
  return policies.map((policy) => {
    const { id, skills, shadow: name } = policy.agent
    // A name that refers to nothing, or to the agent itself, is an error of the configuration.
    const shadow = policies.find(({ agent }) => agent.id === name && name !== id)
    return {
      id,
      ...rulesOf(policy),
      rules: policy.rules,
      inherited: [trust, ...policy.inherited],
      skills,
      shadow: shadow && { agent: shadow.agent.id, ...rulesOf(shadow), scope },
    }
  })
}

/** Where a line of its tools, or of those of its ceiling, is. */
function inAgent([first, ...rest]: readonly (string | number)[]): readonly (string | number)[] {
  if (first === 'ceiling') return ['ceiling', 'tools', ...rest]
  return first === undefined ? ['tools'] : ['tools', first, ...rest]
}

type OriginOf = Awaited<ReturnType<typeof explainConfig>>['originOf']

/** In a list of several files, or of which something was left out, an item has another number than in its file. */
function placeOf(origin: Origin | undefined): PolicyPlace | undefined {
  if (origin === undefined) return undefined
  const { keys, ...place } = origin
  const index = keys?.at(-1)
  return { ...place, index: typeof index === 'number' ? index : undefined }
}

export interface AgentPolicy {
  readonly agent: AgentConfig
  readonly policy: PolicyRules
  /** Beside its policy in every decision about its calls. */
  readonly layers: readonly Layer[]
  /** Also in every decision about the calls of its descendants. */
  readonly inherited: readonly Layer[]
  /** The same as data; absent for an agent that may call nothing. */
  readonly rules?: AgentRules
  /** Which groups of tools its skills may need; absent when all. */
  readonly allowsToolGroup?: (group: string) => boolean
  readonly diagnostics: readonly Diagnostic[]
}

type Keys = readonly (string | number)[]

/** Names in lists of permissions, and of `mcp.tools`, that mean no tool, so that the lines have no effect. */
function namesInPermissions(
  { agents, permissions, mcp }: Config,
  known: Pick<PolicyInput, 'groups' | 'knownTools' | 'hasOtherTools'>,
  placeAt: (keys: Keys) => PolicyPlace | undefined,
): readonly Diagnostic[] {
  const lists: readonly (readonly [keys: Keys, names: readonly string[] | undefined])[] = [
    ...agents.flatMap(({ permissions: delta }, index) =>
      (['disableTools', 'enableTools'] as const).map(
        (list) => [['agents', index, 'permissions', list], delta?.[list]] as const,
      ),
    ),
    ...Object.entries(permissions.presets).map(
      ([name, preset]) => [['permissions', 'presets', name, 'disableTools'], preset.disableTools] as const,
    ),
    [['permissions', 'destructiveTools'], permissions.destructiveTools],
    [['mcp', 'tools'], mcp.tools],
  ]
  return lists.flatMap(([keys, names = []]) =>
    checkToolNames(names, { ...known, where: whereOf(keys), locate: (item) => placeAt([...keys, ...item]) }),
  )
}

/** The setting below an agent, as in a profile; file and line say which agent it is. */
function whereOf(keys: Keys): string {
  return nameOf(keys[0] === 'agents' ? keys.slice(2) : keys)
}
