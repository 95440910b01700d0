/** The single-machine composition: configuration, folders, SQLite and the local sandbox become one runtime. */
import {
  assertValid,
  type Config,
  type Environment,
  type LoadedConfig,
  openSecrets,
  type Secrets,
} from '../config/index.ts'
import { entryValues, readEntries } from './entries.ts'
import type { Diagnostic } from '../kernel/index.ts'
import { untrustedWorkspace } from '../authorize/index.ts'
import type { Parts, ReloadEvent, Runtime } from '../runtime/index.ts'
import type { CustomTools } from './custom-tools/index.ts'
import { executionSettings } from './execution.ts'
import { fileSettings, leftOutBuiltins, webSettings } from './tool-settings.ts'
import { profilesOf, readPolicies } from './policies.ts'
import { createRuntime } from '../runtime/index.ts'
import { runSecretCommand } from '../machine/host/index.ts'
import { createSandbox, openSandbox, type Sandbox } from '../machine/sandbox/index.ts'
import type { AlsoUsed } from './protected-paths.ts'
import { readSettings, sandboxOptions, type SettingsOptions, waitsForTrust } from './settings.ts'
import type { Watcher } from '../skills/sources/index.ts'
import type { Store } from '../store/index.ts'
import { openState, scopeOf, readUses } from './open-store.ts'

export interface LocalOptions extends SettingsOptions {
  /** `sqlite` records in the store that the configuration chooses, SQLite unless it says otherwise; `memory` forgets. Default `sqlite`. */
  readonly record?: 'sqlite' | 'memory'
  /** With `memory`: rank skills by their use in the configured store, as a runtime that records does. Default false. */
  readonly readsUses?: boolean
  /** Asks a person about a call that policy wants confirmed. */
  readonly approve?: NonNullable<Parts['approve']>
  /** Waits for an answer of another process where there is no `approve`: `nexus approvals answer`. Default false. */
  readonly waitForAnswers?: boolean
  /** Adds tools to each agent's registry, after the built-in ones. */
  readonly registerTools?: NonNullable<Parts['registerTools']>
  /** The program goes on for more than one task: with `skills.load.watch` it follows changes of skills. Default false. */
  readonly isLongRunning?: boolean
  /** Told of skills that changed while the program runs. Must not throw. */
  readonly onReload?: (event: ReloadEvent) => void
  readonly signal?: AbortSignal
}

/** An open runtime with the parts it was made of. */
export interface Local {
  readonly runtime: Runtime
  readonly config: Config
  readonly loaded: LoadedConfig
  /** Keys of the configuration; commands that give one are run when it is asked for. */
  readonly secrets: Secrets
  readonly sandbox: Sandbox
  /** Where skills were looked for, in order of precedence. */
  readonly sources: Parts['sources']
  /** The store of the runtime; in memory where nothing is recorded durably. */
  readonly store: Store
  /** Present when changes of skills are followed. */
  readonly watcher?: Watcher
  readonly workspace: LoadedConfig['workspace']
  /** Skills or settings of the workspace wait for trust: until then no command runs in it and no tool changes a file. */
  readonly waitsForTrust: boolean
  /** Findings about configuration and policy; those about skills are in the catalog. */
  readonly diagnostics: readonly Diagnostic[]
  close(): Promise<void>
}

/**
 * Reads the configuration and opens a runtime for a workspace on this machine. Nothing is started before the first command,
 * and no command runs while skills or edited settings of the workspace wait for trust.
 * Throws CONFIG_INVALID when the configuration has errors or a nexus.yaml named by the caller cannot be read, FILE_NOT_FOUND when `cwd` is not a directory, STORE_FAILED when the store cannot be opened.
 */
