/** caches: keeps the caches of package managers small: what is old or too much goes, by whole directories of one program. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnerGone, Tree } from '../../files/index.ts'
import type { LocalSettings } from './options.ts'
import { namesIn, projectDirectoryOf } from './state.ts'

export interface CacheLimits {
  /** Since anything in the directory was written. */
  readonly keepMs: number
  /** All files of one level of trust together. */
  readonly maxBytes: number
  /** The same for files and directories. */
  readonly maxEntries: number
}

const DAY_MS = 86_400_000
const LIMITS: CacheLimits = { keepMs: 30 * DAY_MS, maxBytes: 2 * 1024 ** 3, maxEntries: 200_000 }

/** Those of setups, of skills and of all others. */
const CACHE_LEVELS = 3

/** The files of one program: uv and others break where single files of it are missing. */
interface Cache {
  /** Below the directory of all levels. */
  readonly path: string
  readonly bytes: number
  readonly entries: number
  readonly usedMs: number
}

/** Directories that shall be removed, looked for once a day, and only while no sandbox of the project is open. */
export async function staleCaches(
  settings: Pick<LocalSettings, 'stateDir' | 'projectId'>,
  limits: CacheLimits = LIMITS,
): Promise<string[]> {
  try {
    return await findStale(projectDirectoryOf(settings), limits)
  } catch {
    // Another account owns them, or the disk is full: no start fails for it.
    return []
  }
}

async function findStale(project: string, limits: CacheLimits): Promise<string[]> {
  const all = join(project, 'caches')
  const stamp = join(all, 'looked-at')
  const lookedMs = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (!existsSync(all) || Math.abs(Date.now() - lookedMs) < DAY_MS) return []
  if (namesIn(join(project, 'live')).some((name) => !isOwnerGone(name) && !name.startsWith('set-aside-'))) return []
  writeFileSync(stamp, '')
  const levels = Map.groupBy(await cachesIn(all, limits), ({ path }) => path.split('/')[0])
  return [...levels.values()].flatMap((caches) => tooMuch(caches, limits)).map(({ path }) => join(all, path))
}

/** Those of one level of trust that are to go. */
function tooMuch(caches: readonly Cache[], { keepMs, maxBytes, maxEntries }: CacheLimits): Cache[] {
  let bytes = caches.reduce((sum, each) => sum + each.bytes, 0)
  let entries = caches.reduce((sum, each) => sum + each.entries, 0)
  const oldest = caches.toSorted((a, b) => a.usedMs - b.usedMs)
  return oldest.filter((each) => {
    const isStale = each.usedMs < Date.now() - keepMs || bytes > maxBytes || entries > maxEntries
    if (isStale) [bytes, entries] = [bytes - each.bytes, entries - each.entries]
    return isStale
  })
}

/** Below the directory of all levels, which no command writes; nothing follows a link from there. */
async function cachesIn(all: string, { maxEntries }: CacheLimits): Promise<Cache[]> {
  const found = new Map<string, Omit<Cache, 'path'>>()
  const tree = new Tree(all)
  try {
    await tree.walk({
      maxEntries: maxEntries * CACHE_LEVELS,
      onClosed: () => undefined,
      visit: ({ path, name, directory }) => {
        const [level = '', place = '', top] = path.split('/')
        if (top === undefined) return true
        const key = [level, place, top].join('/')
        const { blocks = 0, mtimeMs = 0 } = directory.look(name) ?? {}
        const { bytes, entries, usedMs } = found.get(key) ?? { bytes: 0, entries: 0, usedMs: 0 }
        found.set(key, { bytes: bytes + blocks * 512, entries: entries + 1, usedMs: Math.max(usedMs, mtimeMs) })
        return true
      },
    })
  } finally {
    tree.close()
  }
  return [...found].map(([path, sum]) => ({ path, ...sum }))
}
