/** The configuration of this machine, in the terms of the pipeline: where to look, what to gate by, where to run. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { type Catalog, everyCopy } from '../skills/catalog/index.ts'
import {
  assertValid,
  type Config,
  configTruthy,
  type Environment,
  loadConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  readEnvironment,
} from '../config/index.ts'
import { entryRules } from './entries.ts'
import { WORKSPACE } from './messages.ts'
import { packageRoot } from './package-root.ts'
import { type AlsoUsed, protectedPaths, sandboxState, skillRoots } from './protected-paths.ts'
import { networkOf } from './tool-settings.ts'
import type { GateRules } from '../skills/gate/index.ts'
import { DEFAULT_PROJECT, NexusError, toSafeLine } from '../kernel/index.ts'
import type { SandboxOptions } from '../machine/sandbox/index.ts'
import { createStandardSources, type NamedDirectory, type SkillSource } from '../skills/sources/index.ts'

/** How the configuration is found and read. */
export interface SettingsOptions {
  /** Where to look for the workspace; default the working directory. */
  readonly cwd?: string
  /** Read once from the process when absent. */
  readonly environment?: Environment
  /** One more nexus.yaml, read after the user's and the workspace's. */
  readonly configPath?: string
  /** More directories with skills, added to the lowest tier. They count as trusted: the caller named them. */
  readonly skillsDirs?: readonly string[]
  /** Trust the workspace for this run. Without trust, no command runs beside skills of the workspace. */
  readonly trusted?: boolean
  /** For root: use a workspace and settings that belong to another account. Default false. */
  readonly asRoot?: boolean
  /**
   * Go on although the configuration has errors, which are then in `diagnostics`. Only for programs that look and run
   * nothing: a deny list that could not be read would mean "allowed". Default false.
   */
  readonly tolerateConfigErrors?: boolean
  /** Overrides `execution.sandbox`. */
  readonly sandbox?: 'local' | 'none'
  /** Hosts that commands may reach besides those of the settings; false: none at all. */
  readonly network?: readonly string[] | false
  /** Overrides `skills.prompt`, key by key. */
  readonly prompt?: Partial<Config['skills']['prompt']>
}

/** The configuration, and what it means to the pipeline. */
export interface Settings {
  readonly environment: Environment
  readonly loaded: LoadedConfig
  /** `--no-network`: commands reach nothing, whatever the configuration says. */
  readonly isOffline: boolean
  /** Where skills are looked for, in order of precedence. */
  readonly sources: readonly SkillSource[]
  readonly gateRules: Omit<GateRules, 'allowList'>
}

/**
 * Throws CONFIG_INVALID when the configuration has errors, or a nexus.yaml named by the caller cannot be read, FILE_NOT_FOUND when `cwd` is
 * not a directory, and FOREIGN_OWNER.
 */
export async function readSettings(options: SettingsOptions): Promise<Settings> {
  const environment = options.environment ?? readEnvironment()
  const cwd = resolve(options.cwd ?? process.cwd())
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    const { message, fix } = WORKSPACE.noDirectory({ path: toSafeLine(cwd) })
    throw new NexusError('FILE_NOT_FOUND', message, { fix })
  }
  const loaded = await loadConfig({
    cwd,
    environment,
    configPath: options.configPath,
    trusted: options.trusted,
    asRoot: options.asRoot,
    ...overridesOf(options),
  })
  if (options.tolerateConfigErrors !== true) assertValid(loaded)
  return {
    environment,
    loaded,
    isOffline: options.network === false,
    sources: (await sourcesOf(loaded, environment, options.skillsDirs ?? [])).map((source) =>
      afterRecovery(source, loaded),
    ),
    gateRules: gateRulesOf(loaded, options.network === false),
  }
}

/** The settings of the options, in the form of a file; nothing at all when they set nothing, so that no schema is loaded for it. */
function overridesOf({ sandbox, prompt, network }: SettingsOptions): Pick<LoadConfigOptions, 'overrides'> {
  const hosts = network === false ? undefined : network
  if (sandbox === undefined && prompt === undefined && hosts === undefined) return {}
  return {
    overrides: {
      ...((sandbox !== undefined || hosts !== undefined) && {
        execution: {
          ...(sandbox !== undefined && { sandbox }),
          ...(hosts !== undefined && { network: { allowedDomains: [...hosts] } }),
        },
      }),
      ...(prompt !== undefined && { skills: { prompt } }),
    },
  }
}

