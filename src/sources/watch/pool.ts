import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { codeOf } from '../codes.ts'

/** Told `rename` for an entry that came or went, `change` for its content or rights. */
export type WatchListener = (event: string, name: string | null) => void

/** All watches of one watcher, so that they are bounded together. */
export interface WatchPool {
  /** Undefined when the directory is gone or closed to us. Throws when there are to be no more watches. */
  open(path: string, listener: WatchListener): FSWatcher | undefined
  close(watcher: FSWatcher): void
}

/** The directory cannot be watched, but others can: the scan says what is wrong with it. */
const OF_THE_DIRECTORY = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'])

export interface PoolOptions {
  readonly maxWatches: number
  /** Keeps the process alive. */
  readonly isPersistent: boolean
}

export function createPool({ maxWatches, isPersistent }: PoolOptions): WatchPool {
  const open = new Set<FSWatcher>()
  return {
    open(path, listener) {
      if (open.size >= maxWatches) throw new Error(`more than ${maxWatches} directories would have to be watched`)
      try {
        const watcher = watch(path, { persistent: isPersistent }, listener)
        open.add(watcher)
        return watcher
      } catch (error) {
        if (OF_THE_DIRECTORY.has(codeOf(error))) return undefined
        throw error
      }
    },
    close(watcher) {
      open.delete(watcher)
      watcher.close()
    },
  }
}

const MOST_BY_DEFAULT = 65_536
const WHERE_UNKNOWN = 8_192

/** A quarter of what the kernel allows this user, who has other programs too. */
export function defaultMaxWatches(): number {
  if (process.platform !== 'linux') return WHERE_UNKNOWN
  try {
    const allowed = Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'))
    return allowed > 0 ? Math.min(Math.ceil(allowed / 4), MOST_BY_DEFAULT) : WHERE_UNKNOWN
  } catch {
    // No such file in this container: the kernel will say when it is enough.
    return WHERE_UNKNOWN
  }
}

/** Why there are no more watches, and what to do; for people. */
export function whyNoWatch(error: unknown): { readonly reason: string; readonly fix: string } {
  switch (codeOf(error)) {
    case 'ENOSPC':
      return {
        reason: 'the system has no more watches for this user (ENOSPC)',
        fix: 'raise fs.inotify.max_user_watches, or close programs that watch many directories',
      }
    case 'EMFILE':
    case 'ENFILE':
      return {
        reason: `too many open files or watchers (${codeOf(error)})`,
        fix: 'raise fs.inotify.max_user_instances or the limit of open files (ulimit -n)',
      }
    default:
      return {
        reason: error instanceof Error ? error.message : String(error),
        fix: 'name fewer or smaller directories as sources',
      }
  }
}
