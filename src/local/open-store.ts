import { realpath } from 'node:fs/promises'
import {
  assertValid,
  type Config,
  type Environment,
  type LoadedConfig,
  loadConfig,
  openSecrets,
  type Secrets,
} from '../config/index.ts'
import { join } from 'node:path'
import { DEFAULT_PROJECT, NexusError, sha256 } from '../kernel/index.ts'
import { runSecretCommand } from '../machine/host/index.ts'
import {
  type Blobs,
  openBlobFiles,
  openDatabase,
  POSTGRES_MESSAGES,
  type Store,
  type StoreChoice,
  storeStatus,
} from '../store/index.ts'
import { countUses } from '../runtime/index.ts'
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

/** The store of a project in the database that the configuration chooses, and the bytes that its rows refer to. */
export interface State {
  readonly store: Store
  readonly blobs: Blobs | undefined
  /** Closes the database too. */
  close(): Promise<void>
}

/** Opens the database that the configuration chooses. Throws STORE_FAILED. */
export async function openState(configured: Configured): Promise<State> {
  const choice = await storeChoice(configured)
  const database = await openDatabase(choice)
  const store = database.project(DEFAULT_PROJECT)
  const close = async (): Promise<void> => {
    await store.close()
    await database.close()
  }
  return { store, blobs: await openBlobs(choice, store, configured.environment), close }
}

/**
 * Where the bytes of saved output are: beside the state file, or for a server in the state directory, a directory for each
 * project, so that each removes only what its own rows named. Undefined where nothing is kept.
 */
async function openBlobs(
  choice: StoreChoice,
  { projectId, blobs }: Store,
  { stateDirectory }: Environment,
): Promise<Blobs | undefined> {
  if (choice.type === 'memory') return undefined
  const place = choice.type === 'sqlite' ? `${choice.path}-blobs` : join(stateDirectory, 'blobs', placeKey(choice.url))
  return openBlobFiles({ directory: join(place, keyOf(projectId)), references: blobs })
}

/** Host, port and database of an address, as one name; its password has no part in it. */
function placeKey(url: string): string {
  const { host, pathname } = new URL(url)
  return keyOf(host + pathname)
}

/** Any text as a name of a directory. */
function keyOf(text: string): string {
  return sha256(text).slice(0, 16)
}

/**
 * Opens the store that the configuration around `cwd` chooses, for commands that need nothing else of it.
 * Throws CONFIG_INVALID when the configuration has errors: another store than the chosen one would show other sessions.
 */
export async function openConfiguredStore(where: {
  readonly cwd: string
  readonly environment: Environment
  readonly configPath?: string | undefined
}): Promise<State & { readonly scope: string; readonly config: Config; readonly loaded: LoadedConfig }> {
  const loaded = await loadConfig(where)
  assertValid(loaded)
  const state = await openState({ loaded, environment: where.environment })
  return { ...state, scope: await scopeOf(loaded.workspace.directory), config: loaded.config, loaded }
}

/** Where answers and sessions of a workspace belong: one place, whichever link leads to it. */
export async function scopeOf(workspace: string): Promise<string> {
  return realpath(workspace).catch(() => workspace)
}

/**
 * How often the skills were loaded lately in a workspace, read without changing the store. Undefined where there is no store yet, or
 * it cannot be used as it is.
 */
export async function readUses(
  configured: Configured,
  scope: string,
): Promise<ReadonlyMap<string, number> | undefined> {
  const choice = await storeChoice(configured)
  const status = await storeStatus(choice).catch(() => undefined)
  if (!status || status.version === 0 || status.pending.length > 0) return undefined
  const database = await openDatabase(choice)
  try {
    return await countUses(database.project(DEFAULT_PROJECT), scope)
  } finally {
    await database.close()
  }
}

function failure({ message, fix }: { readonly message: string; readonly fix: string }): NexusError {
  return new NexusError('STORE_FAILED', message, { fix })
}
