import {
  freezeDeep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PermissionDelta,
  type PresetInput,
} from '../kernel/index.ts'
import type { AgentConfig, BrokenReference, Config, Layer, ModelConfig, SkillEntry } from './config.ts'
import { copyValue, isInList, partAt, type Path } from './document/path.ts'
import type { Unset } from './layers/references.ts'
import { NO_FILE } from './schema/no-file.ts'
import type { ConfigDocument, Settings } from './schema/schema.ts'

/** All files together. */
interface Merged {
  readonly document: ConfigDocument
  /** The document with its agents laid over those that they extend, and all defaults. */
  readonly settings: Settings
  /** Missing in the document. */
  readonly unset: readonly Unset[]
  /** The files, as far as they apply. */
  readonly layers: readonly Layer[]
}

/** The settings of variables where there is no file, with the defaults that the schema has: it is not loaded for them. */
export function withoutFile(variables: ConfigDocument): Settings {
  return overlay(NO_FILE, variables as JsonObject) as unknown as Settings
}

function overlay(base: JsonValue | undefined, next: JsonValue): JsonValue {
  if (!isJsonObject(base) || !isJsonObject(next)) return next
  const members = Object.entries(next).map(([key, value]) => [key, overlay(base[key], value)])
  return { ...base, ...(Object.fromEntries(members) as JsonObject) }
}

/** Puts settings into the form that the modules above use, and freezes the result, maps included. */
export function toConfig({ document, settings, unset, layers }: Merged): Config {
  const { model, skills, permissions, execution, ...rest } = settings
  const { groups, ...toolSettings } = settings.tools
  const { url, ...store } = settings.store
  const { apiKey, ...search } = settings.search
  const entries = Object.entries(skills.entries).map(
    ([key, entry]) => [key, toEntry(key, entry, { unset, layers })] as const,
  )
  return freezeDeep<Config>({
    ...rest,
    model: model === undefined ? undefined : toModel(model),
    skills: { ...skills, entries: new LockedMap(entries) },
    agents: toAgents(settings),
    permissions: { ...permissions, presets: permissions.presets as Readonly<Record<string, PresetInput>> },
    tools: { groups: new LockedMap(Object.entries(groups)), settings: toolSettings as JsonObject },
    // Never unconfined: a finding where it was read says that this version cannot do it.
    execution: { ...execution, sandbox: execution.sandbox === 'none' ? 'none' : 'local' },
    store: { ...store, hasUrl: url !== undefined && url !== '' },
    search: { ...search, hasApiKey: apiKey !== undefined && apiKey !== '' },
    values: copyValue(document as JsonObject) as JsonObject,
  })
}

function toModel(model: NonNullable<Settings['model']>): ModelConfig {
  if (typeof model === 'string') {
    const slash = model.indexOf('/')
    const provider = model.slice(0, slash) as ModelConfig['provider']
    return { provider, name: model.slice(slash + 1), hasApiKey: false }
  }
  const { apiKey, ...rest } = model
  return { ...rest, apiKey: typeof apiKey === 'string' ? apiKey : undefined, hasApiKey: apiKey !== undefined }
}

function toEntry(
  key: string,
  { enabled, apiKey, env = {}, config, setup, credentials, network = [] }: Settings['skills']['entries'][string],
  { unset, layers }: Pick<Merged, 'unset' | 'layers'>,
): SkillEntry {
  const isMasked = credentials === 'mask'
  return {
    enabled,
    apiKey: typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined,
    hasApiKey: apiKey !== undefined && apiKey !== '',
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    config: (config ?? {}) as JsonObject,
    network,
    setup,
    isMasked,
    keyHosts: isMasked ? keyHosts(key, network, layers) : undefined,
    broken: brokenBelow(['skills', 'entries', key], unset),
  }
}

/** A workspace must not choose where a key of its user goes; commands reach its hosts all the same. */
function keyHosts(key: string, network: readonly string[], layers: readonly Layer[]): readonly string[] {
  const own = layers.filter(({ isWorkspace }) => isWorkspace !== true)
  const named = own.flatMap(({ document }) => partAt(document, ['skills', 'entries', key, 'network']) ?? [])
  return network.filter((host) => named.includes(host))
}

function toAgents({ agents = [], permissions: { defaultPreset } }: Settings): AgentConfig[] {
  return agents.map(({ extends: _, preset = defaultPreset, permissions, ...agent }) => {
    return { ...agent, preset, permissions: permissions as PermissionDelta | undefined }
  })
}

/** Without those whose value another file supplies. */
export function stillUnset(document: ConfigDocument, unset: readonly Unset[]): readonly Unset[] {
  return unset.filter(({ keys }) => isInList(keys) || partAt(document, keys) === undefined)
}

/** Those at and below a place, by their dotted path from there. */
export function brokenBelow(place: Path, unset: readonly Unset[]): BrokenReference[] {
  return unset
    .filter(({ keys }) => place.every((key, index) => key === keys[index]))
    .map(({ keys, problem, fix }) => ({ at: keys.slice(place.length).join('.'), problem, fix }))
}

/** A map whose content stays as it was made; `Object.freeze` does not protect the content of a map. */
class LockedMap<Key, Value> extends Map<Key, Value> {
  constructor(entries: Iterable<readonly [Key, Value]>) {
    super()
    for (const [key, value] of entries) super.set(key, value)
  }
  override set(): never {
    throw new TypeError('The configuration cannot be changed.')
  }
  override delete(): never {
    throw new TypeError('The configuration cannot be changed.')
  }
  override clear(): never {
    throw new TypeError('The configuration cannot be changed.')
  }
}
