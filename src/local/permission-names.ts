/** permission-names: names in lists of permissions, and of `mcp.tools`, that mean no tool, so that the lines have no effect. */
import { checkToolNames, type PolicyInput, type PolicyPlace } from '../authorize/index.ts'
import { type Config, nameOf } from '../config/index.ts'
import type { Diagnostic } from '../kernel/index.ts'

type Keys = readonly (string | number)[]

export function namesInPermissions(
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
