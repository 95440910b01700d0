import type { Decision, Ruling, PermissionDelta, PresetInput, ToolPermission } from '../kernel/index.ts'
import { decide, type DecideInput, layersOf, rulingOf } from './decide.ts'
import { deniedCapabilities, matchPolicy, type PolicyMatch } from './policy.ts'
import { type Groups, toolCovered } from './groups.ts'
import type { NamedPreset } from './permissions.ts'

/** The answer of one layer; `silent` when the call is none of its business. */
export interface ExplainStep {
  readonly layer: string
  readonly says: Decision['type'] | 'silent'
  /** The line that spoke; empty when silent. */
  readonly rule: string
  readonly text: string
}

/** Why a call is decided as it is: every layer in order, every line of policy that covers the tool, and the result. */
export interface Explanation {
  readonly decision: Decision
  readonly steps: readonly ExplainStep[]
  /** Every line that covers the tool, the one that spoke first. */
  readonly matches: readonly PolicyMatch[]
  /** Capabilities taken away, such as `network`. */
  readonly deniedCapabilities: readonly string[]
}

/** Explains a decision; `decision` is exactly what `decide` gives. */
export function explain(input: DecideInput): Explanation {
  return {
    decision: decide(input),
    steps: layersOf(input).map((layer) => toStep(layer.name, rulingOf(layer, input))),
    matches: input.tool ? matchPolicy(input.policy, input.tool.name) : [],
    deniedCapabilities: input.tool ? deniedCapabilities(input.policy, input.tool) : [],
  }
}

/** The explanation as lines for a terminal, the decision last. */
export function explanationLines({
  steps,
  matches,
  decision,
  deniedCapabilities: taken,
}: Explanation): readonly string[] {
  const spoken = steps.filter(({ says }) => says !== 'silent').map(({ layer, text }) => `${layer}: ${text}`)
  const lines = matches.map(({ list, path }) => `line: ${list} ${path.join(' > ')}`)
  const narrowed = taken.length > 0 ? [`without: ${taken.join(', ')}`] : []
  return [...spoken, ...lines, ...narrowed, `decision: ${decision.type} (${decision.rule})`]
}

function toStep(layer: string, ruling: Ruling | undefined): ExplainStep {
  if (!ruling) return { layer, says: 'silent', rule: '', text: 'nothing to say' }
  const { type, rule, reason } = ruling
  const why = reason === undefined ? '' : `: ${reason}`
  return { layer, says: type, rule, text: `${type} by ${rule}${why}` }
}

/** A setting that has a part in what permissions say of a tool. */
export interface PermissionLine {
  /** The preset that contains it; absent for the `permissions` of the agent and for what all agents share. */
  readonly preset?: string
  /** The setting below that, such as `disableTools`. */
  readonly name: string
  /** From the top of the settings, such as `['permissions', 'presets', 'site', 'disableTools', 0]`. */
  readonly keys: readonly (string | number)[]
  /** Its value, or the entry of the list that covers the tool; null is every path. */
  readonly value: string | number | boolean | null | readonly string[] | ToolPermission
}

/** The parts that an agent's permissions are made from. */
export interface PermissionSettings {
  /** Keys of the agent, such as `['agents', 0]`. */
  readonly agent: readonly (string | number)[]
  readonly delta?: PermissionDelta | undefined
  readonly chain: readonly NamedPreset[]
  readonly destructiveTools: readonly string[]
}

type Written = PresetInput & PermissionDelta

/** Settings that cover every tool. */
const WHOLE = ['allowedPaths', 'blockedPaths', 'addBlockedPaths', 'network', 'defaultToolTimeoutMs', 'extends'] as const

/** The settings that cover a tool, the stronger first: those of the agent, then of its preset, then of what that extends. */
export function permissionLines(
  tool: string,
  groups: Groups,
  { agent, delta = {}, chain, destructiveTools }: PermissionSettings,
): readonly PermissionLine[] {
  const covers = (entry: string): boolean => toolCovered(entry, tool, groups)
  const below = (line: PermissionLine, above: readonly (string | number)[]): PermissionLine => {
    return { ...line, keys: [...above, ...line.keys] }
  }
  return [
    ...linesIn(delta, covers).map((line) => below(line, [...agent, 'permissions'])),
    ...chain.flatMap(({ name: preset, input }) =>
      linesIn(input, covers).map((line) => ({ preset, ...below(line, ['permissions', 'presets', preset]) })),
    ),
    ...entriesOf('destructiveTools', destructiveTools, covers).map((line) => below(line, ['permissions'])),
  ]
}

/** Single tools are stronger than lists, what enables is stronger than what disables, and later lines than earlier ones. */
function linesIn(written: Written, covers: (entry: string) => boolean): PermissionLine[] {
  const lists = (['disableTools', 'enableTools'] as const).flatMap((key) => entriesOf(key, written[key], covers))
  const single = (['toolOverrides', 'tools'] as const).flatMap((key) =>
    Object.entries(written[key] ?? {})
      .filter(([entry]) => covers(entry))
      .map(([entry, value]) => ({ name: `${key}.${entry}`, keys: [key, entry], value })),
  )
  const whole = WHOLE.flatMap((key) => {
    const value = written[key]
    return value === undefined ? [] : [{ name: key, keys: [key], value }]
  })
  return [...[...lists, ...single].toReversed(), ...whole]
}

function entriesOf(
  name: string,
  entries: readonly string[] = [],
  covers: (entry: string) => boolean,
): PermissionLine[] {
  return entries.flatMap((value, index) => (covers(value) ? [{ name, keys: [name, index], value }] : []))
}
