/** permissions: what an agent may do, by preset and what differs from it. Plain data that survives save and restore unchanged. Pure. */
import { toolCovered, type Groups } from './groups.ts'
import type { PermissionDelta, PresetInput, ToolPermission } from '../kernel/index.ts'

/** From narrow to wide. Source: contracts §1.7. */
export const LEVELS = ['sandboxed', 'trusted', 'yolo'] as const
export type Level = (typeof LEVELS)[number]

/** One line about tools; a later one replaces fields of an earlier one that covers the same tool. */
export interface ToolLine {
  /** A name, a group, a server (`mcp:github`) or a pattern. */
  readonly entry: string
  readonly permission: ToolPermission
}

/** Effective permissions of an agent, or the part of its ceiling that is not policy. */
export interface Permissions {
  /** Name of the preset that they began with. */
  readonly preset: string
  readonly level: Level
  /** Absolute directories; null: no limit, []: none. */
  readonly allowedPaths: readonly string[] | null
  /** Weigh more than `allowedPaths`, and belong to the ceiling. */
  readonly blockedPaths: readonly string[]
  /** Whether nothing may be written, wherever it is. */
  readonly isReadOnly: boolean
  /** A list: only hosts that it contains. */
  readonly network: boolean | readonly string[]
  readonly tools: readonly ToolLine[]
  /** For tools without a limit of their own; 0 means none. */
  readonly defaultToolTimeoutMs?: number
}

/** Where presets are looked for, and what "the workspace" is. */
export interface PresetContext {
  readonly presets: Readonly<Record<string, PresetInput>>
  /** Absolute. */
  readonly workspace: string
}

/** Preset of agents that name none. Source: decisions, "no preset given". */
export const DEFAULT_PRESET = 'trusted'

const MAX_EXTENDS = 16

const off = (...entries: readonly string[]): ToolLine[] =>
  entries.map((entry) => ({ entry, permission: { enabled: false } }))

/** The presets that are always there. `nexus_shutdown` is on only where configuration names it. Source: contracts §1.7; decisions. */
function shippedPreset(name: string, workspace: string): Permissions | undefined {
  const common = { preset: name, blockedPaths: [], isReadOnly: false, network: true, defaultToolTimeoutMs: 30_000 }
  switch (name) {
    case 'yolo':
      return { ...common, level: 'yolo', allowedPaths: null, tools: off('nexus_shutdown') }
    case 'trusted':
      return { ...common, level: 'trusted', allowedPaths: [workspace], tools: off('nexus_shutdown') }
    case 'sandboxed': {
      const tools = off('nexus_send', 'nexus_create', 'nexus_destroy', 'nexus_shutdown')
      return { ...common, level: 'sandboxed', allowedPaths: [workspace], network: false, tools }
    }
    case 'worker': {
      const tools = off('write_file', 'edit_file', 'nexus_create', 'nexus_destroy', 'nexus_shutdown')
      return { ...common, level: 'sandboxed', allowedPaths: [workspace], network: false, isReadOnly: true, tools }
    }
    default:
      return undefined
  }
}

/** Tools that name files themselves: their paths are checked without a sandbox. */
const FILE_TOOLS = ['read_file', 'write_file', 'edit_file', 'list_directory'] as const

/**
 * The permissions of an agent for which nothing is written: `trusted`, in the workspace only, with the time limits of the runtime.
 * A sandbox that confines nothing cannot keep commands in a directory, and the user chose it by name: then only file tools are kept there.
 */
export function unnamedPermissions(workspace: string, { isConfined }: { readonly isConfined: boolean }): Permissions {
  const base: Permissions = {
    preset: DEFAULT_PRESET,
    level: 'trusted',
    allowedPaths: [workspace],
    blockedPaths: [],
    isReadOnly: false,
    network: true,
    tools: off('nexus_shutdown'),
  }
  if (isConfined) return base
  const inside = FILE_TOOLS.map((entry): ToolLine => ({ entry, permission: { allowedPaths: [workspace] } }))
  return { ...base, allowedPaths: null, tools: [...base.tools, ...inside] }
}

export type PresetProblem = { readonly problem: 'unknown' | 'cycle'; readonly name: string }

export interface NamedPreset {
  readonly name: string
  readonly input: PresetInput
}

/** A preset and those that it extends, the first one itself, and the permissions of the built-in preset at the end. */
export function presetChain(
  name: string,
  { presets, workspace }: PresetContext,
): { readonly chain: readonly NamedPreset[]; readonly base: Permissions } | PresetProblem {
  const chain: NamedPreset[] = []
  for (let next = name; ;) {
    const base = shippedPreset(next, workspace)
    if (base) return { chain, base }
    const input = Object.hasOwn(presets, next) ? presets[next] : undefined
    if (!input) return { problem: 'unknown', name: next }
    if (chain.length >= MAX_EXTENDS) return { problem: 'cycle', name: next }
    chain.push({ name: next, input })
    next = input.extends ?? DEFAULT_PRESET
  }
}

/** The permissions of a preset by name. Never falls back to another preset: an unknown one is a problem. */
export function presetPermissions(name: string, context: PresetContext): Permissions | PresetProblem {
  const found = presetChain(name, context)
  if ('problem' in found) return found
  return found.chain.reduceRight((base, preset) => extendPreset(base, preset.name, preset.input), found.base)
}

function extendPreset(base: Permissions, preset: string, input: PresetInput): Permissions {
  const { allowedPaths = base.allowedPaths, network = base.network, blockedPaths = [], disableTools = [] } = input
  return {
    ...base,
    preset,
    allowedPaths,
    network,
    blockedPaths: [...base.blockedPaths, ...blockedPaths],
    tools: [...base.tools, ...off(...disableTools), ...linesOf(input.tools)],
    defaultToolTimeoutMs: input.defaultToolTimeoutMs ?? base.defaultToolTimeoutMs,
  }
}

/** Applies a delta in the order disable, enable, single tools. */
export function applyDelta(base: Permissions, delta: PermissionDelta): Permissions {
  const { allowedPaths = base.allowedPaths, network = base.network, addBlockedPaths = [], disableTools = [] } = delta
  const on = (delta.enableTools ?? []).map((entry): ToolLine => ({ entry, permission: { enabled: true } }))
  return {
    ...base,
    network,
    allowedPaths,
    blockedPaths: [...base.blockedPaths, ...addBlockedPaths],
    tools: [...base.tools, ...off(...disableTools), ...on, ...linesOf(delta.toolOverrides)],
  }
}

/** The lines about one tool, merged: each field from the last line that has it. */
export function toolPermission({ tools }: Pick<Permissions, 'tools'>, tool: string, groups: Groups): ToolPermission {
  const lines = tools.filter(({ entry }) => toolCovered(entry, tool, groups))
  return Object.assign({}, ...lines.map(({ permission }) => permission)) as ToolPermission
}

function linesOf(tools: Readonly<Record<string, ToolPermission>> = {}): ToolLine[] {
  return Object.entries(tools).map(([entry, permission]) => ({ entry, permission }))
}
