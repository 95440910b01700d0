import type { JsonObject } from '../kernel/index.ts'
import {
  type AgentConfig,
  type Config,
  DEFAULTS,
  type ExecutionConfig,
  type ModelConfig,
  SECRETS,
  type SkillEntry,
  type SkillsConfig,
  type SourceConfig,
} from './config.ts'
import { copyValue, partAt } from './document/parts.ts'
import type { Unset } from './references.ts'
import type { ConfigDocument } from './schema.ts'

/** What the environment says where the files say nothing. */
export interface EnvironmentSettings {
  readonly budgetChars?: number
  readonly refreshOnCall?: boolean
}

/** What goes along with a merged document. */
export interface Findings {
  readonly unset: readonly Unset[]
  readonly secrets: readonly string[]
  readonly settings: EnvironmentSettings
}

/** Fills in the defaults and freezes the result, maps included. `document` holds all files, merged and resolved. */
export function toConfig(document: ConfigDocument, { unset, secrets, settings }: Findings): Config {
  const { groups = {}, ...toolSettings } = document.tools ?? {}
  const model = toModel(document.model)
  const config: Config = {
    ...(model && { model }),
    skills: toSkills(document, unset, settings),
    agents: toAgents(document.agents ?? []),
    tools: { groups: new LockedMap(Object.entries(groups)), settings: toolSettings as JsonObject },
    execution: toExecution(document.execution ?? {}),
    limits: {
      maxIterations: document.limits?.maxIterations ?? DEFAULTS.maxIterations,
      toolTimeoutMs: document.limits?.toolTimeoutMs ?? DEFAULTS.toolTimeoutMs,
      maxConcurrentTools: document.limits?.maxConcurrentTools ?? DEFAULTS.maxConcurrentTools,
    },
    values: copyValue(document as JsonObject) as JsonObject,
  }
  Object.defineProperty(config, SECRETS, { value: secrets, enumerable: false })
  return freezeDeep(config)
}

function toModel(model: ConfigDocument['model']): ModelConfig | undefined {
  if (model === undefined) return undefined
  if (typeof model === 'string') {
    const slash = model.indexOf('/')
    return { provider: model.slice(0, slash) as ModelConfig['provider'], name: model.slice(slash + 1) }
  }
  const { provider, name, baseUrl, apiKey, api } = model
  return {
    provider,
    name,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(typeof apiKey === 'string' && { apiKey }),
    ...(api !== undefined && { api }),
  }
}

function toSkills(
  { skills = {} }: ConfigDocument,
  unset: readonly Unset[],
  settings: EnvironmentSettings,
): SkillsConfig {
  const entries = Object.entries(skills.entries ?? {}).map(
    ([key, entry]) => [key, toEntry(entry, unsetOf(key, unset, skills))] as const,
  )
  return {
    load: toLoad(skills.load ?? {}),
    skillDirs: skills.skill_dirs ?? [],
    disabledSkills: skills.disabled_skills ?? [],
    sources: (skills.sources ?? []).map((source) => ({ ...source }) as SourceConfig),
    entries: new LockedMap(entries),
    surface: skills.surface ?? ['load_skill', 'read_skill_file'],
    prompt: toPrompt(skills.prompt ?? {}, settings),
    refreshOnCall: skills.refreshOnCall ?? settings.refreshOnCall ?? true,
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

function toPrompt(
  { budgetChars, style }: NonNullable<SkillsDocument['prompt']>,
  settings: EnvironmentSettings,
): SkillsConfig['prompt'] {
  return { budgetChars: budgetChars ?? settings.budgetChars ?? DEFAULTS.budgetChars, style: style ?? 'markdown' }
}

type EntryDocument = NonNullable<SkillsDocument['entries']>[string]

function toEntry({ enabled, apiKey, env, config }: EntryDocument, unset: readonly string[]): SkillEntry {
  return {
    ...(enabled !== undefined && { enabled }),
    ...(typeof apiKey === 'string' && apiKey !== '' && { apiKey }),
    env: Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, String(value)])),
    config: (config ?? {}) as JsonObject,
    unset,
  }
}

/** Variables whose values another file did not supply after all. */
function unsetOf(entry: string, unset: readonly Unset[], skills: object): string[] {
  const open = unset.filter(
    ({ keys }) => keys[1] === 'entries' && keys[2] === entry && partAt(skills, keys.slice(1)) === undefined,
  )
  return [...new Set(open.map(({ variable }) => variable))]
}

function toAgents(agents: NonNullable<ConfigDocument['agents']>): AgentConfig[] {
  const all = agents.length > 0 ? agents : [{ id: DEFAULTS.agentId }]
  return all.map(({ id, skills, instructions, tools = {} }) => ({
    id,
    ...(skills && { skills }),
    ...(instructions !== undefined && { instructions }),
    tools: { profile: tools.profile ?? 'full', allow: tools.allow ?? [], ask: tools.ask ?? [], deny: tools.deny ?? [] },
  }))
}

function toExecution({
  sandbox,
  timeoutMs,
  maxOutputBytes,
  uidBase,
  limits,
}: NonNullable<ConfigDocument['execution']>): ExecutionConfig {
  return {
    sandbox: sandbox ?? 'local',
    timeoutMs: timeoutMs ?? DEFAULTS.timeoutMs,
    maxOutputBytes: maxOutputBytes ?? DEFAULTS.maxOutputBytes,
    ...(uidBase !== undefined && { uidBase }),
    limits: { ...limits } as ExecutionConfig['limits'],
  }
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

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of value instanceof Map ? value.values() : Object.values(value)) freezeDeep(member)
  return Object.freeze(value)
}
