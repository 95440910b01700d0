import { mkdirSync, promises, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { codeOf, readSmall } from '../machine/files/index.ts'
import { commandFix, type Diagnostic, isJsonObject, makeDirectory, NexusError, shellWord } from '../kernel/index.ts'
import { realPath } from './home.ts'
import { type Message } from './messages.ts'
import { profilesIn } from './profiles.ts'
import { readTextOf } from './read-files.ts'
import type { TrustedSettings } from './trusted-settings.ts'

const FILE = 'trust.json'
const VERSION = 3
const MAX_BYTES = 8 * 1024 * 1024

/** One trusted workspace. */
export interface TrustedWorkspace {
  /** Real path. */
  readonly directory: string
  /** By the path of each configuration file from the directory. */
  readonly files: Readonly<Record<string, TrustedSettings>>
}

/** `diagnostics` say when the file could not be used; then nothing is trusted. */
export interface TrustList {
  /** Sorted by path. A directory below a trusted one is not trusted. */
  readonly workspaces: readonly TrustedWorkspace[]
  readonly diagnostics: readonly Diagnostic[]
}

/** One directory, and whose list it is in. */
export interface TrustChange {
  readonly nexusHome: string
  readonly directory: string
}

/** The texts of configuration files that a person was shown, by path. */
export type ShownFiles = ReadonlyMap<string, string>

/** Reads `<nexusHome>/trust.json`. Never throws: a damaged or foreign file trusts nothing and says so. */
export async function listTrusted(nexusHome: string): Promise<TrustList> {
  const path = join(nexusHome, FILE)
  const nothing = (words: Message): TrustList => ({
    workspaces: [],
    diagnostics: [{ severity: 'warning', path, ...words }],
  })
  try {
    const { bytes, stats } = readSmall(path, { maxBytes: MAX_BYTES })
    if (isForeign(stats))
      return nothing({
        code: 'trust-insecure',
        message: 'Nexus trusts no workspace. Other users can change the list of trusted ones.',
        fix: `Inspect the file. Then type: chmod 600 ${shellWord(path)}`,
      })
    const workspaces = parseList(new TextDecoder().decode(bytes))
    return workspaces ? { workspaces, diagnostics: [] } : nothing(damaged())
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return { workspaces: [], diagnostics: [] }
    if (code === 'ENXIO' || code === 'EFBIG') return nothing(damaged())
    return nothing({
      code: 'trust-unreadable',
      message: `Nexus trusts no workspace. It cannot read the list of trusted ones (${code || 'unknown'}).`,
      fix: `Make ${shellWord(path)} readable for you.`,
    })
  }
}

function damaged(): Message {
  return {
    code: 'trust-damaged',
    message: 'Nexus trusts no workspace. The list of trusted ones is damaged.',
    ...commandFix('Nexus keeps the damaged file beside the new one. In each workspace, run:', 'trust'),
  }
}

/**
 * Remembers a directory by its real path, which it returns, with what widens power in `shown`, by default its nexus.yaml as it is now.
 * Throws FILE_NOT_FOUND when there is no such directory.
 */
export async function trustWorkspace({ nexusHome, directory, shown }: TrustChange & Shown): Promise<string> {
  const path = await realPathOf(directory)
  if (path === undefined || !(await promises.stat(path)).isDirectory()) {
    throw new NexusError('FILE_NOT_FOUND', `The directory ${directory} does not exist.`, {
      fix: 'Name the directory of a workspace.',
    })
  }
  const texts = shown ?? textsIn(path)
  const { settingsToTrust } = texts.size === 0 ? {} : await import('./trusted-settings.ts')
  const files: Record<string, TrustedSettings> = {}
  for (const [file, text] of texts) files[nameInWorkspace(path, file)] = (await settingsToTrust?.(text, file)) ?? {}
  const { workspaces } = await readForChange(nexusHome)
  const others = workspaces.filter(({ directory: known }) => known !== path)
  await writeList(nexusHome, [...others, { directory: path, files }])
  return path
}

interface Shown {
  readonly shown?: ShownFiles
}

function textsIn(directory: string): ShownFiles {
  const paths = [join(directory, 'nexus.yaml'), ...profilesIn(join(directory, '.nexus', 'agents')).paths]
  return new Map(
    paths.flatMap((path) => {
      const text = readTextOf(path, directory)
      return text === undefined ? [] : [[path, text] as const]
    }),
  )
}

/** The name of a configuration file in the list. */
export function nameInWorkspace(directory: string, path: string): string {
  return path === join(directory, 'nexus.yaml') ? 'nexus.yaml' : relative(directory, realPath(path))
}

/** Forgets a directory, also one that is gone; returns the path that was forgotten. */
export async function untrustWorkspace({ nexusHome, directory }: TrustChange): Promise<string> {
  const path = (await realPathOf(directory)) ?? directory
  const { workspaces } = await readForChange(nexusHome)
  const others = workspaces.filter(({ directory: known }) => known !== path)
  if (others.length < workspaces.length) await writeList(nexusHome, others)
  return path
}

/** A file that cannot be used is moved aside, never overwritten. */
async function readForChange(nexusHome: string): Promise<TrustList> {
  const list = await listTrusted(nexusHome)
  const path = join(nexusHome, FILE)
  if (list.diagnostics.length > 0)
    await promises
      .rename(path, `${path}.damaged-${crypto.randomUUID().slice(0, 8)}`)
      .catch((cause: unknown) => failed(path, cause))
  return list
}

/** Whole or not at all: a reader sees the old list or the new one. */
async function writeList(nexusHome: string, workspaces: readonly TrustedWorkspace[]): Promise<void> {
  const path = join(nexusHome, FILE)
  const temporary = `${path}.${crypto.randomUUID()}.tmp`
  try {
    makeDirectory(nexusHome, { mkdirSync, statSync, mode: 0o700 })
    const handle = await promises.open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ version: VERSION, workspaces: inOrder(workspaces) }, undefined, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await promises.rename(temporary, path)
  } catch (cause) {
    await promises.rm(temporary, { force: true })
    failed(path, cause)
  }
}

function failed(path: string, cause: unknown): never {
  const message = `Nexus cannot write the list of trusted workspaces ${path}: ${(cause as Error).message}.`
  throw new NexusError('STORE_FAILED', message, { fix: 'Give this user write access to it, or set NEXUS_HOME.', cause })
}

/** Undefined when the text is not a list of this version. */
function parseList(text: string): TrustedWorkspace[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value) || value['version'] !== VERSION || !Array.isArray(value['workspaces'])) return undefined
    const items: unknown[] = value['workspaces']
    return items.every(isTrustedWorkspace) ? inOrder(items) : undefined
  } catch {
    // Not JSON: the caller reports the file as damaged.
    return undefined
  }
}

function isTrustedWorkspace(value: unknown): value is TrustedWorkspace {
  if (!isJsonObject(value) || typeof value['directory'] !== 'string') return false
  const { files } = value
  return isJsonObject(files) && Object.values(files).every(isTrustedSettings)
}

function isTrustedSettings(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((digest) => typeof digest === 'string')
}

function inOrder(workspaces: readonly TrustedWorkspace[]): TrustedWorkspace[] {
  return workspaces.toSorted((a, b) => (a.directory < b.directory ? -1 : 1))
}

/** True when someone other than this user or root could have written the file. */
function isForeign({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
  const self = process.getuid?.()
  return self !== undefined && ((mode & 0o022) !== 0 || (uid !== self && uid !== 0))
}

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await promises.realpath(path)
  } catch {
    // Not there, or not ours to see: then it is not a trusted directory either.
    return undefined
  }
}
