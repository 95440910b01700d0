import type { FSWatcher } from 'node:fs'
import { basename } from 'node:path'
import { createPace, type Pace } from '../pace.ts'
import { SKILL_FILE } from '../skill-file.ts'
import { type Below, entryPath, holdsSkill, isYoung, type Listing, listPlace, lookBelow, MAX_DEPTH } from './places.ts'

/** What a tree of watches needs from outside. */
export interface TreeHost {
  /** Opens a watch; undefined when the directory is gone or closed to us. Throws when there are to be no more watches. */
  readonly open: (path: string, listener: (event: string, name: string | null) => void) => FSWatcher | undefined
  readonly close: (watcher: FSWatcher) => void
  /** Called for every event. */
  readonly counted: () => void
  readonly changed: (directory: string) => void
  /** The root itself may be gone or another one. */
  readonly rootMoved: () => void
  /** Something went wrong while new directories were taken in; the tree is of no more use. */
  readonly failed: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Sees what changes at or below a root. */
export interface Tree {
  /** Resolves when every change from now on is told. */
  start(): Promise<void>
  /** Tells nothing from now on; resolves when every watch is closed. */
  close(): Promise<void>
}

interface Node {
  readonly path: string
  readonly name: string
  readonly depth: number
  readonly parent: Node | undefined
  readonly watcher: FSWatcher
  /** By name; most directories have none, and there are thousands. */
  children: Map<string, Node> | undefined
  isSkill: boolean
  isClosed: boolean
}

interface Reading {
  readonly isNews: boolean
  readonly pace: Pace
}

interface Step extends Below {
  readonly parent: Node | undefined
  readonly depth: number
  /** Taken in because something happened, so what is found there has to be told. */
  readonly isNews: boolean
}

/**
 * One watch per directory. It is ready when the root and the directories in it have theirs; those further down get them in
 * the next moments, and the times of their files tell what changed meanwhile. A directory is watched before it is read, and told of after that: so a change is either seen in
 * the reading or an event. Whenever a known name comes or goes its watch is closed and made anew, because inodes are
 * watched and not names. Source: reference/performance §3.4.
 */
export function createTree(root: string, host: TreeHost): Tree {
  const byPath = new Map<string, Node>()
  /** Directories to take in, and nodes that have a watch and are still to be read. */
  let ahead: (Step | Node)[] = []
  let unread: Node[] = []
  let isStarting = true
  let readySince = 0
  let isWorking = false
  let isClosed = false

  /** Breadth first, so that when watches run out it is deep folders that want one. */
  async function work(): Promise<void> {
    isWorking = true
    const pace = createPace(host.signal)
    try {
      for (let next = 0; next < ahead.length && !isClosed; next++) {
        const item = ahead[next] as Step | Node
        const reading = 'watcher' in item ? readNode(item, { isNews: false, pace }) : takeIn(item, pace)
        if (reading) await reading
        const pause = pace()
        if (pause) await pause
      }
      ahead = []
    } finally {
      isWorking = false
    }
  }

  function later(items: readonly (Step | Node)[]): void {
    for (const item of items) ahead.push(item)
    if (isWorking || isClosed) return
    work().catch((error: unknown) => {
      if (!isClosed && !host.signal.aborted) host.failed(error)
    })
  }

  /** What comes back is to be awaited. */
  function takeIn(step: Step, pace: Pace): Promise<void> | undefined {
    const { parent, isNews } = step
    if (parent?.isClosed || isTakenIn(step)) return undefined
    const node = openNode(step)
    if (node && isStarting && !isNews && parent) unread.push(node)
    else if (node) return readNode(node, { isNews, pace })
    // The parent has to be looked at: the scan says what is wrong.
    else if (isNews && parent) host.changed(ownerOf(parent))
    return undefined
  }

  /** True when the directory keeps the watch that it has. One that it is not to keep is closed. */
  function isTakenIn({ path, parent, isNews, isLink }: Step): boolean {
    const known = byPath.get(path)
    if (!known) return false
    // A link to a directory that is watched already, perhaps one of its own parents; or an event came before the reading.
    if (isLink || (!isNews && known.parent === parent)) return true
    drop(known)
    return false
  }

  function readNode(node: Node, { isNews, pace }: Reading): Promise<void> | undefined {
    if (node.isClosed) return undefined
    const read = listPlace(node.path, { root, isInSkill: isInSkill(node.parent), pace })
    if (!(read instanceof Promise)) {
      node.isSkill = read?.isSkill ?? false
      goThrough(node, read, isNews)
      return undefined
    }
    return read.then((listing) => {
      if (node.isClosed || isClosed) return
      // It may have come or gone while the others were read.
      node.isSkill = holdsSkill(node.path)
      goThrough(node, listing, isNews)
    })
  }

  function goThrough(node: Node, listing: Listing | undefined, isNews: boolean): void {
    const { path, depth } = node
    // Those further down got their watch when we were said to be ready.
    const isTold = isNews || (depth > 1 && listing !== undefined && isYoung(path, listing, readySince))
    if (isTold) host.changed(ownerOf(node))
    if (!listing || depth >= MAX_DEPTH) return
    for (const below of listing.below) ahead.push({ ...below, parent: node, depth: depth + 1, isNews: isTold })
  }

  function openNode({ path, name, parent, depth }: Step): Node | undefined {
    const watcher = host.open(path, (event, entry) => {
      if (isClosed) return
      host.counted()
      if (!node.isClosed) happened(node, event, entry)
    })
    if (!watcher) return undefined
    const node: Node = {
      ...{ path, name, depth, parent, watcher },
      children: undefined,
      isSkill: false,
      isClosed: false,
    }
    watcher.on('error', () => replace(node))
    byPath.set(path, node)
    if (parent) (parent.children ??= new Map()).set(name, node)
    return node
  }

  function nodeAt({ path, children }: Node, name: string): Node | undefined {
    return children?.get(name) ?? byPath.get(entryPath(path, name))
  }

  function happened(node: Node, event: string, name: string | null): void {
    if (name === null) {
      replace(node)
      return
    }
    if (name === basename(node.path) && node.parent === undefined) host.rootMoved()
    if (name === SKILL_FILE) {
      node.isSkill = holdsSkill(node.path)
      host.changed(node.path)
    }
    const known = nodeAt(node, name)
    // Only the rights or times of a directory that is watched changed.
    if (known && event === 'change') return
    if (known) drop(known, { isNews: true })
    const below = lookBelow(node.path, name, { root, isInSkill: isInSkill(node) })
    if (below && node.depth < MAX_DEPTH) later([{ ...below, parent: node, depth: node.depth + 1, isNews: true }])
    else if (!known) host.changed(ownerOf(node))
  }

  /** Its watch is of no use any more. */
  function replace(node: Node): void {
    if (node.isClosed || isClosed) return
    if (node.parent === undefined) {
      host.rootMoved()
      return
    }
    const { path, name, parent, depth } = node
    drop(node, { isNews: true })
    later([{ path, name, parent, depth, isLink: false, isNews: true }])
  }

  function drop(node: Node, { isNews = false } = {}): void {
    if (isNews) host.changed(ownerOf(node))
    for (const child of node.children?.values() ?? []) drop(child, { isNews })
    node.isClosed = true
    host.close(node.watcher)
    if (byPath.get(node.path) === node) byPath.delete(node.path)
    if (node.parent?.children?.get(node.name) === node) node.parent.children.delete(node.name)
  }

  return {
    async start() {
      ahead.push({ path: root, name: '', parent: undefined, depth: 0, isLink: false, isNews: false })
      await work()
      isStarting = false
      readySince = Date.now()
      later(unread)
      unread = []
    },
    async close() {
      isClosed = true
      ahead = []
      unread = []
      const pace = createPace()
      for (const node of byPath.values()) {
        node.isClosed = true
        host.close(node.watcher)
        const pause = pace()
        if (pause) await pause
      }
      byPath.clear()
    },
  }
}

/** The skill that a directory belongs to; the directory itself when it belongs to none. */
function ownerOf(node: Node): string {
  for (let place: Node | undefined = node; place; place = place.parent) if (place.isSkill) return place.path
  return node.path
}

function isInSkill(node: Node | undefined): boolean {
  for (let place = node; place; place = place.parent) if (place.isSkill) return true
  return false
}
