import { existsSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, keptPlace, readSmall, Tree } from '../../machine/files/index.ts'
import { isJsonObject, type JsonObject, makeDirectory, sha256 } from '../../kernel/index.ts'
import { type Lock, LOCK_FILE, type LockedSkill, readLock } from './lock-file.ts'
import { installError, MESSAGES } from './messages.ts'

/** Where skills are placed, and what is known of them. */
export interface Scope {
  /** `source`: the copies of a git source of nexus.yaml, in the cache. */
  readonly kind: 'workspace' | 'user' | 'source'
  /** Real path of the directory with the lock; copies are in `skills` below it. */
  readonly root: string
  readonly lockPath: string
  readonly stateDirectory: string
  /** Names the scope in the state. */
  readonly key: string
  readonly nexusHome: string
  /** Home of the user, where other programs look for skills. */
  readonly home: string
  /** `XDG_STATE_HOME`, where the npm program `skills` keeps its lock of a user. Default: below the home. */
  readonly stateHome?: string | undefined
}

const MAX_LOCK_BYTES = 16 * 1024 * 1024

export interface ScopeOptions extends Pick<Scope, 'kind' | 'nexusHome' | 'stateDirectory' | 'stateHome'> {
  /** The workspace, or the Nexus home. */
  readonly directory: string
  /** Default: the directory. */
  readonly home?: string
}

/** The scope of a directory. Makes nothing. */
export function scopeOf({ kind, directory, nexusHome, stateDirectory, home, stateHome }: ScopeOptions): Scope {
  const root = realOr(directory)
  const key = sha256(root).slice(0, 32)
  return {
    kind,
    root,
    lockPath: join(root, LOCK_FILE),
    stateDirectory: join(stateDirectory, 'install'),
    key,
    nexusHome,
    home: home ?? root,
    stateHome,
  }
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // Not there yet, as the Nexus home before its first use.
    return path
  }
}

/** The lock of a scope; empty when there is none. Throws CONFIG_INVALID. */
export function lockOf(scope: Pick<Scope, 'lockPath'>): Lock {
  const text = textOf(scope.lockPath)
  return text === undefined ? new Map() : readLock(text, scope.lockPath)
}

/** The text of a small file; undefined when there is none. */
export function textOf(path: string): string | undefined {
  try {
    return new TextDecoder().decode(readSmall(path, { maxBytes: MAX_LOCK_BYTES }).bytes)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Opens the root with its directory `skills`, which is made when it is missing. Throws PATH_OUTSIDE when that is a link. */
export function openPlaces({ root }: Pick<Scope, 'root'>): Tree {
  makeDirectory(root, { mkdirSync, statSync })
  const tree = new Tree(root)
  try {
    const entry = tree.entry('skills')
    if (entry === undefined) tree.makeDirectory('skills', { mode: 0o755 })
    else if (entry.kind !== 'directory') throw installError('PATH_OUTSIDE', MESSAGES.rootOutside(join(root, 'skills')))
    return tree
  } catch (error) {
    tree.close()
    throw error
  }
}

/** A directory of the Nexus home that only this user can change. Throws CONFIG_INVALID. */
export function privateDirectory(nexusHome: string, name: string): string {
  makeDirectory(nexusHome, { mkdirSync, statSync, mode: 0o700 })
  const { directory, why } = keptPlace(nexusHome, name)
  if (directory === undefined) throw installError('CONFIG_INVALID', MESSAGES.unsafeHome(why))
  return directory
}

/** This machine's memory of one placed skill, besides the lock. */
export interface Remembered {
  /** Earlier entries of the lock, the oldest first. */
  readonly before: readonly LockedSkill[]
  /** When its source was last seen, as an ISO time. */
  readonly seenAt?: string
  /** The folder or file that it came from, on this machine. */
  readonly from?: string
}

export type Memory = Readonly<Record<string, Remembered>>

/** The memory of a scope. One that cannot be read is forgotten: it is a convenience, and the lock is the truth. */
export function readMemory(scope: Pick<Scope, 'stateDirectory' | 'key'>): Memory {
  try {
    const read: unknown = JSON.parse(textOf(statePath(scope, 'json')) ?? '{}')
    return isJsonObject(read) ? (read as JsonObject as unknown as Memory) : {}
  } catch {
    return {}
  }
}

/** Digests of every revision that a lock or the memory of a place of this user refers to. A root that is gone refers to none. */
export function usedDigests({ stateDirectory }: Pick<Scope, 'stateDirectory'>): ReadonlySet<string> | undefined {
  const used = new Set<string>()
  try {
    for (const name of readdirSync(stateDirectory)) {
      const key = /^([0-9a-f]{32})\.root$/.exec(name)?.[1]
      const root = key === undefined ? undefined : textOf(join(stateDirectory, name))?.trimEnd()
      if (key === undefined || root === undefined || !existsSync(root)) continue
      for (const { digest } of lockOf({ lockPath: join(root, LOCK_FILE) }).values()) used.add(digest)
      for (const { before } of Object.values(readMemory({ stateDirectory, key })))
        for (const { digest } of before) used.add(digest)
    }
    return used
  } catch {
    // One lock cannot be read, as in a merge: nobody knows what it refers to.
    return undefined
  }
}

export async function writeMemory(scope: Scope, memory: Memory): Promise<void> {
  await writeState(scope, 'json', `${JSON.stringify(memory)}\n`)
  await writeState(scope, 'root', `${scope.root}\n`)
}

/** A file of the state of a scope: its memory, the root that it has, the change under way, and the status of a source. */
type StateFile = 'json' | 'root' | 'journal' | 'source'

export function statePath({ stateDirectory, key }: Pick<Scope, 'stateDirectory' | 'key'>, file: StateFile): string {
  return join(stateDirectory, `${key}.${file}`)
}

/** Only a journal must outlive a crash of the machine. */
export async function writeState(scope: Scope, file: StateFile, text: string): Promise<void> {
  using state = openState(scope)
  await state.write(`${scope.key}.${file}`, {
    bytes: Buffer.from(text),
    mode: 0o600,
    isDurable: file === 'journal',
  })
}

/** The directory of the state; made when it is missing. */
export function openState({ stateDirectory }: Pick<Scope, 'stateDirectory'>): Tree {
  makeDirectory(stateDirectory, { mkdirSync, statSync, mode: 0o700 })
  return new Tree(stateDirectory)
}
