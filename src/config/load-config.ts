import { dirname, join, resolve } from 'node:path'
import { commandFix, type Diagnostic, type JsonObject, NexusError, toSafeLine } from '../kernel/index.ts'
import { refuseForeign, refuseOwner } from './accounts.ts'
import type { LoadedConfig } from './config.ts'
import type { Environment } from './environment.ts'
import { expandHome, namedPlace, realPath, wrongHome } from './home.ts'
import type { Built, Input } from './layers/build-layers.ts'
import { unreadableFile } from './messages.ts'
import { isProfilePath, MAX_PROFILES, profilesIn } from './profiles.ts'
import { type FilesRead, type FileToRead, readFiles } from './read-files.ts'
import type { ConfigDocument } from './schema/schema.ts'
import { brokenBelow, stillUnset, toConfig, withoutFile } from './to-config.ts'
import { findStrayFiles } from './stray-files.ts'
import { listTrusted, nameInWorkspace, type TrustedWorkspace, type TrustList } from './trust.ts'
import { findWorkspace, holdsNexusHome, isInside } from './workspace.ts'

export interface LoadConfigOptions {
  /** Where to look for the workspace. */
  readonly cwd: string
  readonly environment: Environment
  /** One more file, read after the workspace's; default `NEXUS_CONFIG`. It is trusted unless it is inside the workspace. */
  readonly configPath?: string
  /** Settings of the command line, in the form of a file; they weigh most. Paths are relative to `cwd`. */
  readonly overrides?: ConfigDocument
  /** Whether the workspace is trusted, for this run; default what `nexus trust` remembers. */
  readonly trusted?: boolean
  /** For root: use a workspace and settings that belong to another account; default what `environment.caller` says. */
  readonly asRoot?: boolean
}

const ON = ['1', 'true', 'yes', 'y', 'on']

/**
 * Reads the user's, the workspace's and the named nexus.yaml, and lays them over each other. Faults in files are
 * diagnostics and what they touch is left out: a caller that acts on the config first calls `assertValid`. No command is run.
 * Throws only CONFIG_INVALID, when the file named by `configPath` or NEXUS_CONFIG cannot be read, or the user's directory is
 * unknown, and FOREIGN_OWNER.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { environment } = options
  const found = findWorkspace(options.cwd, environment)
  const { caller, get } = environment
  const asked = { get, caller: { ...caller, asRoot: options.asRoot ?? caller.asRoot ?? false } }
  refuseForeign([found.directory, join(found.directory, '.nexus'), environment.nexusHome], asked)
  const homeIsWorkspace = holdsNexusHome(found, environment)
  const trust = homeIsWorkspace ? noTrust(environment, found.directory) : await listTrusted(environment.nexusHome)
  const entry = trust.workspaces.find(({ directory }) => directory === found.directory)
  const trusted = options.trusted ?? entry !== undefined
  const read = readFiles(filesToRead(options, found.directory, { trusted, homeIsWorkspace }))
  for (const file of read.files) refuseOwner(file, asked)
  const recordedIn = options.trusted === undefined ? entry : undefined
  const inputs: Input[] = read.files.map(({ path, text, isTrusted, isWorkspace, isProfile = false }) => {
    const recorded = recordedIn && isWorkspace ? recordOf(recordedIn, path) : undefined
    // Paths in a profile start where those of the nexus.yaml beside it start.
    const beside = isWorkspace ? found.directory : environment.nexusHome
    const directory = isProfile ? beside : dirname(path)
    return { path, content: text, directory, isTrusted, isWorkspace, isProfile, recorded }
  })
  if (options.overrides) {
    const directory = resolve(options.cwd)
    inputs.push({ path: 'command line', content: options.overrides, directory, isTrusted: true, isWorkspace: false })
  }
  const settings = readSettings(environment)
  const built = await build(inputs, settings.document, environment)
  const unset = stillUnset(built.document, built.unset)
  const keys = [environment.openaiApiKey, environment.anthropicApiKey].filter((key) => key !== undefined)
  const secrets = [...new Set([...keys, ...built.secrets])]
  return Object.freeze({
    config: toConfig({ ...built, unset }),
    diagnostics: [
      ...trust.diagnostics,
      ...(recordedIn ? findGone(recordedIn, read) : []),
      ...read.diagnostics,
      ...findTooMany([join(environment.nexusHome, 'agents'), join(found.directory, '.nexus', 'agents')]),
      ...findStrayFiles(found, { cwd: options.cwd, nexusHome: environment.nexusHome, read: read.paths }),
      ...(homeIsWorkspace ? built.diagnostics.map(withOwnHome) : built.diagnostics),
      ...settings.diagnostics,
    ],
    workspace: Object.freeze({
      ...found,
      trusted: trusted && built.lost.length === 0,
      files: read.files.filter(({ isWorkspace }) => isWorkspace).map(({ path }) => path),
      lost: [...new Set(built.lost)],
    }),
    broken: brokenBelow([], unset),
    homeIsWorkspace,
    nexusHome: environment.nexusHome,
    stateDirectory: environment.stateDirectory,
    files: read.paths,
    secrets,
    layers: built.layers,
    variable: environment.get,
    textOf: (path: string) => read.files.find((file) => file.path === path)?.text,
  })
}

/** YAML, the schema and all that goes with them are loaded when there is something to read: most commands find no file. */
async function build(inputs: readonly Input[], settings: ConfigDocument, environment: Environment): Promise<Built> {
  if (inputs.length > 0)
    return (await import('./layers/build-layers.ts')).buildLayers(inputs, { environment, settings })
  const layers = [{ path: 'environment', document: settings as JsonObject }]
  return {
    document: settings,
    settings: withoutFile(settings),
    layers,
    diagnostics: [],
    secrets: new Set(),
    unset: [],
    lost: [],
  }
}

