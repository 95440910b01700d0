import { realpath } from 'node:fs/promises'
import {
  assertValid,
  type Environment,
  type LoadedConfig,
  loadConfig,
  openSecrets,
  type Secrets,
} from '../config/index.ts'
import { DEFAULT_PROJECT, NexusError } from '../kernel/index.ts'
import { runSecretCommand } from '../sandbox/index.ts'
import { openStore, POSTGRES_MESSAGES, type Store, type StoreChoice } from '../store/index.ts'
import { stateFile } from './settings.ts'

interface Configured {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly secrets?: Secrets
}

/** The store that the configuration chooses; a command that gives the url is run. Throws STORE_FAILED. */
export async function storeChoice({ loaded, environment, secrets }: Configured): Promise<StoreChoice> {
  const { type, path, hasUrl, pool } = loaded.config.store
  if (type !== 'postgres' && hasUrl) throw failure(POSTGRES_MESSAGES.urlUnused({ type }))
  if (type === 'memory') return { type }
  if (type === 'sqlite') return { type, path: path ?? stateFile(environment) }
  const url = await (secrets ?? openSecrets(loaded, { run: runSecretCommand, environment })).read(['store', 'url'])
  if (url === undefined) throw failure(POSTGRES_MESSAGES.noUrl())
  return { type, url, pool }
}

/**
 * Opens the store that the configuration around `cwd` chooses, for commands that need nothing else of it.
 * Throws CONFIG_INVALID when the configuration has errors: another store than the chosen one would show other sessions.
 */
export async function openConfiguredStore(where: {
  readonly cwd: string
  readonly environment: Environment
}): Promise<{ readonly store: Store; readonly scope: string }> {
  const loaded = await loadConfig(where)
  assertValid(loaded)
  const store = await openStore(await storeChoice({ loaded, environment: where.environment }), DEFAULT_PROJECT)
  return { store, scope: await scopeOf(loaded.workspace.directory) }
}

/** Where answers and sessions of a workspace belong: one place, whichever link leads to it. */
export async function scopeOf(workspace: string): Promise<string> {
  return realpath(workspace).catch(() => workspace)
}

function failure({ message, fix }: { readonly message: string; readonly fix: string }): NexusError {
  return new NexusError('STORE_FAILED', message, { fix })
}
