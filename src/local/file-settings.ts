/** file-settings: what the configuration and this machine say about tools that work on files. */
import { realPath } from '../config/index.ts'
import { isJsonObject, type JsonObject, ownValue } from '../kernel/index.ts'
import type { FileSettings } from '../tools/index.ts'
import { type AlsoUsed, protectedPaths } from './protected-paths.ts'
import type { Settings } from './settings.ts'

/** Beside what commands may not change either: the home and the state of Nexus, which no tool reads. */
export function fileSettings(
  { loaded, environment }: Pick<Settings, 'loaded' | 'environment'>,
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
    ...(config.execution.sandbox !== 'none' && { maxUndoBytes: config.execution.changes.maxBytes }),
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