/**
 * Returns the configuration when no file has an error. Else throws CONFIG_INVALID with every error and its place:
 * a deny list that could not be read must not become "allowed".
 */
export function assertValid(loaded: LoadedConfig): LoadedConfig['config'] {
  const errors = loaded.diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  if (errors.length === 0) return loaded.config
  const lines = errors.map(
    ({ path, line, column, message, fix }) =>
      `  ${path}${line === undefined ? '' : `:${line}:${column}`} ${message}${fix === undefined ? '' : ` ${fix}`}`,
  )
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors`
  const words = commandFix('Correct the file. To see every finding, run:', 'config', 'check')
  throw new NexusError('CONFIG_INVALID', `The configuration has ${count}:\n${lines.join('\n')}`, words)
}

function recordOf({ directory, files }: TrustedWorkspace, path: string): Input['recorded'] {
  const name = nameInWorkspace(directory, path)
  const argument = name === 'nexus.yaml' || isProfilePath(path) ? undefined : ['--config', path]
  return { settings: files[name] ?? {}, argument }
}

/** A trusted file that is gone takes its stricter settings with it. */
function findGone({ directory, files }: TrustedWorkspace, { absent }: FilesRead): Diagnostic[] {
  const path = join(directory, 'nexus.yaml')
  if (files['nexus.yaml'] === undefined || !absent.some((file) => file.path === path)) return []
  const code = 'config-changed-since-trust'
  const message =
    'The nexus.yaml of this workspace is gone since you trusted it. None of its settings applies any more.'
  const words = commandFix('Restore the file, or run:', 'trust')
  return [{ severity: 'warning', path, subject: 'nexus.yaml', code, message, ...words }]
}

const OWN_HOME = 'Set HOME or NEXUS_HOME to a directory of yours outside the workspace.'

/** Trust helps only after there is a home of the user's own. */
function withOwnHome(found: Diagnostic): Diagnostic {
  if (found.code !== 'config-untrusted' && found.code !== 'config-user-only') return found
  const { proposal: _, ...rest } = found
  return { ...rest, fix: found.fix === undefined ? OWN_HOME : `${OWN_HOME} Then: ${found.fix}` }
}

/** A workspace that holds the list of trusted ones could put itself into it. */
function noTrust({ nexusHome, get }: Environment, workspace: string): TrustList {
  const variable = get('NEXUS_HOME') === undefined ? 'HOME' : 'NEXUS_HOME'
  const code = 'environment-home-in-workspace'
  const message = `Nexus treats your Nexus directory as a part of the workspace ${toSafeLine(workspace)}: ${variable} leads into it.`
  return { workspaces: [], diagnostics: [{ severity: 'warning', path: nexusHome, code, message, fix: OWN_HOME }] }
}

/** In the order of their weight. */
function filesToRead(
  options: LoadConfigOptions,
  workspace: string,
  { trusted, homeIsWorkspace }: { readonly trusted: boolean; readonly homeIsWorkspace: boolean },
): FileToRead[] {
  const { environment, cwd } = options
  const { get } = environment
  const isUsersHome = { isTrusted: trusted || !homeIsWorkspace, isWorkspace: homeIsWorkspace }
  const named = options.configPath ?? namedPlace('NEXUS_CONFIG', { get, places: environment })
  const files: FileToRead[] = [
    { path: join(environment.nexusHome, 'nexus.yaml'), isRequired: false, ...isUsersHome },
    ...profiles(join(environment.nexusHome, 'agents'), isUsersHome),
    {
      path: join(workspace, 'nexus.yaml'),
      isRequired: false,
      isTrusted: trusted,
      isWorkspace: true,
      within: workspace,
    },
    ...profiles(join(workspace, '.nexus', 'agents'), { isTrusted: trusted, isWorkspace: true, within: workspace }),
  ]
  if (named === undefined) return files
  const path = resolve(cwd, expandHome(named, environment.home))
  // The user's own file stays theirs where they work in their home directory.
  const isUsers = realPath(path) === realPath(join(environment.nexusHome, 'nexus.yaml')) && !homeIsWorkspace
  const isWorkspace = !isUsers && isInside(workspace, realPath(path))
  return [
    ...files,
    { path, isRequired: true, isTrusted: trusted || !isWorkspace, isWorkspace, isProfile: isProfilePath(path) },
  ]
}

function profiles(directory: string, of: Omit<FileToRead, 'path' | 'isRequired' | 'isProfile'>): FileToRead[] {
  return profilesIn(directory).paths.map((path) => ({ path, isRequired: false, isProfile: true, ...of }))
}

/** Directories with more profiles than are read. */
function findTooMany(directories: readonly string[]): Diagnostic[] {
  return directories
    .filter((directory) => profilesIn(directory).hasMore)
    .map((path) => ({ severity: 'error', path, ...unreadableFile(`it has more than ${MAX_PROFILES} profiles`) }))
}

function ignoredVariable(name: string, why: string, fix: string): Diagnostic {
  const message = `Nexus ignores the variable ${name}. ${why}`
  return { severity: 'warning', path: 'environment', code: 'environment-wrong-value', message, fix }
}

/** The settings of variables, in the form of a file; every file overrides them. */
function readSettings(environment: Environment): { document: ConfigDocument; diagnostics: readonly Diagnostic[] } {
  const budget = environment.skillsPromptCharBudget?.trim()
  const refresh = environment.skillsRefreshOnCall?.trim().toLowerCase()
  const isNumber = budget !== undefined && /^\d{1,9}$/.test(budget)
  const diagnostics: Diagnostic[] = []
  const home = wrongHome(environment.get)
  if (home !== undefined) {
    const why = `It is not an absolute path. Nexus uses ${toSafeLine(environment.home)} as your home directory.`
    const fix = `Set ${home} to the absolute path of your home directory.`
    diagnostics.push(ignoredVariable(home, why, fix))
  }
  if (budget !== undefined && !isNumber) {
    const fix = 'Set it to a number, such as: SKILLS_PROMPT_CHAR_BUDGET=12000'
    diagnostics.push(ignoredVariable('SKILLS_PROMPT_CHAR_BUDGET', 'It must be a whole number.', fix))
  }
  const skills = {
    ...(isNumber && { prompt: { budgetChars: Number(budget) } }),
    ...(refresh !== undefined && { refreshOnCall: ON.includes(refresh) }),
  }
  return { document: Object.keys(skills).length > 0 ? { skills } : {}, diagnostics }
}
