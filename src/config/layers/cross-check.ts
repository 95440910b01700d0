import { type Diagnostic, nearest, type JsonValue, toSafeLine } from '../../kernel/index.ts'
import type { Layer, Origin } from '../config.ts'
import { nameOf } from '../document/name-of.ts'
import type { PathKey } from '../document/read-yaml.ts'
import { PRESETS } from '../schema/agents.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { MAX_CHAIN } from './merge.ts'
import { originOf } from './origins.ts'

/** More findings of one kind help nobody. */
const MAX_FINDINGS = 50

/** A name that stands for something that is defined elsewhere. */
interface Reference {
  readonly keys: readonly PathKey[]
  readonly name: string
  readonly known: ReadonlySet<string>
  readonly what: string
}

/** Faults that show only when all files are together: names of agents and presets that lead nowhere or in a circle. */
export function crossCheck(merged: ConfigDocument, layers: readonly Layer[]): Diagnostic[] {
  const look = (keys: readonly PathKey[]): { readonly name: string; readonly place: Origin } => {
    const { keys: inFile, ...place }: Origin = originOf(merged as JsonValue, keys, layers) ?? { path: 'nexus.yaml' }
    return { name: nameOf(inFile ?? keys), place }
  }
  const references = referencesIn(merged)
  const unknown = references
    .filter(({ name, known }) => !known.has(name))
    .slice(0, MAX_FINDINGS)
    .map(({ keys, name, known, what }): Diagnostic => {
      const guess = nearest(name, known)
      const at = look(keys)
      const message = `${at.name}: there is no ${what} "${toSafeLine(name)}".`
      const fix =
        guess === undefined ? `Known: ${[...known].slice(0, MAX_FINDINGS).join(', ')}.` : `Did you mean "${guess}"?`
      return { code: 'config-unknown-name', severity: 'error', message, ...at.place, fix }
    })
  const presets = Object.entries(merged.permissions?.presets ?? {})
  const circles = [
    ...circlesIn(new Map((merged.agents ?? []).map((agent) => [agent.id, agent.extends]))).map((id) => [
      'agents',
      (merged.agents ?? []).findIndex((agent) => agent.id === id),
    ]),
    ...circlesIn(new Map(presets.map(([name, preset]) => [name, preset.extends]))).map((name) => [
      'permissions',
      'presets',
      name,
    ]),
  ]
    .slice(0, MAX_FINDINGS)
    .map((holder): Diagnostic => {
      const at = look([...holder, 'extends'])
      const message = `${at.name} leads in a circle, or over more than ${MAX_CHAIN} steps.`
      return {
        code: 'config-circle',
        severity: 'error',
        message,
        ...at.place,
        fix: 'Let one of them extend nothing.',
      }
    })
  const taken = presets
    .filter(([name]) => (PRESETS as readonly string[]).includes(name))
    .map(([name]): Diagnostic => {
      const at = look(['permissions', 'presets', name])
      const message = `${at.name}: the preset "${name}" is built in and cannot be redefined.`
      return {
        code: 'config-bad-key',
        severity: 'error',
        message,
        ...at.place,
        fix: `Give it another name and write extends: ${name}.`,
      }
    })
  return [...unknown, ...circles, ...taken]
}

function referencesIn({ agents = [], permissions = {} }: ConfigDocument): Reference[] {
  const presets = new Set([...PRESETS, ...Object.keys(permissions.presets ?? {})])
  const ids = new Set(agents.map(({ id }) => id))
  const all: (Omit<Reference, 'name'> & { readonly name: string | undefined })[] = [
    { keys: ['permissions', 'defaultPreset'], name: permissions.defaultPreset, known: presets, what: 'preset' },
    ...Object.entries(permissions.presets ?? {}).map(([name, preset]) => ({
      keys: ['permissions', 'presets', name, 'extends'],
      name: preset.extends,
      known: presets,
      what: 'preset',
    })),
    ...agents.flatMap((agent, index) => [
      { keys: ['agents', index, 'preset'], name: agent.preset, known: presets, what: 'preset' },
      { keys: ['agents', index, 'extends'], name: agent.extends, known: ids, what: 'agent' },
    ]),
  ]
  return all.filter((reference): reference is Reference => reference.name !== undefined)
}

/** The names from which following `extends` leads in a circle or too far. */
function circlesIn(next: ReadonlyMap<string, string | undefined>): string[] {
  return [...next.keys()].filter((start) => {
    let at = next.get(start)
    for (let steps = 0; at !== undefined && steps < MAX_CHAIN; steps++) at = next.get(at)
    return at !== undefined
  })
}
