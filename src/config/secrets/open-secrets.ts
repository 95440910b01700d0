import { isAbsolute } from 'node:path'
import { NexusError } from '../../kernel/index.ts'
import type { LoadedConfig, ModelConfig } from '../config.ts'
import { partAt, type Path } from '../document/path.ts'
import { isProfilePath, nameIn } from '../profiles.ts'
import type { Environment } from '../environment.ts'
import { asSecretCommand, type SecretCommand } from './reference.ts'
import { textAt } from './read-file.ts'

/** One program to run for a secret. No shell is between. */
export interface SecretCommandRequest {
  /** The program, by absolute path or by a name in the system's directories, and its arguments. */
  readonly command: readonly string[]
  /** All the variables it gets. */
  readonly environment: Readonly<Record<string, string>>
  /** Text for its stdin; default none. */
  readonly input?: string
  readonly signal?: AbortSignal
}

/** `why` completes the sentence "the command …". */
export type SecretCommandResult =
  | { readonly type: 'done'; readonly output: string }
  | { readonly type: 'failed'; readonly why: string }

/** Runs a program; given by a room that may start processes. Never rejects but for an aborted signal. */
export type RunSecretCommand = (request: SecretCommandRequest) => Promise<SecretCommandResult>

/** The secrets of a configuration, those of commands among them. */
export interface Secrets {
  /**
   * The secret at a place such as `['model', 'apiKey']`; undefined when there is none. A command is run at the first call,
   * and once. Throws CONFIG_INVALID, with the place, when the command gives none.
   */
  read(keys: Path, signal?: AbortSignal): Promise<string | undefined>
  /** The configured model with its key. Throws as `read` does. */
  model(signal?: AbortSignal): Promise<ModelConfig | undefined>
  /** Every value known so far that must never be shown: the same list always, and it grows. */
  readonly values: readonly string[]
}

/** Enough to find the store of its user; nothing else of the environment reaches it. */
const PASSED = ['USER', 'LOGNAME', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS']

/** Opens the secrets of a configuration; nothing is run before it is asked for. */
export function openSecrets(
  loaded: LoadedConfig,
  { run, environment }: { readonly run: RunSecretCommand; readonly environment: Environment },
): Secrets {
  const values = [...loaded.secrets]
  const running = new Map<string, Promise<string>>()

  async function obtain(keys: Path, wanted: SecretCommand, signal?: AbortSignal): Promise<string> {
    const result = await run(toRequest(wanted, environment, signal))
    const secret = result.type === 'done' ? secretIn(result.output, wanted) : undefined
    if (secret === undefined) throw await failure(keys, wanted, { result, loaded })
    values.push(secret)
    return secret
  }

  async function read(keys: Path, signal?: AbortSignal): Promise<string | undefined> {
    const value = partAt(loaded.config.values, keys)
    const wanted = asSecretCommand(value)
    if (wanted === undefined) return typeof value === 'string' && value !== '' ? value : undefined
    const key = JSON.stringify(keys)
    const known = running.get(key) ?? obtain(keys, wanted, signal)
    running.set(key, known)
    // A failed attempt says nothing about the next one.
    known.catch(() => running.delete(key))
    return known
  }

  return {
    read,
    async model(signal) {
      const { model } = loaded.config
      const apiKey = model && (await read(['model', 'apiKey'], signal))
      return model && { ...model, apiKey }
    },
    values,
  }
}

/** Without a word of the output of the program: it may be the secret. */
async function failure(
  keys: Path,
  { command }: SecretCommand,
  { result, loaded }: { readonly result: SecretCommandResult; readonly loaded: LoadedConfig },
): Promise<NexusError> {
  const { explain } = await import('../layers/explain.ts')
  const { path, line, column, keys: at = keys } = explain(loaded).originOf(keys) ?? { path: 'nexus.yaml' }
  const place = line === undefined ? path : `${path}:${line}:${column}`
  const setting = nameIn({ isProfile: isProfilePath(path) })(at)
  const why = result.type === 'failed' ? result.why : 'gave no secret'
  return new NexusError('CONFIG_INVALID', `${place} ${setting}: the command ${command[0] ?? ''} ${why}.`, {
    fix: 'Run the command yourself, and read what it reports.',
  })
}

function toRequest(wanted: SecretCommand, environment: Environment, signal?: AbortSignal): SecretCommandRequest {
  const names = [...PASSED, ...(wanted.passEnv ?? [])]
  const known = names
    .map((name) => [name, environment.get(name)])
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    // Source: XDG Base Directory Specification, "all paths must be absolute".
    .filter(([name, value]) => name !== 'XDG_RUNTIME_DIR' || isAbsolute(value))
  const { request } = wanted
  return {
    command: wanted.command,
    // Not the variable: one that is relative would lead the program to a store in the directory we were started in.
    environment: { ...Object.fromEntries(known), HOME: environment.home },
    input: request && `${JSON.stringify({ protocolVersion: 1, provider: request.provider, ids: [request.id] })}\n`,
    signal,
  }
}

/** The output without its last line break; with OpenClaw's protocol the value under the id. */
function secretIn(output: string, { request, jsonOnly }: SecretCommand): string | undefined {
  const text = output.replace(/\r?\n$/, '')
  const escaped = request?.id.replaceAll('~', '~0').replaceAll('/', '~1')
  const answered = escaped === undefined ? undefined : textAt(text, `/values/${escaped}`)
  const secret = request === undefined || (answered === undefined && jsonOnly === false) ? text : answered
  return secret === '' ? undefined : secret
}
