import { isJsonObject } from '../../kernel/index.ts'
import type { PathKey } from '../document/read-yaml.ts'
import { fits } from '../layers/pattern.ts'

/** Where a secret may stand as text or as a reference. */
export const SECRET_PLACES = [
  'model.apiKey',
  'skills.entries.*.apiKey',
  'skills.sources.*.auth',
  'search.apiKey',
  'execution.e2b.apiKey',
  'store.url',
  'store.blobs.accessKeyId',
  'store.blobs.secretAccessKey',
  'nats.credentials',
  'nats.token',
] as const

/** Values that may hold a secret though they are texts only. */
const SECRET_TEXTS = ['skills.entries.*.env.*', 'mcp.servers.*.env.*', 'mcp.servers.*.headers.*']

/** A program whose output is a secret, with absolute path or a name in the system's directories. */
export interface SecretCommand {
  readonly command: readonly string[]
  /** OpenClaw's protocol: the request goes to stdin as JSON, the answer holds the value under this id. */
  readonly request?: { readonly provider: string; readonly id: string }
  /** `false`: the output is the secret itself, although there is a request. */
  readonly jsonOnly?: boolean
  /** Variables that the program gets besides the usual few. */
  readonly passEnv?: readonly string[]
}

export function isSecretPlace(keys: readonly PathKey[]): boolean {
  return SECRET_PLACES.some((pattern) => fits(pattern, keys))
}

/** Whether the text at `keys` must never be shown. */
export function isSecretText(keys: readonly PathKey[]): boolean {
  return isSecretPlace(keys) || SECRET_TEXTS.some((pattern) => fits(pattern, keys))
}

/** What stands at a secret place of a resolved document when a command gives the secret; undefined for anything else. */
export function asSecretCommand(value: unknown): SecretCommand | undefined {
  return isJsonObject(value) && Array.isArray(value['command']) ? (value as unknown as SecretCommand) : undefined
}

/** Below these keys values may be secrets, or lead to them: addresses with passwords, arguments of programs, free settings. */
const GUARDED_KEYS: ReadonlySet<PathKey> = new Set([
  ...['apiKey', 'auth', 'token', 'credentials', 'accessKeyId', 'secretAccessKey'],
  ...['env', 'headers', 'config', 'url', 'baseUrl', 'apiUrl', 'servers', 'command', 'args'],
])

/** Whether a value at `keys` had better not be shown beside a finding, be it a secret or not. */
export function isGuarded(keys: readonly PathKey[]): boolean {
  const isFree = keys[0] === 'tools' && keys[1] !== 'groups'
  return isFree || isSecretText(keys) || keys.some((key, index) => GUARDED_KEYS.has(key) && !isServerName(keys, index))
}

/** `mcp.servers` holds names, `nats.servers` addresses. */
function isServerName(keys: readonly PathKey[], index: number): boolean {
  return index === 1 && keys[0] === 'mcp'
}
