import { type JsonValue, nearest, readHostRule, toSafeLine } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import type { Finding } from '../document/finding.ts'
import { type Path } from '../document/path.ts'
import { nameIn } from '../profiles.ts'
import { PRESETS } from '../schema/agents.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { type Message, notApplied } from '../messages.ts'
import { MAX_CHAIN } from './merge.ts'
import { originOf } from './origins.ts'

/** A name of what is defined elsewhere. */
interface Reference {
  readonly at: Path
  readonly name: string | undefined
  readonly known: ReadonlySet<string>
  readonly what: string
}

/** Faults that show only when all files are together: names of agents and presets that lead nowhere or in a circle. */
export async function crossCheck(merged: ConfigDocument, layers: readonly Layer[]): Promise<Finding[]> {
  const { agents = [], permissions = {} } = merged
  const presets = Object.entries(permissions.presets ?? {})
  const finding = (path: Path, words: (setting: string) => Message): Finding => {
    const { layer, at = path } = originOf(merged as JsonValue, path, layers) ?? {}
    const setting = nameIn(layer ?? {})(at)
    return { file: layer?.path ?? 'nexus.yaml', at, severity: 'error', ...words(setting) }
  }
  const unknown = referencesIn(merged).flatMap(({ at, name, known, what }) => {
    if (name === undefined || known.has(name)) return []
    const why = `The configuration defines no ${what} "${toSafeLine(name)}".`
    return [finding(at, (setting) => notApplied('config-unknown-name', setting, why, oneOf(name, known)))]
  })
  const circles = [
    ...circlesIn(agents.map((agent) => [agent.id, agent.extends])).map((id): Path => {
      return ['agents', agents.findIndex((agent) => agent.id === id), 'extends']
    }),
    ...circlesIn(presets.map(([name, preset]) => [name, preset.extends])).map((name): Path => {
      return ['permissions', 'presets', name, 'extends']
    }),
  ].map((at) => {
    const why = `It leads back to itself, or over more than ${MAX_CHAIN} steps.`
    return finding(at, (setting) => notApplied('config-cycle', setting, why, 'Remove one extends of this chain.'))
  })
  const taken = presets
    .filter(([name]) => (PRESETS as readonly string[]).includes(name))
    .map(([name]) => {
      const why = `The preset "${name}" is built in and cannot be redefined.`
      const fix = `Write another name, and in it extends: ${name}`
      return finding(['permissions', 'presets', name], (setting) => notApplied('config-bad-key', setting, why, fix))
    })
  return [...unknown, ...circles, ...taken, ...(await badHosts(merged, finding)), ...incompleteSearch(merged, finding)]
}

/** Every host in the settings, with its place; `opens`: it may be reached. */
function hostsIn({ execution, skills }: ConfigDocument): readonly { at: Path; host: string; opens: boolean }[] {
  const { allowedDomains = [], deniedDomains = [] } = execution?.network ?? {}
  const lists = [
    { at: ['execution', 'network', 'allowedDomains'], hosts: allowedDomains, opens: true },
    { at: ['execution', 'network', 'deniedDomains'], hosts: deniedDomains, opens: false },
    ...Object.entries(skills?.entries ?? {}).map(([key, { network = [] }]) => {
      return { at: ['skills', 'entries', key, 'network'], hosts: network, opens: true }
    }),
  ]
  return lists.flatMap(({ at, hosts, opens }) => hosts.map((host, index) => ({ at: [...at, index], host, opens })))
}

/** Names that DNS does not have, and wildcards over a suffix below which anybody can have a name. The list of suffixes is loaded for wildcards only. */
async function badHosts(
  merged: ConfigDocument,
  finding: (path: Path, words: (setting: string) => Message) => Finding,
): Promise<Finding[]> {
  const bad: Finding[] = []
  for (const { at, host, opens } of hostsIn(merged)) {
    const why = await whyBad(host, opens)
    if (why !== undefined)
      bad.push(
        finding(at, (setting) => notApplied('config-wrong-value', setting, why, 'Name the hosts that are needed.')),
      )
  }
  return bad
}

async function whyBad(text: string, opens: boolean): Promise<string | undefined> {
  const rule = readHostRule(text)
  if (rule === undefined) return 'It is not a name that a host can have.'
  if (!opens || !rule.host.startsWith('*.')) return undefined
  const { isPublicSuffix } = await import('../../machine/egress/index.ts')
  const name = rule.host.slice(2)
  return (await isPublicSuffix(name)) ? `Anybody can have a name below ${toSafeLine(name)}.` : undefined
}

/** The name that may be meant, or all that there are. */
function oneOf(name: string, known: ReadonlySet<string>): string {
  const near = nearest(name, known)
  if (near !== undefined) return `Did you mean "${near}"?`
  return known.size === 0 ? 'Define another one, or remove this line.' : `Use one of: ${[...known].join(', ')}.`
}

/** The section as a whole is left out where a variable is missing. */
function incompleteSearch(
  { search }: ConfigDocument,
  finding: (path: Path, words: (setting: string) => Message) => Finding,
): Finding[] {
  if (search === undefined) return []
  const { provider } = search
  const needed = provider === 'brave' ? 'apiKey' : 'url'
  const lacks = provider === undefined ? 'provider' : needed
  if (search[lacks] !== undefined) return []
  const words = {
    code: 'config-search-incomplete',
    message: `Agents cannot search the web: search.${lacks} is not set.`,
    fix: 'Write search: { provider: brave, apiKey: "${BRAVE_API_KEY}" }, or search: { provider: searxng, url: ADDRESS }.',
  }
  return [{ ...finding(['search'], () => words), severity: 'warning' }]
}

function referencesIn({ agents = [], permissions = {} }: ConfigDocument): Reference[] {
  const presets = Object.entries(permissions.presets ?? {})
  const known = new Set([...PRESETS, ...presets.map(([name]) => name)])
  const ids = new Set(agents.map(({ id }) => id))
  return [
    { at: ['permissions', 'defaultPreset'], name: permissions.defaultPreset, known, what: 'preset' },
    ...presets.map(([name, preset]) => {
      return { at: ['permissions', 'presets', name, 'extends'], name: preset.extends, known, what: 'preset' }
    }),
    ...agents.flatMap((agent, index) => [
      { at: ['agents', index, 'preset'], name: agent.preset, known, what: 'preset' },
      { at: ['agents', index, 'extends'], name: agent.extends, known: ids, what: 'agent' },
      { at: ['agents', index, 'shadow'], name: agent.shadow, known: ids, what: 'agent' },
    ]),
  ]
}

/** The names from which following `extends` leads in a circle or too far. */
function circlesIn(pairs: readonly (readonly [name: string, extended: string | undefined])[]): string[] {
  const next = new Map(pairs)
  return [...next.keys()].filter((start) => {
    let at = next.get(start)
    for (let steps = 0; at !== undefined && steps < MAX_CHAIN; steps++) at = next.get(at)
    return at !== undefined
  })
}
