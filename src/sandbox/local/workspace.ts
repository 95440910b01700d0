/** workspace: prepares a workspace for one command and takes the result back, directly or through a mirror. */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { NexusError, toSafeLine } from '../../kernel/index.ts'
import { contains } from '../request.ts'
import type { Mount } from '../runner/protocol.ts'
import { removeTree } from '../runner/temp.ts'
import { Mirror } from '../mirror/mirror.ts'
import type { LocalSettings } from './options.ts'
import { listProtected, type ProtectedFound } from '../mirror/scan.ts'
import { identityDirectory, type ProjectState } from './state.ts'
import { Tree } from '../mirror/tree.ts'

/** Commands of one workspace that may run at the same time; each has a mirror of its own. */
const MAX_MIRRORS = 4
/** Entries that are looked at for protected places when the workspace is used directly. */
const MAX_LOOKED_AT = 200_000
const MAX_NOTES = 20

/** System places: a workspace there would hide or open what every command needs. */
const SYSTEM_PLACES = [
  ...['/usr/bin', '/usr/sbin', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/share', '/usr/include'],
  ...['/usr/local/bin', '/usr/local/sbin', '/usr/local/lib', '/etc', '/bin', '/sbin', '/lib', '/lib64'],
  ...['/boot', '/dev', '/proc', '/sys', '/run'],
]

/** A workspace that a command can work in now. */
export interface Entered {
  readonly mount: Mount
  /** Absolute paths that stay read-only. */
  readonly readOnly: readonly string[]
  /** Takes the changes back; returns what the caller should know. Call it exactly once. */
  leave(): Promise<string[]>
}

/** Throws INVALID_ARGUMENT for a directory that cannot be a workspace. */
export function checkWorkspace(workspace: string, stateDir: string): void {
  const why =
    workspace === '/tmp' || SYSTEM_PLACES.some((place) => contains(place, workspace) || contains(workspace, place))
      ? 'is a system directory'
      : contains(workspace, homedir())
        ? 'holds your whole home directory, with its keys and settings'
        : contains(workspace, stateDir) || contains(stateDir, workspace)
          ? 'overlaps the state directory of the sandbox'
          : undefined
  if (why) {
    throw new NexusError('INVALID_ARGUMENT', `the workspace ${workspace} ${why}`, {
      fix: 'use the directory of one project as workspace',
    })
  }
}

/** Uses the workspace itself: what is protected and exists is read-only; what appears under a protected name is removed. */
export async function enterDirectly(workspace: string, signal?: AbortSignal): Promise<Entered> {
  const before = await withTree(workspace, (tree) => listProtected(tree, { maxEntries: MAX_LOOKED_AT, signal }))
  return {
    mount: { source: workspace, path: workspace },
    readOnly: before.found.map((path) => join(workspace, path)),
    leave: () => withTree(workspace, async (tree) => shorten(await removeAppeared(tree, before))),
  }
}

async function withTree<T>(workspace: string, work: (tree: Tree) => Promise<T>): Promise<T> {
  const tree = new Tree(workspace)
  try {
    return await work(tree)
  } finally {
    tree.close()
  }
}

async function removeAppeared(tree: Tree, before: ProtectedFound): Promise<string[]> {
  if (!before.isComplete)
    return ['the workspace is too large to look for protected places that the command may have made']
  const notes: string[] = []
  for (;;) {
    const after = await listProtected(tree, { maxEntries: MAX_LOOKED_AT })
    for (const path of after.found) {
      if (!before.found.includes(path))
        notes.push(attempt(path, () => tree.removeAll(path), 'removed: it is protected and commands may not create it'))
    }
    // A command must not hide a protected place in a directory that it closes.
    const closed = after.closed.filter((path) => !before.closed.includes(path))
    const opened = closed.map((path) =>
      attempt(path, () => tree.openUp(path), 'its mode is 700 now: the command had closed it'),
    )
    notes.push(...opened)
    if (closed.length === 0 || opened.some((note) => note.includes(FAILED))) return notes
  }
}

const FAILED = 'could not be put right'

function attempt(path: string, work: () => void, done: string): string {
  try {
    work()
    return `${path}: ${done}`
  } catch (error) {
    return `${path}: changed by the command in a place that is protected, and ${FAILED} (${(error as Error).message}): look at it`
  }
}

/** The mirrors of one sandbox: a few for each workspace, made when needed. */
export class Mirrors {
  readonly #settings: LocalSettings
  readonly #state: ProjectState
  readonly #liveDirectory: string
  readonly #pools = new Map<string, Pool>()

  constructor(options: { settings: LocalSettings; state: ProjectState; liveDirectory: string }) {
    this.#settings = options.settings
    this.#state = options.state
    this.#liveDirectory = options.liveDirectory
  }

  /** Brings the workspace into a free mirror. */
  async enter(workspace: string, signal?: AbortSignal): Promise<Entered> {
    const pool = this.#poolOf(workspace)
    const mirror = await pool.take(() => this.#create(workspace))
    try {
      await pool.alone(() => mirror.pull(signal))
    } catch (error) {
      removeTree(mirror.directory)
      pool.giveUp()
      throw error
    }
    return {
      mount: { source: mirror.directory, path: workspace },
      readOnly: [],
      leave: async () => {
        try {
          const notes = await pool.alone(() => mirror.push())
          pool.giveBack(mirror)
          return shorten(notes)
        } catch (error) {
          removeTree(mirror.directory)
          pool.giveUp()
          return [`the command's changes were not taken back: ${toSafeLine((error as Error).message)}`]
        }
      },
    }
  }

  #poolOf(workspace: string): Pool {
    const known = this.#pools.get(workspace)
    if (known) return known
    const pool = new Pool()
    this.#pools.set(workspace, pool)
    return pool
  }

  #create(workspace: string): Mirror {
    const { identity } = this.#state
    mkdirSync(this.#liveDirectory, { recursive: true })
    const directory = identityDirectory(mkdtempSync(join(this.#liveDirectory, 'mirror-')), identity)
    const owner = this.#settings.isRoot ? identity : undefined
    return new Mirror({ workspace, directory, owner, limits: this.#settings.mirror })
  }
}

/** The mirrors of one workspace. Copying in and out is done by one at a time, so that no half-carried change is copied. */
class Pool {
  readonly #free: Mirror[] = []
  readonly #waiting: (() => void)[] = []
  #made = 0
  #last: Promise<unknown> = Promise.resolve()

  async take(create: () => Mirror): Promise<Mirror> {
    for (;;) {
      const free = this.#free.pop()
      if (free) return free
      if (this.#made < MAX_MIRRORS) {
        this.#made++
        return create()
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  giveBack(mirror: Mirror): void {
    this.#free.push(mirror)
    this.#waiting.shift()?.()
  }

  giveUp(): void {
    this.#made--
    this.#waiting.shift()?.()
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    // The next one waits for the end of this one, however it ended; the error goes to the caller of `result`.
    this.#last = result.catch(() => undefined)
    return result
  }
}

function shorten(notes: readonly string[]): string[] {
  if (notes.length <= MAX_NOTES) return notes.map((note) => toSafeLine(note))
  return [
    ...notes.slice(0, MAX_NOTES).map((note) => toSafeLine(note)),
    `and ${notes.length - MAX_NOTES} more that were not taken back`,
  ]
}
