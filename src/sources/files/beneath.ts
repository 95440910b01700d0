import { closeSync, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { NexusError, shellWord } from '../../kernel/index.ts'
import { codeOf, reasonOf } from '../codes.ts'
import { kindOf, openDirectoryOnly, type OpenedFile, openWithoutWaiting } from './open.ts'

/** How often the fallback compares path and file; each round halves the chance of a racing attacker several times. */
const ROUNDS = 8

/**
 * An open directory as a capability: a name is looked up in this very directory, whatever happens to its path meanwhile, and
 * links are never followed. On Linux through /proc/self/fd; elsewhere by comparing identities after opening, see docs/sources.md.
 */
export interface OpenDirectory {
  readonly path: string
  /** Names in it, in the order of the system. Throws SKILL_INVALID when one is not UTF-8. */
  names(): string[]
  /** What a name is, without following it; undefined when it is not there. */
  look(name: string): Stats | undefined
  /** Throws PATH_OUTSIDE for a link, FILE_NOT_FOUND when it is no directory. The caller closes it. */
  directory(name: string): OpenDirectory
  /** Throws PATH_OUTSIDE for a link, FILE_NOT_FOUND, or INVALID_ARGUMENT for what is no regular file. The caller closes `fd`. */
  file(name: string): OpenedFile
  close(): void
}

/** How a directory is held: `descriptors` where /proc/self/fd works, else `paths`. */
export type Holding = 'descriptors' | 'paths'

/**
 * Opens a root. `path` must be its real path: a root that meanwhile became a link, or lies below one, is refused with
 * PATH_OUTSIDE; a missing one is FILE_NOT_FOUND.
 */
export function openRoot(path: string, holding?: Holding): OpenDirectory {
  const root = resolve(path)
  const opened = attempt(root, () => openDirectoryOnly(root))
  const held = holding ?? (descriptorsWork(opened) ? 'descriptors' : 'paths')
  try {
    const real = held === 'descriptors' ? readlinkSync(`/proc/self/fd/${opened.fd}`) : realpathSync.native(root)
    if (real !== root) throw outside(root, `is reached through a link; its real path is ${JSON.stringify(real)}`)
  } catch (error) {
    closeSync(opened.fd)
    throw error
  }
  return held === 'descriptors' ? heldByDescriptor(opened, root) : heldByPath(opened, root, [])
}

function descriptorsWork({ fd, stats }: OpenedFile): boolean {
  try {
    const seen = statSync(`/proc/self/fd/${fd}`)
    return seen.ino === stats.ino && seen.dev === stats.dev
  } catch {
    // No /proc here (not Linux, or not mounted): the fallback takes over.
    return false
  }
}

function heldByDescriptor({ fd }: OpenedFile, path: string): OpenDirectory {
  const at = (name: string): string => `/proc/self/fd/${fd}/${name}`
  const below = (name: string): string => `${path}/${name}`
  return {
    path,
    names: () => listNames(`/proc/self/fd/${fd}`, path),
    look: (name) => lstatSync(at(name), { throwIfNoEntry: false }),
    directory: (name) =>
      heldByDescriptor(
        attempt(below(name), () => openDirectoryOnly(at(name)), at(name)),
        below(name),
      ),
    file: (name) =>
      regular(
        attempt(below(name), () => openWithoutWaiting(at(name)), at(name)),
        below(name),
      ),
    close: () => closeSync(fd),
  }
}

interface Held {
  readonly path: string
  readonly stats: Stats
}

function heldByPath(opened: OpenedFile, path: string, above: readonly Held[]): OpenDirectory {
  const chain = [...above, { path, stats: opened.stats }]
  const below = (name: string): string => `${path}/${name}`
  const checked = (target: string, open: () => OpenedFile): OpenedFile => {
    const file = attempt(target, open)
    for (let round = 0; round < ROUNDS; round++) {
      const same =
        chain.every(isStillThere) && isStillThere({ path: target, stats: file.stats }) && chain.every(isStillThere)
      if (same) continue
      closeSync(file.fd)
      throw outside(target, 'changed its place while it was opened')
    }
    return file
  }
  return {
    path,
    names: () => listNames(path, path),
    look: (name) => lstatSync(below(name), { throwIfNoEntry: false }),
    directory: (name) =>
      heldByPath(
        checked(below(name), () => openDirectoryOnly(below(name))),
        below(name),
        chain,
      ),
    file: (name) =>
      regular(
        checked(below(name), () => openWithoutWaiting(below(name))),
        below(name),
      ),
    close: () => closeSync(opened.fd),
  }
}

function isStillThere({ path, stats }: Held): boolean {
  const now = lstatSync(path, { throwIfNoEntry: false })
  return now !== undefined && now.ino === stats.ino && now.dev === stats.dev
}

function regular(file: OpenedFile, path: string): OpenedFile {
  if (file.stats.isFile()) return file
  closeSync(file.fd)
  throw notAFile(path, file.stats)
}

function notAFile(path: string, stats: Stats): NexusError {
  const cause = Object.assign(new Error(kindOf(stats)), { code: stats.isDirectory() ? 'EISDIR' : 'EINVAL' })
  return new NexusError('INVALID_ARGUMENT', `${JSON.stringify(path)} is ${kindOf(stats)}, not a regular file`, {
    path,
    cause,
  })
}

function outside(path: string, why: string): NexusError {
  return new NexusError('PATH_OUTSIDE', `${JSON.stringify(path)} ${why}`, {
    path,
    fix: 'use a real file inside the skill, not a link',
  })
}

/** Runs an open and turns its error into ours. `seen` is where the same entry can be looked at, for the message only. */
function attempt(path: string, open: () => OpenedFile, seen = path): OpenedFile {
  try {
    return open()
  } catch (error) {
    const stats = lookQuietly(seen)
    if (stats?.isSymbolicLink()) throw outside(path, 'is a link; links are not followed')
    switch (codeOf(error)) {
      case 'ENXIO':
        throw new NexusError('INVALID_ARGUMENT', `${JSON.stringify(path)} is a socket or device, not a regular file`, {
          path,
          cause: error,
        })
      case 'ENOENT':
        throw new NexusError('FILE_NOT_FOUND', `${JSON.stringify(path)} does not exist`, { path, cause: error })
      case 'ENOTDIR':
        throw new NexusError('FILE_NOT_FOUND', `${JSON.stringify(path)} is not a directory`, { path, cause: error })
      case 'ENAMETOOLONG':
        throw new NexusError('INVALID_ARGUMENT', 'a part of the path is too long', { cause: error })
      default:
        throw new NexusError('SKILL_INVALID', `${JSON.stringify(path)} cannot be read: ${reasonOf(error)}`, {
          path,
          fix: `make it readable for the user that runs Nexus, for example: chmod -R a+rX ${shellWord(path)}`,
          cause: error,
        })
    }
  }
}

function lookQuietly(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Only the wording of an error depends on it.
    return undefined
  }
}

function listNames(directory: string, path: string): string[] {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return readdirSync(directory, { encoding: 'buffer' }).map((name) => {
    try {
      return decoder.decode(name)
    } catch (error) {
      const shown = name.toString('latin1')
      throw new NexusError(
        'SKILL_INVALID',
        `${JSON.stringify(path)} holds a file whose name is not UTF-8: ${JSON.stringify(shown)}`,
        {
          path,
          fix: 'rename the file',
          cause: error,
        },
      )
    }
  })
}
