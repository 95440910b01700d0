/** workspace: prepares a workspace for one command and takes the result back. */
import { mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createPace, Tree } from '../../files/index.ts'
import { errorMessage, makeDirectory, toSafeLine } from '../../../kernel/index.ts'
import { withLock } from '../lock.ts'
import { placesIn } from '../places.ts'
import { CHANGED, NOT_KEPT } from '../messages.ts'
import { type Maker, recordsOf, recover } from '../../changes/index.ts'
import { Layers } from './layers.ts'
import { type Entered, type Left, leftBy } from './left.ts'
import type { Pushed } from '../mirror/push.ts'
import type { OpenPaths } from '../open-paths.ts'
import type { Seen } from '../runner/protocol.ts'
import { tryRemoveTree } from '../runner/temp.ts'
import { Mirror } from '../mirror/mirror.ts'
import { type SavedPlace, saveMirror, takeMirror } from '../mirror/saved.ts'
import type { LocalSettings } from './options.ts'
import { Pool } from './pool.ts'
import { identityDirectory, lockFile, ownDirectory, type ProjectState, workspaceIdentity } from './state.ts'
import { viewOf } from './view.ts'

const MAX_NOTES = 20

interface EnterOptions {
  readonly paths?: OpenPaths | undefined
  readonly signal?: AbortSignal
  readonly maker: Maker
}

/** The workspaces of one sandbox: in layers, or with a few mirrors each, made when needed. */
export class Workspaces {
  readonly #settings: LocalSettings
  readonly #state: ProjectState
  readonly #liveDirectory: string
  readonly #pools = new Map<string, Pool>()
  readonly #layers: Layers
  readonly #pruned = new Set<string>()
  /** Notes for the next command, of sets that a killed process left. */
  readonly #recovered: string[] = []

  constructor(options: { settings: LocalSettings; state: ProjectState; liveDirectory: string }) {
    this.#settings = options.settings
    this.#state = options.state
    this.#liveDirectory = options.liveDirectory
    this.#layers = new Layers(options.settings)
  }

  /** Makes the workspace ready for one command. */
  async enter(workspace: string, how: EnterOptions): Promise<Entered> {
    if (!this.#settings.layered || how.paths || (await this.#layers.refusal(workspace)) !== undefined)
      return this.#enterMirror(workspace, how)
    const { signal, maker } = how
    const entered = await this.#layers.enter(workspace, { signal, maker, begin: () => this.#recover(workspace) })
    return { ...entered, leave: async (maxMs) => this.#withRecovered(await entered.leave(maxMs)) }
  }

  /** Brings the workspace into a free mirror. */
  async #enterMirror(workspace: string, { paths, signal, maker }: EnterOptions): Promise<Entered> {
    const pool = this.#poolOf(workspace)
    const mirror = await pool.take(() => this.#create(workspace))
    let opened: ReturnType<typeof viewOf> | undefined
    try {
      // Mounts that narrow the copy would not narrow what is bound into it.
      await pool.alone(() => withLock(lockFile(this.#settings, workspace), () => this.#recover(workspace), { signal }))
      await pool.alone(() => mirror.pull(signal, paths && { closed: paths.closed, isComplete: true }))
      opened = paths && viewOf(mirror.directory, paths)
    } catch (error) {
      giveUp(mirror)
      pool.giveUp()
      throw error
    }
    const { bound } = mirror
    const whole: Seen[] = [{ path: '', as: 'write' }, ...bound.map((path): Seen => ({ path, as: 'host' }))]
    return {
      mount: { source: mirror.directory, path: workspace },
      view: opened?.view ?? whole,
      bound,
      leave: async (maxMs) => {
        try {
          const push = (): Promise<Pushed> => mirror.push({ signal: AbortSignal.timeout(Math.ceil(maxMs)), maker })
          const pushed = await pool.alone(() => withLock(lockFile(this.#settings, workspace), push))
          if (mirror.isUsable) pool.giveBack(mirror)
          else {
            giveUp(mirror)
            pool.giveUp()
          }
          const left = leftBy(pushed)
          const notes = [...left.notes, ...(opened?.missing ?? []).map(NOT_KEPT.missing)]
          return this.#withRecovered({ ...left, notes })
        } catch (error) {
          giveUp(mirror)
          pool.giveUp()
          return { notes: [NOT_KEPT.all(toSafeLine(errorMessage(error)))] }
        }
      },
    }
  }

  #withRecovered(left: Left): Left {
    return { ...left, notes: [...this.#recovered.splice(0), ...left.notes] }
  }

  /** Ends what a killed process began, and removes what expired. */
  async #recover(workspace: string): Promise<void> {
    const records = recordsOf(this.#settings.stateDir, workspace)
    if (!this.#pruned.has(workspace)) records.prune(Date.now())
    this.#pruned.add(workspace)
    const host = new Tree(workspace)
    try {
      for (const { id } of await recover(records, host)) this.#recovered.push(CHANGED.recovered(id))
    } finally {
      host.close()
    }
  }

  #poolOf(workspace: string): Pool {
    const known = this.#pools.get(workspace)
    if (known) return known
    const pool = new Pool()
    this.#pools.set(workspace, pool)
    return pool
  }

  /** Keeps a mirror of each workspace for later processes. */
  async close(): Promise<void> {
    for (const [workspace, { free }] of this.#pools) {
      const known = free?.known
      if (!free || !known) continue
      try {
        await saveMirror(this.#savedOf(workspace), { from: free.directory, known, workspace, pace: createPace() })
      } catch {
        // The workspace is gone, or the disk is full: a later process makes a copy of its own.
      }
    }
  }

  #savedOf(workspace: string): SavedPlace {
    const directory = ownDirectory(join(dirname(this.#state.revisions), 'mirrors'), 0o700)
    return { directory, ...workspaceIdentity(workspace) }
  }

  async #create(workspace: string): Promise<Mirror> {
    const { identity } = this.#state
    makeDirectory(this.#liveDirectory, { mkdirSync, statSync })
    const directory = mkdtempSync(join(this.#liveDirectory, 'mirror-'))
    // An empty directory is replaced by the one that was kept.
    const known = await takeMirror(this.#savedOf(workspace), directory, createPace())
    identityDirectory(directory, identity)
    const owner = this.#settings.isRoot ? identity : undefined
    const options = {
      workspace,
      directory,
      owner,
      limits: this.#settings.mirror,
      places: placesIn(workspace, this.#settings),
      records: recordsOf(this.#settings.stateDir, workspace),
      changes: this.#settings.changes,
    }
    return new Mirror(options, known)
  }
}

/** It is not awaited. What cannot be removed now is removed with the directory of the sandbox, or by the next start. */
function giveUp(mirror: Mirror): void {
  tryRemoveTree(mirror.directory).catch(() => undefined)
}

/** Notes as they are shown: their text holds names that a command chose. */
export function shorten(notes: readonly string[]): string[] {
  const shown = notes.slice(0, MAX_NOTES).map((note) => toSafeLine(note))
  const last = notes.at(-1)
  if (notes.length <= MAX_NOTES || last === undefined) return shown
  // The last one says when there is more than could be looked at.
  return [...shown, `and ${notes.length - MAX_NOTES - 1} more of the kind`, toSafeLine(last)]
}
