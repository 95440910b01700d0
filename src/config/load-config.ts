import { dirname, join, resolve } from 'node:path'
import { type Diagnostic, type JsonObject, NexusError, toSafeLine } from '../kernel/index.ts'
import type { LoadedConfig } from './config.ts'
import type { Environment } from './environment.ts'
import { expandHome, namedPlace, wrongHome } from './home.ts'
import type { Built, Input } from './layers/build-layers.ts'
import { type FilesRead, type FileToRead, readFiles } from './read-files.ts'
import type { ConfigDocument } from './schema/schema.ts'
import { brokenBelow, stillUnset, toConfig } from './to-config.ts'
import { listTrusted, type TrustedWorkspace, type TrustList } from './trust.ts'
import { describeChange } from './trusted-content.ts'
import { findWorkspace, holdsNexusHome } from './workspace.ts'

export interface LoadConfigOptions {
  /** Where to look for the workspace. */
  readonly cwd: string
  readonly environment: Environment
  /** One more file, read after the workspace's; default `NEXUS_CONFIG`. Whoever names it trusts it. */
  readonly configPath?: string
  /** Settings of the command line, in the form of a file; they weigh most. Paths are relative to `cwd`. */
  readonly overrides?: ConfigDocument
  /** Whether the workspace is trusted, for this run; default what `nexus trust` remembers. */
  readonly trusted?: boolean
}

const ON = ['1', 'true', 'yes', 'y', 'on']

/**
 * Reads the user's, the workspace's and the named nexus.yaml, and lays them over each other. Faults in files are
 * diagnostics and what they touch is left out: whoever acts on the config first calls `assertValid`. No command is run.
 * Throws only CONFIG_INVALID: when the file named by `configPath` or NEXUS_CONFIG cannot be read, or nobody says where the user's
 * directory is.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { environment } = options
  const found = findWorkspace(options.cwd, environment)
  const homeIsWorkspace = holdsNexusHome(found, environment)
  const trust = homeIsWorkspace ? noTrust(environment, found.directory) : await listTrusted(environment.nexusHome)
  const entry = trust.workspaces.find(({ directory }) => directory === found.directory)
  const trusted = options.trusted ?? entry !== undefined
  const read = readFiles(filesToRead(options, found.directory, { trusted, homeIsWorkspace }))
  const changed = options.trusted === undefined && entry ? findChange(read, entry) : undefined
  const inputs: Input[] = read.files.map(({ path, text, isTrusted, isWorkspace }) => ({
    path,
    content: text,
    directory: dirname(path),
    isTrusted: isTrusted && !(isWorkspace && changed),
    isWorkspace,
  }))
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
    config: toConfig(built.document, unset),
    diagnostics: [
      ...trust.diagnostics,
      ...(changed ? [changed] : []),
      ...read.diagnostics,
      ...(homeIsWorkspace ? built.diagnostics.map(withOwnHome) : built.diagnostics),
      ...settings.diagnostics,
    ],
    workspace: Object.freeze({ ...found, trusted }),
    broken: brokenBelow([], unset),
    homeIsWorkspace,
    nexusHome: environment.nexusHome,
    stateDirectory: environment.stateDirectory,
    files: read.paths,
    secrets,
    layers: built.layers,
    textOf: (path: string) => read.files.find((file) => file.path === path)?.text,
  })
}

/** YAML, the schema and all that goes with them are loaded when there is something to read: most commands find no file. */
async function build(inputs: readonly Input[], settings: ConfigDocument, environment: Environment): Promise<Built> {
  if (inputs.length > 0)
    return (await import('./layers/build-layers.ts')).buildLayers(inputs, { environment, settings })
  const layers = [{ path: 'environment', document: settings as JsonObject }]
  return { document: settings, layers, diagnostics: [], secrets: new Set(), unset: [] }
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
  throw new NexusError(
    'CONFIG_INVALID',
    `The configuration has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}:\n${lines.join('\n')}`,
    { fix: 'Correct the file; nexus config check shows all findings.' },
  )
}

