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
import {
  directoriesAbove,
  heldPaths,
  type Maker,
  mayLead,
  putSide,
  type Records,
  type SetLimits,
} from '../../changes/index.ts'
import { leadingAmong, type ProtectedPlaces, rulesOf, withLeading } from '../places.ts'
import { findDependencies } from './dependencies.ts'
import { GONE, type Own, type Pair, Push, type Pushed } from './push.ts'
import { layPackages, stateOf } from './packages.ts'
import type { Known } from './saved.ts'
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
  readonly records: Records
  readonly changes: SetLimits
}

interface How {
  readonly host: Tree
  readonly mirror: Tree
  readonly pace: Pace
}

/** One copy of one workspace, for one command at a time. */
export class Mirror {
  readonly directory: string
  readonly #options: MirrorOptions
  #pairs: Map<string, Pair>
  /** Entries of the workspace that lead to others. */
  #leading: readonly string[] = []
  #closed: readonly string[] = []
  /** Held paths, and those that stay beside the workspace. */
  readonly #own: Map<string, Own>
  #hasSecrets = false
  #isUsable = true
  #bound: readonly string[] = []
  /** Packages that could not be laid, with their state. */
  readonly #tooLarge = new Map<string, string>()

  /** `known`: of a copy that an earlier process made. */
  constructor(options: MirrorOptions, known?: Known) {
    this.directory = options.directory
    this.#options = options
    this.#pairs = known?.pairs ?? new Map()
    this.#own = known?.own ?? new Map()
  }

