import type { FSWatcher } from 'node:fs'
import { basename } from 'node:path'
import type { Diagnostic } from '../../kernel/index.ts'
import { finding } from '../codes.ts'
import type { SourceFolder } from '../source.ts'
import type { Changes } from './changes.ts'
import { createSweeper, type Sweeper } from './polling.ts'
import { type WatchPool, whyNoWatch } from './pool.ts'
import { isRemote, locate, type Location } from './roots.ts'
import { createTree, type Tree } from './tree.ts'

export interface RootHost {
  readonly pool: WatchPool
  readonly changes: Changes
  /** Called for every event of the system. */
  readonly counted: () => void
  readonly report: (diagnostic: Diagnostic) => void
  readonly signal: AbortSignal
  /** Ask for no events at all. */
  readonly isPolling: boolean
  readonly maxDirectories: number
}

/** One root, wherever it is at the moment. */
export interface RootWatch {
  readonly isPolling: boolean
  /** Looks where the root is, and takes it in when it is another one than before, or in any case when `force` is set. */
  settle(options?: { readonly force?: boolean }): Promise<void>
  /** When there are no events: looks what changed. */
  sweep(): Promise<void>
  close(): Promise<void>
}

const NOWHERE: Location = { path: undefined, identity: '', anchors: new Map() }

/** Follows one root: by events while the system gives them, else by looking. Nothing happens before the first `settle`. */
export function watchRoot(folder: SourceFolder, host: RootHost): RootWatch {
  const anchors = new Map<string, FSWatcher>()
  let location = NOWHERE
  let tree: Tree | undefined
  let sweeper: Sweeper | undefined
  let { isPolling } = host
  let isIncomplete = false
  let isFirst = true
  let running: Promise<void> | undefined
  let again: { force: boolean } | undefined

  /** One at a time; what is asked for meanwhile is done once more afterwards. */
  function settle({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    if (running) {
      again = { force: force || (again?.force ?? false) }
      return running
    }
    running = settleAll(force).finally(() => {
      running = undefined
    })
    return running
  }

  async function settleAll(first: boolean): Promise<void> {
    try {
      for (let asked: typeof again = { force: first }; asked && !host.signal.aborted; asked = again) {
        again = undefined
        await settleOnce(asked.force)
      }
    } catch (error) {
      // Closed in the middle of it; whoever waits for us looks at the signal.
      if (!host.signal.aborted) throw error
    }
  }

  async function settleOnce(force: boolean): Promise<void> {
    const now = find(force)
    if (!force && !isFirst && now.identity === location.identity) return
    location = now
    const old = tree
    tree = undefined
    sweeper = undefined
    // Its watches are wanted for the new one.
    await old?.close()
    if (host.signal.aborted) return
    if (now.path !== undefined) await takeIn(now.path)
    if (!isFirst) host.changes.noteAll()
    isFirst = false
  }

  /** Where the root is, once there is a watch wherever that could change. */
  function find(force: boolean): Location {
    let now = locate(folder)
    if (force || now.identity !== location.identity) letGo(() => true)
    for (let tries = 0; tries < 5; tries++) {
      const isNew = holdAnchors(now)
      if (!isNew) break
      // It may have come while we were not yet looking.
      now = locate(folder)
    }
    return now
  }

  /** True when one was added. */
  function holdAnchors(wanted: Location): boolean {
    if (isPolling) return false
    letGo((directory) => !wanted.anchors.has(directory))
    let isNew = false
    for (const [directory, names] of wanted.anchors) {
      if (anchors.has(directory)) continue
      const watcher = openAnchor(directory, names)
      if (!watcher) continue
      anchors.set(directory, watcher)
      watcher.on('error', () => letGo((held) => held === directory))
      isNew = true
    }
    return isNew
  }

  function openAnchor(directory: string, names: ReadonlySet<string>): FSWatcher | undefined {
    try {
      return host.pool.open(directory, (event, name) => {
        const isNamed = name !== null && names.has(name)
        // About the directory itself: its watch may be of no use any more.
        const isSelf = name === null || name === basename(directory)
        if (isSelf) letGo((held) => held === directory)
        if (isNamed || isSelf) void settle({ force: isNamed && event === 'rename' })
      })
    } catch {
      // No more watches: the regular look at the root does the same, a little later.
      return undefined
    }
  }

  function letGo(isMeant: (directory: string) => boolean): void {
    for (const [directory, watcher] of anchors) {
      if (!isMeant(directory)) continue
      anchors.delete(directory)
      host.pool.close(watcher)
    }
  }

  async function takeIn(path: string): Promise<void> {
    if (!isPolling && isRemote(path)) {
      const reason = 'it is on a file system that others can change without an event'
      startPolling(path, { reason, fix: 'nothing has to be done; a local directory is noticed sooner' })
    }
    if (!isPolling) {
      tree = createTree(path, {
        ...{ open: host.pool.open, close: host.pool.close, signal: host.signal, counted: host.counted },
        changed: host.changes.note,
        rootMoved: () => void settle({ force: true }),
        failed: (error) => {
          startPolling(path, whyNoWatch(error))
          void settle({ force: true })
        },
      })
      try {
        await tree.start()
        return
      } catch (error) {
        if (host.signal.aborted) throw error
        const failed = tree
        tree = undefined
        startPolling(path, whyNoWatch(error))
        await failed.close()
      }
    }
    sweeper = createSweeper(path, { maxDirectories: host.maxDirectories })
    await sweeper.sweep(host.signal)
  }

  function startPolling(path: string, { reason, fix }: { readonly reason: string; readonly fix: string }): void {
    if (isPolling) return
    isPolling = true
    letGo(() => true)
    const message = `changes are found by looking at the directory again and again, not by events: ${reason}`
    host.report(finding('watch-polling', path, { message, fix }))
  }

  return {
    get isPolling() {
      return isPolling
    },
    settle,
    async sweep() {
      const asked = sweeper
      if (!asked) return
      const { changed, isComplete } = await asked.sweep(host.signal)
      // Another root was taken in meanwhile, and everything told of.
      if (asked !== sweeper) return
      for (const directory of changed) host.changes.note(directory)
      if (isComplete || isIncomplete) return
      isIncomplete = true
      const message = `more than ${host.maxDirectories} directories; changes in the rest are not noticed`
      host.report(
        finding('watch-limit', location.path ?? folder.path, { message, fix: 'name the directories that hold skills' }),
      )
    },
    async close() {
      letGo(() => true)
      await tree?.close()
    },
  }
}