/** Facts of the configuration beside those of the target. */
function gateRulesOf({ config, broken }: LoadedConfig, isOffline: boolean): Settings['gateRules'] {
  return {
    ...entryRules(config),
    network: isOffline ? undefined : networkOf(config.execution.network),
    disabledSkills: config.skills.disabled_skills,
    configTruthy: (path) => configTruthy(config, path),
    brokenSetting: (path) => {
      // Without one part of it a source, a server or a model is left out whole.
      const found = broken.find(({ at }) => path === at || path.startsWith(`${at}.`))
      return found && `${found.at} ${found.problem}. ${found.fix}`
    },
  }
}

/** How the configuration wants commands run. */
export function sandboxOptions(loaded: LoadedConfig, used: AlsoUsed = {}): SandboxOptions {
  const { config, nexusHome, stateDirectory } = loaded
  const { sandbox: kind, uidBase, limits, workspace, changes, programs } = config.execution
  const { maxFiles, maxBytes, protected: protectedGlobs, writable } = workspace
  if (kind === 'none') return { kind, projectId: DEFAULT_PROJECT }
  return {
    kind,
    projectId: DEFAULT_PROJECT,
    nexusHome,
    limits,
    skillRoots: skillRoots(loaded, used),
    protectedPaths: protectedPaths(loaded, used),
    protectedGlobs,
    writableNames: writable,
    changes,
    mirror: { maxFiles, maxBytes },
    programs: {
      names: programs,
      home: loaded.variable('HOME') ?? homedir(),
      path: (loaded.variable('PATH') ?? '').split(delimiter).filter((directory) => isAbsolute(directory)),
      variable: loaded.variable,
    },
    stateDir: sandboxState(stateDirectory),
    uidBase,
  }
}

/** Settings that are left out count as skills do: the workspace would be another one with them. */
export function waitsForTrust({ workspace, diagnostics }: LoadedConfig, catalog: Catalog): boolean {
  if (workspace.trusted) return false
  if (workspace.lost.length > 0 || diagnostics.some(({ code }) => code === 'config-untrusted')) return true
  return [...everyCopy(catalog), ...catalog.invalid].some(({ origin }) => !origin.trusted)
}

/** The hash of what this build was made of; undefined when Nexus runs from its source. */
function buildVersion(): string | undefined {
  try {
    return readFileSync(join(import.meta.dirname, '../.stamp'), 'utf8')
  } catch {
    return undefined
  }
}

async function sourcesOf(
  loaded: LoadedConfig,
  environment: Environment,
  skillsDirs: readonly string[],
): Promise<SkillSource[]> {
  const { config, workspace, nexusHome, homeIsWorkspace } = loaded
  return createStandardSources({
    workspace: workspace.directory,
    workspaceTrusted: workspace.trusted,
    homeTrusted: workspace.trusted || !homeIsWorkspace,
    version: homeIsWorkspace ? undefined : buildVersion(),
    home: environment.home,
    nexusHome,
    bundledDir: join(packageRoot(), 'skills'),
    extraDirs: [
      ...config.skills.load.extraDirs,
      ...config.skills.skill_dirs,
      ...skillsDirs.map((path) => resolve(path)),
    ],
    localSources: await foldersOf(loaded),
  })
}

/** The folders of the configured sources, in order. The copies of a git source may not be fetched yet. */
async function foldersOf(loaded: LoadedConfig): Promise<NamedDirectory[]> {
  const { sources } = loaded.config.skills
  const ofGit = sources.some(({ type }) => type === 'git') ? (await import('./git-sources.ts')).gitSources(loaded) : []
  let next = 0
  return sources.flatMap((source): NamedDirectory[] => {
    if (source.type === 'local') return [{ path: source.path, nested: source.nested ?? false }]
    const git = source.type === 'git' ? ofGit[next++] : undefined
    return git ? [{ path: join(git.scope.root, 'skills'), id: idOf(git.source.url), required: false }] : []
  })
}

function idOf(url: string): string {
  const name = url
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .replace(/^.*[/:]/, '')
  return `git:${/^[\w.-]{1,40}$/.test(name) ? name : 'source'}`
}

/** Ends an install that a killed process left, before the skills are looked for. Without one it costs the listing of a directory. */
function afterRecovery(source: SkillSource, loaded: LoadedConfig): SkillSource {
  if (source.id !== 'workspace' && source.id !== 'local' && !source.id.startsWith('git:')) return source
  return {
    ...source,
    async discover(signal) {
      if (isInstalling(loaded.stateDirectory)) await (await import('./git-sources.ts')).recoverInstalls(loaded)
      return source.discover(signal)
    },
  }
}

function isInstalling(stateDirectory: string): boolean {
  try {
    return readdirSync(join(stateDirectory, 'install')).some((name) => name.endsWith('.journal'))
  } catch {
    // Nothing was ever installed by this user.
    return false
  }
}

/** The SQLite file of this machine's state. */
export function stateFile(environment: Environment): string {
  return join(environment.stateDirectory, 'nexus.db')
}
