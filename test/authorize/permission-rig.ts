import assert from 'node:assert/strict'
import {
  type Ceiling,
  ceilingLayers,
  decide,
  grantsLayer,
  type Permissions,
  type PolicyRules,
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

interface AgentParts {
  readonly ceilings?: readonly Ceiling[]
  readonly options?: ToolOptions
  readonly policy?: PolicyRules
}

/** The decision about one tool for an agent with these permissions, policy and ceilings. */
export function decideFor(
  permissions: Permissions,
  name: string,
  { ceilings = [], options = {}, policy = rulesOf() }: AgentParts = {},
): Decision {
  return decide({
    call: { tool: name, arguments: {}, agentId: 'main', origin: 'model' },
    tool: toolNamed(name, options),
    policy,
    layers: [grantsLayer(permissions), ...ceilingLayers(ceilings)],
  })
}

export function ceilingOf(permissions: Permissions, policy = rulesOf()): Ceiling {
  return { of: 'parent', permissions, policy }
}
