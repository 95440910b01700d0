/** policy-lines: the lines of the settings that a decision comes from, with their files. */
import {
  DEFAULT_PRESET,
  type Explanation,
  type PermissionLine,
  permissionLines,
  presetChain,
} from '../../../authorize/index.ts'
import { explainConfig, type LoadedConfig } from '../../../config/index.ts'

/** A line of the settings in short, and where it is written; `place` is empty for a default. */
export interface RuleLine {
  readonly rule: string
  readonly place: string
}

/** Every line of policy and of permissions that covers the tool, with file and line; of each kind the stronger first. */
export async function linesOf(
  loaded: LoadedConfig,
  { agent, tool }: { readonly agent: string; readonly tool: string },
  { matches, steps }: Pick<Explanation, 'matches' | 'steps'>,
): Promise<RuleLine[]> {
  const { agents } = loaded.config
  const index = agents.findIndex(({ id }) => id === agent)
  const { originOf } = await explainConfig(loaded)
  const placeOf = (keys: readonly (string | number)[]): string => {
    const origin = originOf(keys)
    return origin === undefined ? '' : `${origin.path}${origin.line === undefined ? '' : `:${origin.line}`}`
  }
  const tools = agents[index]?.tools
  const policy = matches.map(({ list, entry, path }) => {
    const at = list === 'profile' ? -1 : (tools?.[list] ?? []).findIndex((item) => item.trim() === entry)
    const keys = ['agents', index, 'tools', list, ...(at < 0 ? [] : [at])]
    return { rule: `${list}: ${path.join(' > ')}`, place: placeOf(keys) }
  })
  if (!steps.some(({ layer, says }) => layer === 'grants' && says !== 'silent')) return policy
  const preset = agents[index]?.preset
  const own = placeOf(['agents', index, 'preset'])
  return [
    ...policy,
    { rule: `preset: ${preset ?? DEFAULT_PRESET}`, place: own || placeOf(['permissions', 'defaultPreset']) },
    ...(await settingsOf(loaded, index, tool)).map(({ preset: from, name, value, keys }) => {
      const rule = `${from === undefined ? 'permissions' : `preset ${from}`}, ${name}: ${valueText(value)}`
      return { rule, place: placeOf(keys) }
    }),
  ]
}

async function settingsOf(loaded: LoadedConfig, index: number, tool: string): Promise<readonly PermissionLine[]> {
  const { config, workspace } = loaded
  const { readPolicies } = await import('../../../local/index.ts')
  const { preset = DEFAULT_PRESET, permissions: delta } = config.agents[index] ?? {}
  const { presets, destructiveTools } = config.permissions
  const found = presetChain(preset, { presets, workspace: workspace.directory })
  const chain = 'problem' in found ? [] : found.chain
  const groups = (await readPolicies(loaded)).policies[index]?.policy.groups ?? new Map()
  return permissionLines(tool, groups, { agent: ['agents', index], delta, chain, destructiveTools })
}

function valueText(value: PermissionLine['value']): string {
  if (value === null) return 'every path'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([key, member]) => `${key} ${valueText(member as PermissionLine['value'])}`)
    .join(', ')
}
