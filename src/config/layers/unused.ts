import { isJsonObject, type JsonValue, toSafeLine } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import type { Finding } from '../document/finding.ts'
import { partAt, type PathKey } from '../document/path.ts'
import { nameIn } from '../profiles.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { SETTINGS } from '../messages.ts'
import { pathInFile } from './canonical.ts'

/** A part of the configuration that is checked and that this version does not act on. */
interface Unused {
  readonly path: string
  /** Completes "This version does not …". */
  readonly what: string
  /** `warning` where the user could rely on it, `info` where it waits for its command. */
  readonly severity: 'warning' | 'info'
  /** Only this value; default any. */
  readonly value?: string
  readonly instead?: string
}

/** Nothing of this is silent. A row goes when its feature comes. */
export const UNUSED: readonly Unused[] = [
  { path: 'skills.sources.*.type', value: 'git', what: 'fetch skills from git', severity: 'warning' },
  { path: 'skills.sources.*.type', value: 'registry', what: 'fetch skills from a registry', severity: 'warning' },
  { path: 'agents.*.budget', what: 'limit agents by budgets', severity: 'warning' },
  { path: 'agents.*.context', what: 'shorten histories by agents[].context', severity: 'info' },
  {
    path: 'execution.sandbox',
    value: 'e2b',
    what: 'run commands in E2B sandboxes',
    severity: 'warning',
    instead: 'they run in the local sandbox of this machine',
  },
  { path: 'execution.e2b', what: 'run commands in E2B sandboxes', severity: 'info' },
  {
    path: 'execution.network',
    what: 'open the network to commands',
    severity: 'warning',
    instead: 'commands in the local sandbox have no network',
  },
  { path: 'execution.filesystem', what: 'add paths to the sandbox or take them away', severity: 'warning' },
  { path: 'execution.files', what: 'limit inputs and artifacts of runs', severity: 'info' },
  { path: 'execution.reaper', what: 'run a reaper', severity: 'info' },
  { path: 'server', what: 'start a server', severity: 'info' },
  {
    path: 'store.synchronous',
    value: 'normal',
    what: 'choose how SQLite waits for the disk',
    severity: 'info',
    instead: 'every commit waits for it',
  },
  { path: 'store.blobs', what: 'keep artifacts', severity: 'info' },
  { path: 'nats', what: 'connect to NATS', severity: 'info' },
  { path: 'mcp.servers', what: 'use MCP servers', severity: 'info' },
]

/** Source: seed 002, "Built-in Skills". */
const BUILTINS = ['web_search', 'file_ops', 'shell']

/** What a file sets and this version does not act on: one finding a section. */
export function findUnused(document: ConfigDocument, layer: Layer): Finding[] {
  const unused = UNUSED.flatMap(({ path, value, what, severity, instead }): Finding[] => {
    const keys = firstAt(document as JsonValue, path.split('.'), value)
    if (keys === undefined) return []
    const at = pathInFile(layer, keys)
    const words = SETTINGS.notUsed({ setting: nameIn(layer)(at), what, effect: instead ?? '' })
    return [{ file: layer.path, at, severity, ...words }]
  })
  const unknown = [...(document.skills?.builtin ?? []).entries()]
    .filter(([, name]: [number, string | undefined]) => name !== undefined && !BUILTINS.includes(name))
    .map(([index, name]): Finding => {
      const words = SETTINGS.unknownBuiltin({ name: toSafeLine(name) }, BUILTINS)
      return { file: layer.path, at: ['skills', 'builtin', index], severity: 'warning', ...words }
    })
  return [...unused, ...unknown]
}

/** The first place that fits the pattern, and holds the value if one is asked for. */
function firstAt(value: JsonValue, pattern: readonly string[], wanted?: string): PathKey[] | undefined {
  const [part, ...rest] = pattern
  if (part === undefined) return wanted === undefined || value === wanted ? [] : undefined
  for (const key of part === '*' ? keysOf(value) : [part]) {
    const member = partAt(value, [key])
    const found = member === undefined ? undefined : firstAt(member as JsonValue, rest, wanted)
    if (found !== undefined) return [key, ...found]
  }
  return undefined
}

function keysOf(value: JsonValue): PathKey[] {
  if (Array.isArray(value)) return [...value.keys()]
  return isJsonObject(value) ? Object.keys(value) : []
}
