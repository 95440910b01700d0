import { DEFAULTS, freezeDeep, type JsonObject, type PermissionDelta } from '../kernel/index.ts'
import type {
  AgentConfig,
  PermissionsConfig,
  SearchConfig,
  BrokenReference,
  Config,
  ExecutionConfig,
  ModelConfig,
  SkillEntry,
  SkillsConfig,
  SourceConfig,
  StoreConfig,
} from './config.ts'
import { copyValue, isInList, partAt, type Path } from './document/path.ts'
import type { AgentDocument } from './layers/merge.ts'
import type { Unset } from './layers/references.ts'
import { CONFIG_DEFAULTS } from './schema/defaults.ts'
import type { ConfigDocument } from './schema/schema.ts'

/** All files together. */
interface Merged {
  readonly document: ConfigDocument
  /** Each laid over the one that it extends. */
  readonly agents: readonly AgentDocument[]
  /** Missing in the document. */
  readonly unset: readonly Unset[]
}

/** Fills in the defaults and freezes the result, maps included. */
export function toConfig({ document, agents, unset }: Merged): Config {
  const { groups = {}, ...toolSettings } = document.tools ?? {}
  const model = toModel(document.model)
  return freezeDeep<Config>({
    ...(model && { model }),
    skills: toSkills(document, unset),
    agents: toAgents(agents, document.permissions?.defaultPreset),
    permissions: toPermissions(document),
    tools: { groups: new LockedMap(Object.entries(groups)), settings: toolSettings as JsonObject },
    execution: toExecution(document.execution ?? {}),
    store: toStore(document),
    search: toSearch(document),
    mcp: toMcp(document),
    limits: {
      maxIterations: document.limits?.maxIterations ?? DEFAULTS.maxIterations,
      toolTimeoutMs: document.limits?.toolTimeoutMs ?? DEFAULTS.toolTimeoutMs,
      maxConcurrentTools: document.limits?.maxConcurrentTools ?? DEFAULTS.maxConcurrentTools,
    },
    values: copyValue(document as JsonObject) as JsonObject,
  })
}

function toModel(model: ConfigDocument['model']): ModelConfig | undefined {
  if (model === undefined) return undefined
  if (typeof model === 'string') {
    const slash = model.indexOf('/')
    const provider = model.slice(0, slash) as ModelConfig['provider']
    return { provider, name: model.slice(slash + 1), hasApiKey: false }
  }
  const { provider, name, baseUrl, apiKey, api } = model
  return {
    provider,
    name,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(typeof apiKey === 'string' && { apiKey }),
    hasApiKey: apiKey !== undefined,
    ...(api !== undefined && { api }),
  }
}

function toMcp({ mcp: { tools = [] } = {} }: ConfigDocument): Config['mcp'] {
  return { tools }
}

function toSkills({ skills = {} }: ConfigDocument, unset: readonly Unset[]): SkillsConfig {
  const entries = Object.entries(skills.entries ?? {}).map(
    ([key, entry]) => [key, toEntry(entry, brokenBelow(['skills', 'entries', key], unset))] as const,
  )
  return {
    load: toLoad(skills.load ?? {}),
    skillDirs: skills.skill_dirs ?? [],
    disabledSkills: skills.disabled_skills ?? [],
    ...(skills.builtin && { builtin: skills.builtin }),
    custom: skills.custom ?? [],
    sources: (skills.sources ?? []).map((source) => ({ ...source }) as SourceConfig),
    entries: new LockedMap(entries),
    surface: skills.surface ?? CONFIG_DEFAULTS.surface,
    prompt: toPrompt(skills.prompt ?? {}),
    refreshOnCall: skills.refreshOnCall ?? CONFIG_DEFAULTS.refreshOnCall,
  }
}

type SkillsDocument = NonNullable<ConfigDocument['skills']>

