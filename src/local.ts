/** The single-machine composition: configuration, folders, SQLite and the local sandbox become one runtime. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parsePolicy, type PolicyRules } from './authorize/index.ts'
import {
  type AgentConfig,
  assertValid,
  type Config,
  configTruthy,
  type Environment,
  explainConfig,
  loadConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  openSecrets,
  readEnvironment,
  type Secrets,
} from './config/index.ts'
import { entryRules, entryValues, readEntries } from './entries.ts'
import { type Call, DEFAULT_PROJECT, type Diagnostic } from './kernel/index.ts'
import type { AgentProfile, Parts, ReloadEvent, Runtime } from './parts.ts'
import { createRuntime } from './runtime.ts'
import { createSandbox, openSandbox, runSecretCommand, type Sandbox, type SandboxOptions } from './sandbox/index.ts'
import { createStandardSources, type Watcher } from './sources/index.ts'
import { openSqliteStore, type Store } from './store/index.ts'
import { BUILTIN_TOOLS } from './tools/index.ts'

export interface LocalOptions {
  /** Where to look for the workspace; default the working directory. */
  readonly cwd?: string
  /** Read once from the process when absent. */
  readonly environment?: Environment
  /** One more nexus.yaml, read after the user's and the workspace's. */
  readonly configPath?: string
  /** More directories with skills, added to the lowest tier. They count as trusted: the caller named them. */
  readonly skillsDirs?: readonly string[]
  /** Trust the workspace for this run. */
  readonly trusted?: boolean
  /**
   * Open although the configuration has errors, which are then in `diagnostics`. Only for programs that look and run
   * nothing: a deny list that could not be read would mean "allowed". Default false.
   */
  readonly tolerateConfigErrors?: boolean
  /** Overrides `execution.sandbox`. */
  readonly sandbox?: 'local' | 'none'
  /** Overrides `skills.prompt`, key by key. */
  readonly prompt?: Partial<Config['skills']['prompt']>
  /** `sqlite` records durably under the Nexus home; `memory` forgets. Default `sqlite`. */
  readonly record?: 'sqlite' | 'memory'
  /** Asks a person about a call that policy wants confirmed. */
  readonly approve?: (call: Call, question: string, signal: AbortSignal) => Promise<boolean>
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
  /** Absent when nothing is recorded durably. */
  readonly store?: Store
  /** Present when changes of skills are followed. */
  readonly watcher?: Watcher
  readonly workspace: LoadedConfig['workspace']
  /** Of the configuration and of the policy; those of skills are in the catalog. */
  readonly diagnostics: readonly Diagnostic[]
  close(): Promise<void>
}

/**
 * Reads the configuration and opens a runtime for a workspace on this machine. Nothing is started before the first command.
 * Throws CONFIG_INVALID when the configuration has errors or a nexus.yaml named by the caller cannot be read, STORE_FAILED when the state file cannot be opened.
 */
export async function openLocal(options: LocalOptions = {}): Promise<Local> {
  const environment = options.environment ?? readEnvironment()
  const loaded = await loadFor(options, environment)
  const { config, workspace } = loaded
  const secrets = openSecrets(loaded, { run: runSecretCommand, environment })
  const { policies, diagnostics: inPolicies } = await readPolicies(loaded)
  if (options.tolerateConfigErrors !== true) assertValid({ ...loaded, diagnostics: inPolicies })
  const profiles: AgentProfile[] = policies.map(({ agent, rules }) => ({
    id: agent.id,
    policy: rules,
    ...(agent.skills && { skills: agent.skills }),
  }))
  const isLooking = options.record === 'memory'
  const sandbox = isLooking ? openSandbox(sandboxOptions(loaded)) : await createSandbox(sandboxOptions(loaded))
  const store =
    options.record === 'memory'
      ? undefined
      : await openSqliteStore({ path: stateFile(environment), projectId: DEFAULT_PROJECT })
  const parts: Parts = {
    sources: sourcesOf(loaded, environment, options),
    sandbox,
    workspace: workspace.directory,
    agents: profiles,
    gateRules: gateRulesOf(config),
    execution: { timeoutMs: config.execution.timeoutMs, maxOutputBytes: config.execution.maxOutputBytes },
    toolTimeoutMs: config.limits.toolTimeoutMs,
    secrets: secrets.values,
    skillEntries: entryValues(config, secrets),
    surface: config.skills.surface,
    refreshOnCall: config.skills.refreshOnCall,
    prompt: config.skills.prompt,
    ...(store && { ledger: store.ledger }),
    ...(options.approve && { approve: options.approve }),
  }
  const runtime = await createRuntime(parts, options.signal ? { signal: options.signal } : {})
  const watcher = await follow(runtime, config, options)
  return {
    runtime,
    config,
    loaded,
    secrets,
    sandbox,
    sources: parts.sources,
    workspace,
    ...(store && { store }),
    ...(watcher && { watcher }),
    diagnostics: [...loaded.diagnostics, ...(sandbox.diagnostics ?? []), ...inPolicies, ...(await readEntries(loaded))],
    close: async () => {
      await runtime.close()
      await store?.close()
    },
  }
}

