/** plan: what an installation changes in the file of a client. The text is made first, shown, and then written. */
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, NexusError, ownValue, sha256 } from '../../kernel/index.ts'
import { changeText, readDocument } from './config-text.ts'
import { type Client, type Scope, type Server, startsNexus, type Where } from './table.ts'
import { notRead, textOf, writeText } from './text-file.ts'

/** Which entry of which file. */
export interface Target {
  readonly client: Client
  readonly scope: Scope
  readonly where: Where
  /** The key of the entry, such as `nexus`. */
  readonly name: string
}

/** Made whole before it is shown, so that what is shown is what is written. */
export interface Change {
  /** Absolute, with links resolved where the file exists. */
  readonly path: string
  /** Undefined when there is no such file yet. */
  readonly before: string | undefined
  /** The same text when nothing changes. */
  readonly after: string
  /** The entry that goes and does not start Nexus: a person agrees first. */
  readonly foreign?: JsonObject | undefined
  /** Which replaced entry is kept once this is written. */
  readonly remember?: Remembered
}

/**
 * The entry that starts Nexus. An entry that starts it already keeps what the user wrote besides the command; any other one is replaced
 * whole. Throws CONFIG_INVALID, INVALID_ARGUMENT, FILE_NOT_FOUND.
 */
export function planInstall(target: Target, server: Server): Change {
  const { client, scope, where, name } = target
  const { path, entry: old } = readEntry(target)
  const place = { nexusHome: where.nexusHome, path, name }
  const foreign = old && !startsNexus(client, old) ? old : undefined
  const wrote = { ...(foreign ? {} : old), ...client.entry(server, scope) }
  const change = plan(target, wrote)
  if (change.before === change.after) return change
  const kept = readReplaced(place)
  const earlier = kept && isSame(kept.wrote, old) ? kept : undefined
  const { keys, document } = open(target)
  const madeMapping = earlier?.madeMapping === true || document[keys[0] ?? ''] === undefined
  const replaced = foreign ?? earlier?.replaced
  return { ...change, foreign, remember: { ...place, replaced: { wrote, replaced, madeMapping } } }
}

/** The same file without the entry and the mapping that `planInstall` made, or with the entry that it replaced, unless ours was edited since. Throws as `planInstall`. */
export function planUninstall(target: Target): Change {
  const { client, where, name } = target
  const { path, entry } = readEntry(target)
  const place = { nexusHome: where.nexusHome, path, name }
  const kept = readReplaced(place)
  const isOurs = kept !== undefined && isSame(kept.wrote, entry)
  const foreign = entry && !isOurs && !startsNexus(client, entry) ? entry : undefined
  const change = plan(target, isOurs ? kept.replaced : undefined, isOurs && kept.madeMapping)
  return { ...change, foreign, remember: { ...place, replaced: undefined } }
}

/** The entry in the file of a client, and where it is. Throws as `planInstall`. */
export function readEntry(target: Target): { readonly path: string; readonly entry: JsonObject | undefined } {
  const { path, keys, document } = open(target)
  return { path, entry: entryAt(document, [...keys, target.name]) }
}

/**
 * Writes what was planned, whole or not at all, and a copy of the old file where an entry of the user goes; its path.
 * Throws CONFLICT when the file is another one by now, STORE_FAILED when it cannot be written.
 */
export async function writeChange({ path, before, after, foreign, remember }: Change): Promise<string | undefined> {
  if (textOf(path) !== before)
    throw new NexusError('CONFLICT', `Nexus did not change ${path}: another program changed it meanwhile.`, {
      fix: 'Run the command again.',
    })
  const copy = remember && (await keepReplaced(remember, foreign && before))
  await writeText(path, after, before === undefined)
  return copy
}