/** Whether the workspace's file is another than the one that was trusted. One that cannot be read is reported by the reader. */
function findChange({ files, absent }: FilesRead, entry: TrustedWorkspace): Diagnostic | undefined {
  const file = [...files, ...absent].find(
    ({ path, isWorkspace }) => isWorkspace && path === join(entry.directory, 'nexus.yaml'),
  )
  const now = files.find((each) => each === file)?.bytes
  return file && describeChange(file.path, { trusted: entry.config, now })
}

const OWN_HOME_FIX = 'Set HOME, or NEXUS_HOME, to a directory of yours outside of the workspace.'

/** Neither trust nor a file of the user's own helps before there is a home of their own. */
function withOwnHome(found: Diagnostic): Diagnostic {
  if (found.code !== 'config-untrusted' && found.code !== 'config-user-only') return found
  return { ...found, fix: found.fix === undefined ? OWN_HOME_FIX : `${OWN_HOME_FIX} Then: ${found.fix}` }
}

/** A workspace that holds the list of trusted ones could put itself into it. */
function noTrust({ nexusHome }: Environment, workspace: string): TrustList {
  const message = `HOME puts your Nexus directory into the workspace ${toSafeLine(workspace)}, which may not speak for you: what is in it counts like the rest of the workspace.`
  const fix = OWN_HOME_FIX
  return {
    workspaces: [],
    diagnostics: [{ code: 'environment-home-in-workspace', severity: 'warning', message, path: nexusHome, fix }],
  }
}

/** In the order of their weight. */
function filesToRead(
  options: LoadConfigOptions,
  workspace: string,
  { trusted, homeIsWorkspace }: { readonly trusted: boolean; readonly homeIsWorkspace: boolean },
): FileToRead[] {
  const { environment, cwd } = options
  const { get } = environment
  const configPath = options.configPath ?? namedPlace('NEXUS_CONFIG', { get, places: environment })
  const files: FileToRead[] = [
    {
      path: join(environment.nexusHome, 'nexus.yaml'),
      isRequired: false,
      isTrusted: trusted || !homeIsWorkspace,
      isWorkspace: homeIsWorkspace,
    },
    { path: join(workspace, 'nexus.yaml'), isRequired: false, isTrusted: trusted, isWorkspace: true },
  ]
  if (configPath !== undefined)
    files.push({
      path: resolve(cwd, expandHome(configPath, environment.home)),
      isRequired: true,
      isTrusted: true,
      isWorkspace: false,
    })
  return files
}

/** What variables say, in the form of a file: it weighs least. */
function readSettings(environment: Environment): { document: ConfigDocument; diagnostics: readonly Diagnostic[] } {
  const budget = environment.skillsPromptCharBudget?.trim()
  const refresh = environment.skillsRefreshOnCall?.trim().toLowerCase()
  const isNumber = budget !== undefined && /^\d{1,9}$/.test(budget)
  const diagnostics: Diagnostic[] = []
  const home = wrongHome(environment.get)
  if (home !== undefined) {
    const message = `${home} is no absolute path; it is ignored, and ~ is ${toSafeLine(environment.home)}.`
    const fix = `Set ${home} to your home directory, by its absolute path.`
    diagnostics.push({ code: 'environment-wrong-value', severity: 'warning', message, path: 'environment', fix })
  }
  if (budget !== undefined && !isNumber) {
    const message = 'SKILLS_PROMPT_CHAR_BUDGET must be a whole number; it is ignored.'
    const fix = 'Set it to a number such as 12000.'
    diagnostics.push({ code: 'environment-wrong-value', severity: 'warning', message, path: 'environment', fix })
  }
  const skills = {
    ...(isNumber && { prompt: { budgetChars: Number(budget) } }),
    ...(refresh !== undefined && { refreshOnCall: ON.includes(refresh) }),
  }
  return { document: Object.keys(skills).length > 0 ? { skills } : {}, diagnostics }
}
