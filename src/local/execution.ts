/** execution: what the configuration and this machine say about commands: limits, refused words, where to change them. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Environment } from '../config/index.ts'
import { isJsonObject, ownValue } from '../kernel/index.ts'
import { proxySettings } from '../machine/net/index.ts'
import { SYSTEM_CERTIFICATES } from '../machine/sandbox/index.ts'
import type { ExecutionSettings } from '../tools/index.ts'
import { networkOf } from './tool-settings.ts'
import type { Settings } from './settings.ts'

export function executionSettings({
  loaded,
  environment,
  isOffline,
}: Pick<Settings, 'loaded' | 'environment' | 'isOffline'>): ExecutionSettings {
  const { config, nexusHome, workspace, files } = loaded
  const own = join(workspace.directory, 'nexus.yaml')
  const file = workspace.trusted && files.includes(own) ? own : join(nexusHome, 'nexus.yaml')
  return {
    timeoutMs: config.execution.timeoutMs,
    maxOutputBytes: config.execution.maxOutputBytes,
    settingsFile: short(file, environment.get('HOME')),
    findOnHost: (program) => findIn(environment.get('PATH') ?? '', program),
    allowedCommands: listOf(config.tools.settings, 'allowed'),
    blockedCommands: listOf(config.tools.settings, 'blocked'),
    blockedPatterns: listOf(config.tools.settings, 'blockedPatterns'),
    network: {
      ...networkOf(config.execution.network),
      isClosed: isOffline,
      certificates: certificatesIn(environment),
      net: { proxy: proxySettings({ ...proxyVariables(environment) }) },
    },
  }
}

/** `SSL_CERT_FILE` replaces the certificates of the system, `NODE_EXTRA_CA_CERTS` adds to them. */
function certificatesIn(environment: Environment): readonly string[] | undefined {
  const all = environment.get('SSL_CERT_FILE')
  const more = environment.get('NODE_EXTRA_CA_CERTS')
  if (all && existsSync(all)) return [all]
  const system = SYSTEM_CERTIFICATES.filter((file) => existsSync(file)).slice(0, 1)
  return more && existsSync(more) ? [...system, more] : undefined
}

const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

function proxyVariables(environment: Environment): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(PROXY_VARIABLES.map((name) => [name, environment.get(name)]))
}

/** A list of `tools.run_command`; the schema has checked that its items are texts. */
function listOf(
  settings: Settings['loaded']['config']['tools']['settings'],
  key: string,
): readonly string[] | undefined {
  const tool = ownValue(settings, 'run_command')
  const list = isJsonObject(tool) ? ownValue(tool, key) : undefined
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : undefined
}

function short(path: string, home: string | undefined): string {
  return home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** The first executable file of that name on a PATH. */
function findIn(path: string, program: string): string | undefined {
  if (!/^[\w.+-]+$/.test(program)) return undefined
  return path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return statSync(file).isFile()
      } catch {
        // Not in this directory.
        return false
      }
    })
}