/** What the agents may do, and what is wrong with that: names that mean nothing, groups that contain each other. */
export async function readPolicies(
  loaded: LoadedConfig,
): Promise<{ policies: readonly AgentPolicy[]; diagnostics: readonly Diagnostic[] }> {
  const { agents, tools } = loaded.config
  const parse = (originOf?: Awaited<ReturnType<typeof explainConfig>>['originOf']): AgentPolicy[] =>
    agents.map((agent, index) => {
      const locate = (keys: readonly (string | number)[]) =>
        originOf?.(keys[0] === 'groups' ? ['tools', ...keys] : ['agents', index, 'tools', ...keys])
      return { agent, ...parsePolicy({ ...agent.tools, groups: tools.groups, knownTools: BUILTIN_TOOLS, locate }) }
    })
  const policies = parse()
  if (policies.every(({ diagnostics }) => diagnostics.length === 0)) return { policies, diagnostics: [] }
  // Places cost a reading of the schema, so they are looked for only when there is something to say.
  const { originOf } = await explainConfig(loaded)
  const found = parse(originOf).flatMap(({ diagnostics }) => diagnostics)
  // What all agents share is told once.
  return { policies, diagnostics: [...new Map(found.map((each) => [JSON.stringify(each), each])).values()] }
}

interface AgentPolicy {
  readonly agent: AgentConfig
  readonly rules: PolicyRules
  readonly diagnostics: readonly Diagnostic[]
}

/** Hot reload, when the program lasts long enough for it and the configuration wants it. */
async function follow(
  runtime: Runtime,
  { skills }: Config,
  { isLongRunning = false, onReload, signal }: LocalOptions,
): Promise<Watcher | undefined> {
  if (!isLongRunning || !skills.load.watch) return undefined
  return runtime.watch({
    debounceMs: skills.load.watchDebounceMs,
    ...(onReload && { onReload }),
    ...(signal && { signal }),
  })
}

async function loadFor(options: LocalOptions, environment: Environment): Promise<LoadedConfig> {
  const loaded = await loadConfig({
    cwd: resolve(options.cwd ?? process.cwd()),
    environment,
    ...(options.configPath !== undefined && { configPath: options.configPath }),
    ...(options.trusted !== undefined && { trusted: options.trusted }),
    ...overridesOf(options),
  })
  if (options.tolerateConfigErrors !== true) assertValid(loaded)
  return loaded
}

/** What the options set, in the form of a file; nothing at all when they set nothing, so that no schema is loaded for it. */
function overridesOf({ sandbox, prompt }: LocalOptions): Pick<LoadConfigOptions, 'overrides'> {
  if (sandbox === undefined && prompt === undefined) return {}
  return {
    overrides: {
      ...(sandbox !== undefined && { execution: { sandbox } }),
      ...(prompt !== undefined && { skills: { prompt } }),
    },
  }
}

/** What the configuration adds to the facts of the target. */
function gateRulesOf(config: Config): NonNullable<Parts['gateRules']> {
  return {
    ...entryRules(config),
    disabledSkills: config.skills.disabledSkills,
    configTruthy: (path) => configTruthy(config, path),
  }
}

/** How the configuration wants commands run. */
export function sandboxOptions({ config, nexusHome, stateDirectory }: LoadedConfig): SandboxOptions {
  const { sandbox: kind, uidBase, limits, workspace } = config.execution
  const { mode, maxFiles, maxBytes } = workspace
  if (kind === 'none') return { kind, projectId: DEFAULT_PROJECT }
  return {
    kind,
    projectId: DEFAULT_PROJECT,
    nexusHome,
    limits,
    workspaceMode: mode,
    mirror: { ...(maxFiles !== undefined && { maxFiles }), ...(maxBytes !== undefined && { maxBytes }) },
    // Root keeps to the sandbox's own default: what another user must read cannot lie in root's home.
    ...(process.getuid?.() !== 0 && { stateDir: join(stateDirectory, 'sandbox') }),
    ...(uidBase !== undefined && { uidBase }),
  }
}

function sourcesOf(loaded: LoadedConfig, environment: Environment, options: LocalOptions): Parts['sources'] {
  const { config, workspace, nexusHome } = loaded
  return createStandardSources({
    workspace: workspace.directory,
    workspaceTrusted: workspace.trusted,
    home: environment.home,
    nexusHome,
    bundledDir: join(packageRoot(), 'skills'),
    extraDirs: [
      ...config.skills.load.extraDirs,
      ...config.skills.skillDirs,
      ...(options.skillsDirs ?? []).map((path) => resolve(path)),
    ],
    localSources: config.skills.sources.flatMap((source) =>
      source.type === 'local' ? [{ path: source.path, nested: source.nested ?? false }] : [],
    ),
  })
}

/** The SQLite file of this machine's state. */
export function stateFile(environment: Environment): string {
  return join(environment.stateDirectory, 'nexus.db')
}

/** The directory that holds this package's package.json, whether run from source, from `dist` or from a bundle. */
export function packageRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(directory, 'package.json')) && dirname(directory) !== directory)
    directory = dirname(directory)
  return directory
}
