import assert from 'node:assert/strict'
import {
  type Ceiling,
  ceilingLayers,
  decide,
  grantsLayer,
  type Permissions,
  presetPermissions,
} from '../../src/authorize/index.ts'
import type { Decision, ToolOptions, PresetInput } from '../../src/kernel/index.ts'
import { rulesOf, toolNamed } from './sample.ts'

export const WORKSPACE = '/w'
export const SHIPPED = ['yolo', 'trusted', 'sandboxed', 'worker'] as const

export function preset(name: string, presets: Record<string, PresetInput> = {}): Permissions {
  const found = presetPermissions(name, { presets, workspace: WORKSPACE })
  assert.ok(!('problem' in found), JSON.stringify(found))
  return found
}

/** The decision about one tool for an agent with these permissions and ceilings. */
export function decideFor(
  permissions: Permissions,
  name: string,
  { ceilings = [], options = {} }: { ceilings?: readonly Ceiling[]; options?: ToolOptions } = {},
): Decision {
  return decide({
    call: { tool: name, arguments: {}, agentId: 'main', origin: 'model' },
    tool: toolNamed(name, options),
    policy: rulesOf(),
    layers: [grantsLayer(permissions), ...ceilingLayers(ceilings)],
  })
}

export const ceilingOf = (permissions: Permissions, of = 'parent'): Ceiling => ({ of, permissions, policy: rulesOf() })