function toLoad({ extraDirs, watch, watchDebounceMs }: NonNullable<SkillsDocument['load']>): SkillsConfig['load'] {
  return {
    extraDirs: extraDirs ?? [],
    watch: watch ?? false,
    watchDebounceMs: watchDebounceMs ?? DEFAULTS.watchDebounceMs,
  }
}

function toPrompt({ budgetChars, style }: NonNullable<SkillsDocument['prompt']>): SkillsConfig['prompt'] {
  return { budgetChars: budgetChars ?? DEFAULTS.promptBudgetChars, style: style ?? 'markdown' }
}

type EntryDocument = NonNullable<SkillsDocument['entries']>[string]

function toEntry({ enabled, apiKey, env, config }: EntryDocument, broken: readonly BrokenReference[]): SkillEntry {
  return {
    ...(enabled !== undefined && { enabled }),
    ...(typeof apiKey === 'string' && apiKey !== '' && { apiKey }),
    hasApiKey: apiKey !== undefined && apiKey !== '',
    env: Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, String(value)])),
    config: (config ?? {}) as JsonObject,
    broken,
  }
}

function toAgents(agents: readonly AgentDocument[], defaultPreset: string | undefined): AgentConfig[] {
  const all: readonly AgentDocument[] = agents.length > 0 ? agents : [{ id: CONFIG_DEFAULTS.agentId }]
  return all.map(({ id, preset = defaultPreset, permissions, skills, instructions, tools = {}, shadow }) => ({
    id,
    ...(shadow !== undefined && { shadow }),
    ...(preset !== undefined && { preset }),
    ...(permissions && { permissions: permissions as PermissionDelta }),
    ...(skills && { skills }),
    ...(instructions !== undefined && { instructions }),
    tools: {
      profile: tools.profile ?? 'full',
      allow: tools.allow ?? [],
      ask: tools.ask ?? [],
      deny: tools.deny ?? [],
    },
  }))
}

function toPermissions({
  permissions: { presets = {}, destructiveTools = [] } = {},
}: ConfigDocument): PermissionsConfig {
  return { presets: presets as PermissionsConfig['presets'], destructiveTools }
}

function toStore({ store = {} }: ConfigDocument): StoreConfig {
  const { type, path, url, pool = {}, events = {} } = store
  return {
    type: type ?? 'sqlite',
    ...(path !== undefined && { path }),
    hasUrl: url !== undefined && url !== '',
    pool: Object.fromEntries(Object.entries(pool).filter(([, value]) => value !== undefined)),
    events: {
      maxAgeMs: events.maxAgeMs ?? DEFAULTS.eventsMaxAgeMs,
      maxRows: events.maxRows ?? DEFAULTS.eventsMaxRows,
    },
  }
}

function toSearch({ search: { provider, apiKey, url, maxResults } = {} }: ConfigDocument): SearchConfig {
  return {
    ...(provider !== undefined && { provider }),
    hasApiKey: apiKey !== undefined && apiKey !== '',
    ...(url !== undefined && { url }),
    maxResults: maxResults ?? DEFAULTS.searchResults,
  }
}

function toExecution({
  sandbox,
  timeoutMs,
  maxOutputBytes,
  uidBase,
  workspace,
  limits,
}: NonNullable<ConfigDocument['execution']>): ExecutionConfig {
  return {
    // What this version cannot do is done in the local sandbox, never unconfined; it is said where it was read.
    sandbox: sandbox === 'none' ? 'none' : 'local',
    timeoutMs: timeoutMs ?? DEFAULTS.commandTimeoutMs,
    maxOutputBytes: maxOutputBytes ?? DEFAULTS.maxOutputBytes,
    ...(uidBase !== undefined && { uidBase }),
    workspace: { mode: 'mirror', writable: [], ...workspace } as ExecutionConfig['workspace'],
    limits: { ...limits } as ExecutionConfig['limits'],
  }
}

/** What no file supplies of what was left out because it refers to something that cannot be had. */
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