/** Without a value, `removesMapping` takes the mapping of entries too when it is empty then. */
function plan(target: Target, value: JsonObject | undefined, removesMapping = false): Change {
  const { client, name } = target
  const { path, text, keys, document } = open(target)
  const at = [...keys, name]
  const old = entryAt(document, at)
  if (isSame(old, value)) return { path, before: text, after: text ?? '' }
  const [top = ''] = keys
  const isLast = removesMapping && value === undefined && without(document, at)[top] === undefined
  const after = changeText(text ?? '', client.format, isLast ? [top] : at, value)
  // All else in the file must be the same afterwards, whatever the library made of it.
  const now = readDocument(after, client.format, path)
  if (!isSame(entryAt(now, at), value) || !isSame(without(now, at), without(document, at)))
    throw new NexusError(
      'CONFIG_INVALID',
      `Nexus did not change ${path}: the change would also have changed other keys.`,
      { fix: 'Add the entry by hand. --dry-run --json prints it.' },
    )
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
  if (candidates === undefined)
    throw new NexusError('INVALID_ARGUMENT', `${client.title} reads no file of a project.`, {
      fix: 'Leave out --scope project.',
    })
  const given = candidates.find((path) => existsSync(path) || isLink(path)) ?? candidates[0] ?? ''
  const path = realOf(given)
  const text = textOf(path)
  const document = readDocument(text ?? '', client.format, path)
  const keys = client.keys(document)
  const closed = keys.findIndex((_, index) => !isJsonObject(valueAt(document, keys.slice(0, index + 1)) ?? {}))
  if (closed < 0) return { path, text, keys, document }
  const key = keys.slice(0, closed + 1).join('.')
  throw new NexusError('CONFIG_INVALID', `Nexus did not change ${path}: its key ${key} is not a mapping.`, {
    fix: `Make ${key} a mapping of server names to servers.`,
  })
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

/** People keep such files in another place and link to them: the file itself is changed. */
function realOf(path: string): string {
  if (existsSync(path)) return realpathSync.native(path)
  if (isLink(path)) throw notRead(path, 'it is a link to nothing')
  const parent = dirname(path)
  return existsSync(parent) ? join(realpathSync.native(parent), basename(path)) : path
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/** An installation, with the entry of the user that it replaced: the Nexus home keeps it until it is restored. */
interface Replaced {
  readonly wrote: JsonObject
  readonly replaced: JsonObject | undefined
  /** The file had no mapping of entries, such as `mcpServers`. */
  readonly madeMapping: boolean
}

interface ReplacedPlace {
  readonly nexusHome: string
  readonly path: string
  readonly name: string
}

export interface Remembered extends ReplacedPlace {
  /** Absent: nothing is to be restored any more. */
  readonly replaced?: Replaced | undefined
}

function readReplaced(place: ReplacedPlace): Replaced | undefined {
  try {
    const value: unknown = JSON.parse(textOf(fileOf(place)) ?? 'null')
    if (!isJsonObject(value)) return undefined
    const { wrote, replaced, madeMapping } = value
    if (!isJsonObject(wrote)) return undefined
    return { wrote, replaced: isJsonObject(replaced) ? replaced : undefined, madeMapping: madeMapping === true }
  } catch {
    // A damaged file restores nothing.
    return undefined
  }
}

/** Keeps the entry, and the text of the old file when there is one; its path. Throws STORE_FAILED. */
async function keepReplaced({ replaced, ...place }: Remembered, old?: string): Promise<string | undefined> {
  const file = fileOf(place)
  if (replaced !== undefined || existsSync(file)) await put(file, JSON.stringify(replaced ?? null))
  if (old === undefined) return undefined
  const copy = `${file.slice(0, -'.json'.length)}-old-${basename(place.path)}`
  await put(copy, old)
  return copy
}

function put(path: string, text: string): Promise<void> {
  return writeText(path, text, !existsSync(path))
}

function fileOf({ nexusHome, path, name }: ReplacedPlace): string {
  return join(nexusHome, 'clients', `${sha256(JSON.stringify([path, name])).slice(0, 16)}.json`)
}