export async function openLocal(options: LocalOptions = {}): Promise<Local> {
  const settings = await readSettings(options)
  const { environment, loaded } = settings
  const { config, workspace } = loaded
  const secrets = openSecrets(loaded, { run: runSecretCommand, environment })
  const { policies, diagnostics: inPolicies } = await readPolicies(loaded)
  if (options.tolerateConfigErrors !== true) assertValid({ ...loaded, diagnostics: inPolicies })
  let opened: Runtime | undefined
  const trust = untrustedWorkspace(() => opened === undefined || waitsForTrust(loaded, opened.openAgent().catalog()))
  const scope = await scopeOf(workspace.directory)
  const profiles = profilesOf(policies, { trust, scope })
  const custom = await loadCustom(loaded)
  const isLooking = options.record === 'memory'
  const used: AlsoUsed = { skillsDirs: options.skillsDirs, imported: custom.places }
  const forCommands = sandboxOptions(loaded, used)
  const sandbox = isLooking ? openSandbox(forCommands) : await createSandbox(forCommands)
  const state = isLooking ? undefined : await openState({ loaded, environment, secrets })
  const parts: Parts = {
    sources: settings.sources,
    sandbox,
    workspace: workspace.directory,
    scope,
    ...(await usesFor(options, { loaded, environment, secrets }, scope)),
    agents: profiles,
    gateRules: settings.gateRules,
    execution: executionSettings(settings),
    files: fileSettings(settings, used),
    web: webSettings(config, secrets),
    toolTimeoutMs: config.limits.toolTimeoutMs,
    secrets: secrets.values,
    skillEntries: entryValues(config, secrets),
    surface: config.skills.surface,
    refreshOnCall: config.skills.refreshOnCall,
    prompt: config.skills.prompt,
    events: config.store.events,
    retention: config.store.retention,
    approvals: config.approvals,
    store: state?.store,
    blobs: state?.blobs,
    ...ofCaller(options, { custom, leftOut: leftOutBuiltins(config) }),
  }
  const runtime = await createRuntime(parts, options.signal ? { signal: options.signal } : {})
  opened = runtime
  const watcher = await follow(runtime, config, options)
  const stopRefresh = isLooking ? undefined : await refreshed(loaded, environment)
  return {
    runtime,
    config,
    loaded,
    secrets,
    sandbox,
    sources: parts.sources,
    workspace,
    get waitsForTrust() {
      return waitsForTrust(loaded, runtime.openAgent().catalog())
    },
    store: runtime.store,
    watcher,
    diagnostics: [
      ...loaded.diagnostics,
      ...(sandbox.diagnostics ?? []),
      ...inPolicies,
      ...(await readEntries(loaded)),
      ...findingsOf(custom, runtime),
    ],
    close: async () => {
      await stopRefresh?.()
      await runtime.close()
      await state?.close()
    },
  }
}

/** Keeps git sources fresh beside the runtime; what does it is loaded only where there are some. */
async function refreshed(loaded: LoadedConfig, environment: Environment): Promise<(() => Promise<void>) | undefined> {
  if (!loaded.config.skills.sources.some(({ type }) => type === 'git')) return undefined
  return (await import('./git-sources.ts')).keepFresh(loaded, environment)
}

/** How skills are ranked where nothing is recorded; a store that is open is counted by the runtime. */
async function usesFor(
  { record, readsUses }: LocalOptions,
  configured: Parameters<typeof readUses>[0],
  scope: string,
): Promise<Pick<Parts, 'uses'>> {
  const uses = record === 'memory' && readsUses ? await readUses(configured, scope) : undefined
  return uses ? { uses } : {}
}

const NO_MODULES: CustomTools = { register: () => undefined, diagnostics: [], places: [] }

/** The loader of modules is loaded only where there are some. */
async function loadCustom(loaded: LoadedConfig): Promise<CustomTools> {
  if (loaded.config.skills.custom.length === 0) return NO_MODULES
  return (await import('./custom-tools/index.ts')).loadCustomTools(loaded)
}

/** Findings about modules. Registering their tools for the first agent shows what is wrong with a factory. */
function findingsOf(custom: CustomTools, runtime: Runtime): CustomTools['diagnostics'] {
  if (custom !== NO_MODULES) void runtime.openAgent().registry
  return custom.diagnostics
}

/** The parts that the caller gives: who is asked, and more tools. */
function ofCaller(
  { approve, waitForAnswers, registerTools }: LocalOptions,
  { custom, leftOut }: { readonly custom: CustomTools; readonly leftOut: readonly string[] },
): Partial<Parts> {
  return {
    approve,
    waitForAnswers,
    registerTools: (registry, agentId) => {
      for (const name of leftOut) registry.unregister(name)
      custom.register(registry)
      registerTools?.(registry, agentId)
    },
  }
}

/** Hot reload, when the program lasts long enough for it and the configuration wants it. */
async function follow(
  runtime: Runtime,
  { skills }: Config,
  { isLongRunning = false, onReload, signal }: LocalOptions,
): Promise<Watcher | undefined> {
  if (!isLongRunning || !skills.load.watch) return undefined
  return runtime.watch({ debounceMs: skills.load.watchDebounceMs, onReload, signal })
}
