/** mirror: a copy of a workspace that belongs to the dropped uid; commands work in it, our own code carries the changes over. */
import {
  codeOf,
  type Entry,
  forEachPaced,
  isAbsence,
  isClosed,
  type Owner,
  type Pace,
  paceOf,
  Tree,
} from '../../files/index.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import { followPlaces, mayLead } from '../guard/followed.ts'
import { type ProtectedPlaces, Protection } from '../guard/protected.ts'
import { Dependencies } from './dependencies.ts'
import { type Pair, Push } from './push.ts'
import { listTree, type MirrorLimits, removeWhole } from './scan.ts'

/** The workspace and limits of a mirror. */
export interface MirrorOptions {
  /** Real path of the workspace. */
  readonly workspace: string
  /** An empty directory of the dropped uid. */
  readonly directory: string
  /** Whom the copies belong to; undefined when that is ourselves. */
  readonly owner: Owner | undefined
  readonly limits: MirrorLimits
  readonly places: ProtectedPlaces
}

/** One copy of one workspace, for one command at a time. */
export class Mirror {
  readonly directory: string
  readonly #options: MirrorOptions
  #pairs = new Map<string, Pair>()
  #protection: Protection
  #isUsable = true
  #bound: readonly string[] = []

  constructor(options: MirrorOptions) {
    this.directory = options.directory
    this.#options = options
    this.#protection = new Protection(options.places)
  }

  /** False when the last way back did not come to its end: the copy then has changes that are not the workspace's. */
  get isUsable(): boolean {
    return this.#isUsable
  }

  /** Directories of the workspace that are empty in the copy: commands read them where they are. */
  get bound(): readonly string[] {
    return this.#bound
  }

  /** Makes the copy equal to the workspace; `isComplete`: with its dependencies. What is `closed` is not taken back from this command. Throws LIMIT_EXCEEDED when the workspace is too large. */
  async pull(
    signal?: AbortSignal,
    { closed = [], isComplete = false }: { readonly closed?: readonly string[]; readonly isComplete?: boolean } = {},
  ): Promise<void> {
    const host = new Tree(this.#options.workspace)
    const mirror = new Tree(this.directory)
    try {
      const pace = paceOf(signal)
      // Commands do not get files that we may not read.
      const { limits, workspace, owner, places } = this.#options
      const dependencies = new Dependencies({ host, workspace, owner, writable: places.writable })
      const leavesOut = (path: string): boolean => !isComplete && dependencies.take(path)
      const { entries, leftovers } = await listTree(host, { limits, pace, leavesOut })
      for (const path of leftovers) await host.removeAll(path)
      this.#protection = this.#protect(entries, closed)
      await this.#dropStale({ mirror, pace }, entries)
      const pairs = new Map<string, Pair>()
      // The listing names parents first, and the map keeps that order.
      await forEachPaced(entries, pace, async ([path, entry]) => {
        const known = this.#pairs.get(path)
        const pair = known?.host.stamp === entry.stamp ? known : await this.#bring(path, entry, { host, mirror, pace })
        if (pair) pairs.set(path, pair)
      })
      this.#pairs = pairs
      this.#bound = dependencies.bound.filter((path) => pairs.has(path))
    } finally {
      host.close()
      mirror.close()
    }
  }

  /** Carries what the command changed over to the workspace, until the signal ends it. Returns one note for each thing that was not taken back. */
  async push(signal?: AbortSignal): Promise<string[]> {
    const host = new Tree(this.#options.workspace)
    const mirror = new Tree(this.directory)
    try {
      const parts = { protection: this.#protection, host, mirror, pairs: this.#pairs }
      const push = new Push({ ...this.#options, ...parts, signal })
      await push.carry()
      this.#isUsable = push.isWhole
      return push.notes.map((note) => toSafeLine(note))
    } finally {
      host.close()
      mirror.close()
    }
  }

  #protect(entries: ReadonlyMap<string, Entry>, closed: readonly string[]): Protection {
    const { places, workspace } = this.#options
    const protection = new Protection(places)
    const around = { exists: (path: string) => entries.has(path), wasRepository: () => true }
    const leading = [...entries].filter(
      ([path, { kind }]) => mayLead(path, kind) && protection.placeOf(path, kind, around) !== undefined,
    )
    const followed = followPlaces(
      workspace,
      leading.map(([path]) => path),
    )
    return new Protection({ ...places, paths: [...places.paths, ...followed, ...closed] })
  }

  /** Removes from the copy what the workspace no longer holds, or holds as something else. */
  async #dropStale({ mirror, pace }: { mirror: Tree; pace: Pace }, entries: ReadonlyMap<string, Entry>): Promise<void> {
    await forEachPaced([...this.#pairs].reverse(), pace, async ([path, { host }]) => {
      const entry = entries.get(path)
      const canStay = entry?.kind === host.kind && (entry.kind !== 'link' || entry.stamp === host.stamp)
      if (canStay) return
      await removeWhole(mirror, path)
      this.#pairs.delete(path)
    })
  }

  async #bring(path: string, entry: Entry, how: { host: Tree; mirror: Tree; pace: Pace }): Promise<Pair | undefined> {
    const { host, mirror, pace } = how
    const { owner } = this.#options
    try {
      if (entry.kind === 'directory') {
        if (!mirror.entry(path)) mirror.makeDirectory(path, { mode: entry.mode | 0o700, owner })
      } else if (entry.kind === 'link') mirror.makeLink(path, entry.target ?? '')
      else await mirror.copyFrom(host, path, { mode: entry.mode | 0o400, owner, pace })
    } catch (error) {
      // It vanished or became something else between the listing and the copy, or we may not read it: the command does not get it.
      if (isAbsence(error) || isClosed(error) || ['EISDIR', 'ENXIO', 'EAGAIN'].includes(codeOf(error))) return undefined
      throw error
    }
    const copy = mirror.entry(path)
    return copy && { host: entry, mirror: copy }
  }
}
