/** mirror: a copy of a workspace that belongs to the dropped uid; commands work in it, our own code carries the changes over. */
import { errorCode, toSafeLine } from '../../kernel/index.ts'
import { followPlaces } from '../guard/followed.ts'
import { type ProtectedPlaces, Protection } from '../guard/protected.ts'
import { type Pair, Push } from './push.ts'
import { listTree, type MirrorLimits } from './scan.ts'
import { type Entry, isAbsence, type Owner, Tree } from '../guard/tree.ts'

/** What a mirror is made for. */
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

  constructor(options: MirrorOptions) {
    this.directory = options.directory
    this.#options = options
    this.#protection = new Protection(options.places)
  }

  /** Makes the copy equal to the workspace. Throws LIMIT_EXCEEDED when that is too large. */
  async pull(signal?: AbortSignal): Promise<void> {
    const host = new Tree(this.#options.workspace)
    const mirror = new Tree(this.directory)
    try {
      const { entries, leftovers } = await listTree(host, {
        limits: this.#options.limits,
        signal,
        // What we may not read, commands do not get.
        onClosed: () => undefined,
      })
      for (const path of leftovers) host.removeAll(path)
      this.#protection = this.#protect(entries)
      this.#dropStale(mirror, entries)
      const pairs = new Map<string, Pair>()
      // The listing names parents first, and the map keeps that order.
      for (const [path, entry] of entries) {
        const known = this.#pairs.get(path)
        const pair = known?.host.stamp === entry.stamp ? known : this.#bring(path, entry, { host, mirror })
        if (pair) pairs.set(path, pair)
        signal?.throwIfAborted()
      }
      this.#pairs = pairs
    } finally {
      host.close()
      mirror.close()
    }
  }

  /** Carries what the command changed over to the workspace. Returns one note for each thing that was not taken back. */
  async push(): Promise<string[]> {
    const host = new Tree(this.#options.workspace)
    const mirror = new Tree(this.directory)
    try {
      const after = await listTree(mirror, { limits: { maxFiles: Infinity, maxBytes: Infinity } })
      const protection = this.#protection
      const notes = new Push({ ...this.#options, protection, host, mirror, after, pairs: this.#pairs }).carry()
      return notes.map((note) => toSafeLine(note))
    } finally {
      host.close()
      mirror.close()
    }
  }

  /** Only links and configurations of git lead to other places. */
  #protect(entries: ReadonlyMap<string, Entry>): Protection {
    const { places, workspace } = this.#options
    const protection = new Protection(places)
    const around = { exists: (path: string) => entries.has(path), wasRepository: () => true }
    const leading = [...entries].filter(
      ([path, { kind }]) =>
        (kind === 'link' || /(?:^|\/)config(?:\.worktree)?$/.test(path)) &&
        protection.placeOf(path, kind, around) !== undefined,
    )
    const followed = followPlaces(
      workspace,
      leading.map(([path]) => path),
    )
    return new Protection({ ...places, paths: [...places.paths, ...followed] })
  }

  /** Removes from the copy what the workspace no longer holds, or holds as something else. */
  #dropStale(mirror: Tree, entries: ReadonlyMap<string, Entry>): void {
    for (const [path, { host }] of [...this.#pairs].reverse()) {
      const entry = entries.get(path)
      const canStay = entry?.kind === host.kind && (entry.kind !== 'link' || entry.stamp === host.stamp)
      if (canStay) continue
      mirror.removeAll(path)
      this.#pairs.delete(path)
    }
  }

  #bring(path: string, entry: Entry, trees: { host: Tree; mirror: Tree }): Pair | undefined {
    const { host, mirror } = trees
    const { owner } = this.#options
    try {
      if (entry.kind === 'directory') {
        if (!mirror.entry(path)) mirror.makeDirectory(path, { mode: entry.mode | 0o700, owner })
      } else if (entry.kind === 'link') mirror.makeLink(path, entry.target ?? '')
      else mirror.copyFrom(host, path, { mode: entry.mode | 0o400, owner })
    } catch (error) {
      // It vanished between the listing and the copy, or we may not read it: the command does not get it.
      if (isAbsence(error) || errorCode(error) === 'EACCES') return undefined
      throw error
    }
    const copy = mirror.entry(path)
    return copy && { host: entry, mirror: copy }
  }
}
