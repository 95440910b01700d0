import { existsSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import type { FSWatcher, watch } from 'chokidar'
import { type Diagnostic, SKILL_FILE } from '../../../kernel/index.ts'
import { finding } from '../codes.ts'
import { codeOf } from '../../../machine/files/index.ts'
import { MESSAGES, OUT_OF_WATCHES, REMOTE_FILES } from '../messages.ts'
import { isInside } from '../skill-file.ts'
import type { SourceFolder } from '../source.ts'
import type { Changes } from './changes.ts'
import {
  type Area,
  areasOf,
  isBelow,
  isContent,
  isHidden,
  isOnTheWay,
  isRemote,
  locate,
  type Location,
} from './roots.ts'

export interface RootHost {
  readonly watch: typeof watch
  readonly changes: Changes
  readonly report: (diagnostic: Diagnostic) => void
  /** Called for every event of the system. */
  readonly counted: () => void
  readonly signal: AbortSignal
  readonly usePolling: boolean
  readonly pollMs: number
  readonly maxDirectories: number
  readonly keepAlive: boolean
}

/** One root, wherever it is at the moment. Nothing happens before the first `open`. */
export interface RootWatch {
  readonly isPolling: boolean
  /** Opens everything anew. Resolves when every later change is noted; a call meanwhile leads to one more run. */
  open(): Promise<void>
  /** Opens again when the root is no longer where it was. */
  check(): void
  /** Opens again when a directory went away and is there again: under load chokidar may go on watching the old one. */
  checkDirectories(): void
  close(): Promise<void>
}

/**
 * Follows one root with chokidar, through the parent of the root: a watch on the root itself is lost when the root is
 * renamed away and replaced. Links on the way are watched where they are, and a missing root from the nearest directory
 * that exists. A change on that way opens everything anew.
 */
export function watchRoot(folder: SourceFolder, host: RootHost): RootWatch {
  let isPolling = host.usePolling
  let location: Location | undefined
  let watchers: FSWatcher[] = []
  let round = new AbortController()
  let running: Promise<void> | undefined
  let isWanted = false
  let isIncomplete = false
  const skills = new Set<string>()
  const directories = new Set<string>()
  const targets = new Set<string>()
  /** The skill whose SKILL.md is a link, by the file that it leads to. */
  const linkedFrom = new Map<string, string>()
  const unreadable = new Set<string>()
  const gone = new Set<string>()

  function open(): Promise<void> {
    isWanted = true
    running ??= openWhileWanted()
    return running
  }

  async function openWhileWanted(): Promise<void> {
    try {
      while (isWanted && !host.signal.aborted) {
        isWanted = false
        const isFirst = location === undefined
        await close()
        const now = locate(folder)
        location = now
        if (now.path !== undefined && isRemote(now.path)) {
          startPolling(...REMOTE_FILES)
        }
        await Promise.all(areasOf(now).map(openArea))
        if (!isFirst) host.changes.noteAll()
        check()
        checkDirectories()
      }
    } finally {
      running = undefined
    }
  }

  async function openArea(area: Area): Promise<void> {
    if (host.signal.aborted) return
    const watcher = host.watch(area.directory, {
      // On Windows chokidar asks with slashes.
      ignored: (path, stats) => isIgnored(area, normalize(path), stats),
      // Places inside the root are watched where they are, also when links lead to them.
      followSymlinks: false,
      // Changes are gathered anyway, and hidden files are part of a skill.
      atomic: false,
      backend: isPolling ? 'polling' : 'native',
      pollingInterval: host.pollMs,
      pollingBinaryInterval: host.pollMs,
      persistent: host.keepAlive,
      ...(area.content === undefined && { depth: 0 }),
    })
    watchers.push(watcher)
    let isReady = false
    const linked: Promise<void>[] = []
    watcher.on('all', (event, path, stats) => {
      if (event.startsWith('add') && basename(path) === SKILL_FILE) skills.add(dirname(path))
      if (event === 'unlinkDir') {
        directories.delete(path)
        gone.add(path)
      }
      const isLink = stats?.isSymbolicLink() && isContent(area, path) && !isHidden(path)
      const target = isLink ? hiddenTarget(path) : undefined
      if (target !== undefined) linked.push(openArea({ ...target, names: new Set() }))
      if (isReady) happened(area, path, event.endsWith('Dir') ? path : dirname(path))
    })
    watcher.on('raw', (event, name, details) => {
      const { watchedPath } = details as { readonly watchedPath?: string }
      if (name === null || watchedPath === undefined) return
      // An event of a directory itself has its own name.
      const isGone = event === 'rename' && name === basename(watchedPath)
      if (isGone) gone.add(watchedPath)
      if (!isReady) return
      if (!isContent(area, watchedPath)) {
        if (isGone) check()
        return
      }
      host.counted()
      // chokidar leaves out changes of rights alone where a file is new.
      if (isGone || event === 'change') note(isGone ? watchedPath : join(watchedPath, name), watchedPath)
    })
    watcher.on('error', failed)
    const { signal } = round
    await new Promise<void>((resolve) => {
      watcher.once('ready', resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    isReady = true
    await Promise.all(linked)
  }

  function happened(area: Area, path: string, directory: string): void {
    if (path === location?.path || [...unreadable].some((place) => isInside(path, place))) void open()
    else if (isContent(area, path)) note(path, directory)
    else check()
  }

  /** Notes the skill around a path; the directory when there is none. */
  function note(path: string, directory: string): void {
    let owner = linkedFrom.get(path) ?? path
    while (!skills.has(owner) && owner !== dirname(owner)) owner = dirname(owner)
    host.changes.note(skills.has(owner) ? owner : directory)
  }

  function failed(error: unknown): void {
    const code = codeOf(error)
    const [reason, fix] = OUT_OF_WATCHES[code] ?? []
    if (reason !== undefined && fix !== undefined) {
      if (isPolling) return
      startPolling(reason, fix)
      round.abort()
      void open()
    } else if (code === 'EACCES' || code === 'EPERM') {
      const { path } = error as { readonly path?: string }
      if (path !== undefined) unreadable.add(path)
    } else {
      // Whatever was not seen is found by looking at everything.
      host.changes.noteAll()
    }
  }

  function isIgnored(area: Area, path: string, stats?: Stats): boolean {
    if (path === area.directory) return false
    if (path === area.content) return false
    if (isContent(area, path)) return stats?.isDirectory() === true && (isHidden(path) || isTooMany(path))
    return !isOnTheWay(area, path)
  }

  function isTooMany(directory: string): boolean {
    if (directories.has(directory)) return false
    if (directories.size < host.maxDirectories) {
      directories.add(directory)
      return false
    }
    if (!isIncomplete) {
      isIncomplete = true
      const path = location?.path ?? folder.path
      host.report(finding('watch-limit', path, MESSAGES['watch-limit'](host.maxDirectories)))
    }
    return true
  }

  /** The directory or SKILL.md inside the root that a link leads to, where it would not be watched without the link. */
  function hiddenTarget(link: string): Pick<Area, 'directory' | 'content'> | undefined {
    const root = location?.path
    if (root === undefined) return undefined
    try {
      const target = realpathSync.native(link)
      const isKnown = targets.has(target) || !isInside(target, root) || isBelow(root, target)
      if (isKnown) return undefined
      const isDirectory = statSync(target).isDirectory()
      if (!isDirectory && basename(link) !== SKILL_FILE) return undefined
      targets.add(target)
      if (isDirectory) return { directory: target, content: target }
      linkedFrom.set(target, dirname(link))
      return { directory: dirname(target), content: target }
    } catch {
      // A link to nowhere; when its target comes, the scan that follows any other change finds it.
      return undefined
    }
  }

  function startPolling(reason: string, fix: string): void {
    if (isPolling) return
    isPolling = true
    host.report(finding('watch-polling', location?.path ?? folder.path, MESSAGES['watch-polling'](reason, fix)))
  }

  function check(): void {
    if (location !== undefined && locate(folder).identity !== location.identity) void open()
  }

  function checkDirectories(): void {
    if ([...gone].some((directory) => existsSync(directory))) void open()
    gone.clear()
  }

  async function close(): Promise<void> {
    round.abort()
    round = new AbortController()
    const closing = watchers
    watchers = []
    for (const paths of [skills, directories, targets, linkedFrom, unreadable, gone]) paths.clear()
    await Promise.allSettled(closing.map((watcher) => watcher.close()))
  }

  return {
    get isPolling() {
      return isPolling
    },
    ...{ open, check, checkDirectories, close },
  }
}