  /** For a later process; undefined for a copy in which a command had secrets. */
  get known(): Known | undefined {
    return this.#hasSecrets ? undefined : { pairs: this.#pairs, own: this.#own }
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
      const dependencies = findDependencies({ host, workspace, owner, opened: rulesOf(places).opened })
      const leavesOut = (path: string): boolean => !isComplete && dependencies.take(path)
      const known = (path: string): Entry | undefined => this.#pairs.get(path)?.host
      const { entries, leftovers } = await listTree(host, { limits, pace, leavesOut, known })
      for (const path of leftovers) await host.removeAll(path)
      const leading: string[] = []
      await forEachPaced(entries, pace, ([path, { kind }]) => void (mayLead(path, kind) && leading.push(path)))
      this.#leading = leadingAmong(leading, rulesOf(places), (path) => entries.has(path))
      this.#closed = closed
      const held = await heldPaths(this.#options.records)
      await this.#give(mirror, (path, { verdict }) => verdict === 'held' && !held.has(path))
      await this.#dropStale({ mirror, pace }, entries)
      // Packages that the workspace has by itself by now, or has otherwise.
      const isCurrent = (path: string, { packages }: Own): boolean =>
        isComplete ? !entries.has(path) : stateOf(host, path) === (packages?.host ?? '')
      await this.#give(
        mirror,
        (path, own) => own.verdict === 'beside' && !this.#pairs.has(path) && !isCurrent(path, own),
      )
      const units = new Set(dependencies.bound)
      const pairs = new Map<string, Pair>()
      // The listing names parents first, and the map keeps that order.
      await forEachPaced(entries, pace, ([path, entry]) => {
        const known = this.#pairs.get(path)
        if (known?.host.stamp === entry.stamp && !units.has(path)) return void pairs.set(path, known)
        return this.#bring(path, entry, { host, mirror, pace, units }).then(
          (pair) => void (pair && pairs.set(path, pair)),
        )
      })
      this.#pairs = pairs
      this.#bound = dependencies.bound.filter((path) => pairs.has(path))
      if (!isComplete) await this.#lay(mirror, held)
    } finally {
      host.close()
      mirror.close()
    }
  }

  /** Takes what the command changed into the workspace, until the signal ends it. The caller has the lock of the workspace. */
  async push({ signal, maker }: { readonly signal: AbortSignal; readonly maker: Maker }): Promise<Pushed> {
    const host = new Tree(this.#options.workspace)
    const mirror = new Tree(this.directory)
    try {
      this.#hasSecrets ||= maker.hasSecrets === true
      const { workspace, limits, places, changes, records } = this.#options
      const push = new Push({
        host,
        mirror,
        pairs: this.#pairs,
        own: this.#own,
        limits,
        signal,
      })
      const pushed = await push.carry({
        records,
        limits: changes,
        workspace,
        maker,
        plain: rulesOf(places),
        rules: () => withLeading({ ...rulesOf(places), named: new Set(this.#closed) }, workspace, this.#leading),
      })
      this.#isUsable = push.isWhole
      return pushed
    } finally {
      host.close()
      mirror.close()
    }
  }

  /** Brings packages of the workspace so that commands can add to them; false where they can only be bound. */
  async #layPackages(path: string, { host, mirror, pace }: How): Promise<boolean> {
    const { workspace, owner, limits } = this.#options
    if (this.#own.get(path)?.packages) return true
    const state = stateOf(host, path)
    // Commands that run as ourselves could change the files.
    if (!owner || this.#tooLarge.get(path) === state) return false
    this.#pairs.delete(path)
    try {
      if (!(await layPackages({ workspace, path, mirror, owner, limits, pace }))) {
        this.#tooLarge.set(path, state)
        return false
      }
    } catch (error) {
      if (isAbsence(error)) return false
      throw error
    }
    const packages = { host: state, mirror: stateOf(mirror, path) }
    this.#own.set(path, { verdict: 'beside', stamp: mirror.entry(path)?.stamp ?? GONE, packages })
    return true
  }

  /** Takes out of the copy what is no longer its own: that of the workspace comes instead. */
  async #give(mirror: Tree, isOver: (path: string, own: Own) => boolean): Promise<void> {
    for (const [path] of [...this.#own].filter(([each, own]) => isOver(each, own))) {
      await removeWhole(mirror, path)
      this.#pairs.delete(path)
      this.#own.delete(path)
    }
  }

  /** Brings what is held into the copy, so that later commands see it. */
  async #lay(mirror: Tree, held: Awaited<ReturnType<typeof heldPaths>>): Promise<void> {
    const { records, owner } = this.#options
    for (const [path, { set, side }] of held) {
      if (this.#own.get(path)?.verdict === 'held') continue
      const bytes = side && records.bytes(set, side)
      if (bytes !== undefined && side && this.#canLay(mirror, path))
        await putSide(mirror, path, { side: { ...side, mode: side.mode | 0o600 }, bytes, owner })
      else if (side === undefined) await putSide(mirror, path, { side, bytes: undefined })
      const stamp = side ? mirror.entry(path)?.stamp : GONE
      if (stamp !== undefined) this.#own.set(path, { verdict: 'held', stamp })
    }
  }

  /** A file does not hide a directory of the workspace, nor does it replace a file or link that is on its way now. */
  #canLay(mirror: Tree, path: string): boolean {
    const isOpen = (at: string): boolean => (mirror.entry(at)?.kind ?? 'directory') === 'directory'
    return mirror.entry(path)?.kind !== 'directory' && directoriesAbove(path).every(isOpen)
  }

  /** Removes from the copy what the workspace no longer holds, or holds as something else. */
  async #dropStale({ mirror, pace }: { mirror: Tree; pace: Pace }, entries: ReadonlyMap<string, Entry>): Promise<void> {
    const stale: string[] = []
    await forEachPaced(this.#pairs, pace, ([path, { host }]) => {
      const entry = entries.get(path)
      const canStay = entry?.kind === host.kind && (entry.kind !== 'link' || entry.stamp === host.stamp)
      if (!canStay) stale.push(path)
    })
    await forEachPaced(stale.reverse(), pace, async (path) => {
      await removeWhole(mirror, path)
      this.#pairs.delete(path)
    })
  }

  async #bring(
    path: string,
    entry: Entry,
    how: How & { readonly units: ReadonlySet<string> },
  ): Promise<Pair | undefined> {
    if (how.units.has(path) && (await this.#layPackages(path, how))) return undefined
    try {
      const copy = await make(path, entry, { ...how, owner: this.#options.owner })
      return copy && { host: entry, mirror: copy }
    } catch (error) {
      // It vanished or became something else between the listing and the copy, or we may not read it: the command does not get it.
      if (isAbsence(error) || isClosed(error) || ['EISDIR', 'ENXIO', 'EAGAIN'].includes(codeOf(error))) return undefined
      throw error
    }
  }
}

/** Brings one entry of the workspace into the copy; what is there then. */
async function make(
  path: string,
  entry: Entry,
  { host, mirror, pace, owner }: How & Pick<MirrorOptions, 'owner'>,
): Promise<Entry | undefined> {
  if (entry.kind === 'directory') {
    if (!mirror.entry(path)) mirror.makeDirectory(path, { mode: entry.mode | 0o700, owner })
  } else if (entry.kind === 'link') mirror.makeLink(path, entry.target ?? '')
  else {
    const copied = { mode: entry.mode | 0o400, owner, pace }
    try {
      // No command reads the copy now: a new file gets its name at once, which halves the calls.
      return await mirror.copyFrom(host, path, { ...copied, isStaged: true })
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      await mirror.copyFrom(host, path, copied)
    }
  }
  return mirror.entry(path)
}
