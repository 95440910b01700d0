/** tool-settings: what the configuration and this machine say about tools: which there are, and what they may read and reach. */
import { type Config, type Environment, type LoadedConfig, realPath, type Secrets } from '../config/index.ts'
import { type HostRule, isJsonObject, type JsonObject, ownValue, readHostRules } from '../kernel/index.ts'
import type { FileSettings, WebSettings } from '../tools/index.ts'
import { type AlsoUsed, protectedPaths } from './protected-paths.ts'

/** Source: seed 002, "Built-in Skills". */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  web_search: ['web_search', 'web_fetch'],
  file_ops: ['read_file', 'write_file', 'edit_file', 'list_directory'],
  shell: ['run_command'],
}

/** Tools of the groups that a configuration with `skills.builtin` does not name; tools of no group are always there. */
export function leftOutBuiltins({ skills: { builtin } }: Pick<Config, 'skills'>): readonly string[] {
  if (builtin === undefined) return []
  return Object.entries(GROUPS).flatMap(([group, tools]) => (builtin.includes(group) ? [] : tools))
}

/** Beside what commands may not change either: the home and the state of Nexus, which no tool reads. */
export function fileSettings(
  { loaded, environment }: { readonly loaded: LoadedConfig; readonly environment: Environment },
  used: AlsoUsed = {},
): FileSettings {
  const { config, nexusHome, stateDirectory, workspace } = loaded
  const holdsWorkspace = (path: string): boolean => `${workspace.directory}/`.startsWith(`${path}/`)
  return {
    home: environment.home,
    protectedPaths: protectedPaths(loaded, used),
    protectedGlobs: config.execution.workspace.protected,
    writableNames: config.execution.workspace.writable,
    // Without a sandbox there are no change sets.
    maxUndoBytes: config.execution.sandbox === 'none' ? undefined : config.execution.changes.maxBytes,
    ...ofTool(config.tools.settings),
    privatePaths: [nexusHome, stateDirectory].map(realPath).filter((path) => !holdsWorkspace(path)),
  }
}

/** `tools.file_ops`, whose form the schema has checked. Source: seed 002, `allowed_extensions`. */
function ofTool(settings: JsonObject): Pick<FileSettings, 'allowedExtensions' | 'maxReadBytes'> {
  const tool = ownValue(settings, 'file_ops')
  if (!isJsonObject(tool)) return {}
  const [extensions, maxReadBytes] = [ownValue(tool, 'allowedExtensions'), ownValue(tool, 'maxReadBytes')]
  return {
    allowedExtensions: Array.isArray(extensions) ? extensions.filter((item) => typeof item === 'string') : undefined,
    maxReadBytes: typeof maxReadBytes === 'number' ? maxReadBytes : undefined,
  }
}

export function networkOf({ allowedDomains, deniedDomains }: Config['execution']['network']): {
  readonly allowed: readonly HostRule[]
  readonly denied: readonly HostRule[]
} {
  return { allowed: readHostRules(allowedDomains), denied: readHostRules(deniedDomains) }
}

/** Without what the service needs there is none; the configuration has a finding about that. */
export function webSettings({ search }: Pick<Config, 'search'>, secrets: Pick<Secrets, 'read'>): WebSettings {
  const { provider, hasApiKey, ...service } = search
  if (provider === undefined || (provider === 'brave' ? !hasApiKey : service.url === undefined)) return {}
  // The signal of one call must not end the reading that others wait for as well; it has a time limit of its own.
  const apiKey = (): Promise<string | undefined> => secrets.read(['search', 'apiKey'])
  return { search: { provider, ...service, apiKey: hasApiKey ? apiKey : undefined } }
}
