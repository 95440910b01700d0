/** plan: what an installation changes in the file of a client. The text is made first, shown, and then written. */
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readSmall, Tree } from '../files/index.ts'
import { isJsonObject, type JsonObject, ownValue } from '../kernel/index.ts'
import { changeText, readDocument } from './config-text.ts'
import { clientError, MESSAGES } from './messages.ts'
import type { Client, Scope, Server, Where } from './table.ts'

/** Which entry of which file. */
export interface Target {
  readonly client: Client
  readonly scope: Scope
  readonly where: Where
  /** The key of the entry, such as `nexus`. */
  readonly name: string
}

/** What a file is to become. */
export interface Change {
  /** Absolute, with links resolved where the file exists. */
  readonly path: string
  /** Undefined when there is no such file yet. */
  readonly before: string | undefined
  /** The same text when nothing changes. */
  readonly after: string
}

/** Longer files are refused. Claude Code keeps its whole state in one, which has some megabytes. */
const MAX_BYTES = 64 * 1024 * 1024

/** The entry that starts Nexus. What the user wrote in it besides the command stays. Throws CONFIG_INVALID, INVALID_ARGUMENT, FILE_NOT_FOUND. */
export function planInstall(target: Target, server: Server): Change {
  const { client, scope } = target
  const entry = client.entry(server, scope)
  return plan(target, (before) => ({ ...before, ...entry }))
}

/** The same file without the entry. Throws as `planInstall`. */
export function planUninstall(target: Target): Change {
  return plan(target, () => undefined)
}

/** The entry in the file of a client, and where it is. Throws as `planInstall`. */
export function readEntry(target: Target): { readonly path: string; readonly entry: JsonObject | undefined } {
  const { path, keys, document } = open(target)
  return { path, entry: entryAt(document, [...keys, target.name]) }
}

/** Writes what was planned, whole or not at all. Throws CONFLICT when the file is another one by now, STORE_FAILED when it cannot be written. */
export async function writeChange({ path, before, after }: Change): Promise<void> {
  if (textOf(path) !== before) throw clientError(MESSAGES.changedMeanwhile(path))
  try {
    const directory = nearestDirectory(dirname(path))
    const tree = new Tree(directory)
    try {
      // Such files may contain keys.
      await tree.write(relative(directory, path), {
        ...{ bytes: Buffer.from(after), isDurable: true, makesParents: true },
        ...(before === undefined && { mode: 0o600, mustBeNew: true }),
      })
    } finally {
      tree.close()
    }
  } catch (error) {
    throw clientError(MESSAGES.notWritten(path, error instanceof Error ? error.message : String(error)), error)
  }
}

function plan(target: Target, change: (before: JsonObject | undefined) => JsonObject | undefined): Change {
  const { client, name } = target
  const { path, text, keys, document } = open(target)
  const at = [...keys, name]
  const old = entryAt(document, at)
  const value = change(old)
  if (isSame(old, value)) return { path, before: text, after: text ?? '' }
  const after = changeText(text ?? '', { path: at, value, format: client.format })
  // What else the file says must be the same afterwards, whatever the library made of it.
  const now = readDocument(after, { path, format: client.format })
  if (!isSame(entryAt(now, at), value) || !isSame(without(now, at), without(document, at)))
    throw clientError(MESSAGES.wouldDamage(path))
  return { path, before: text, after }
}

interface Opened {
  readonly path: string
  readonly text: string | undefined
  readonly keys: readonly string[]
  readonly document: JsonObject
}

function open({ client, scope, where }: Target): Opened {
  const candidates = client.files[scope]?.(where)
  if (candidates === undefined) throw clientError(MESSAGES.noProjectFile(client.title))
  const given = candidates.find((path) => existsSync(path) || isLink(path)) ?? candidates[0] ?? ''
  const path = realOf(given)
  const text = textOf(path)
  const document = readDocument(text ?? '', { path, format: client.format })
  const keys = client.keys(document)
  const closed = keys.findIndex((_, index) => !isJsonObject(valueAt(document, keys.slice(0, index + 1)) ?? {}))
  if (closed >= 0) throw clientError(MESSAGES.notAMapping(path, keys.slice(0, closed + 1).join('.')))
  return { path, text, keys, document }
}

/** The libraries make objects with and without a prototype. */
function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(structuredClone(one), structuredClone(other))
}

function valueAt(document: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isJsonObject(value) ? ownValue(value, key) : undefined), document)
}

function entryAt(document: JsonObject, path: readonly string[]): JsonObject | undefined {
  const value = valueAt(document, path)
  return isJsonObject(value) ? value : undefined
}

/** A copy without one key, and without the mappings above it that are empty then. */
function without(document: JsonObject, [key = '', ...rest]: readonly string[]): JsonObject {
  const { [key]: value, ...others } = document
  if (rest.length === 0 || !isJsonObject(value)) return others
  const inside = without(value, rest)
  return Object.keys(inside).length === 0 ? others : { ...others, [key]: inside }
}

/** Undefined when there is no such file. */
function textOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  let bytes: Uint8Array
  try {
    bytes = readSmall(path, { maxBytes: MAX_BYTES }).bytes
  } catch (error) {
    throw clientError(MESSAGES.notRead(path, error instanceof Error ? error.message : String(error)), error)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw clientError(MESSAGES.unreadable(path, 'it is not UTF-8'), error)
  }
}

/** People keep such files in another place and link to them: the file itself is changed. */
function realOf(path: string): string {
  if (existsSync(path)) return realpathSync.native(path)
  if (isLink(path)) throw clientError(MESSAGES.notRead(path, 'it is a link to nothing'))
  const parent = dirname(path)
  return existsSync(parent) ? join(realpathSync.native(parent), basename(path)) : path
}

function nearestDirectory(directory: string): string {
  return existsSync(directory) ? directory : nearestDirectory(dirname(directory))
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}
