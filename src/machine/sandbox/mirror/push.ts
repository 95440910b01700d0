/** push: finds what a command changed in a mirror, and gives it to the gate. */
import {
  type Change,
  createGate,
  type Maker,
  type Records,
  type SetEntry,
  type SetLimits,
  staysInside,
  takeChanges,
  type Taken,
} from '../../changes/index.ts'
import { type Entry, forEachPaced, isClosed, type Pace, paceOf, type Tree } from '../../files/index.ts'
import { NOT_KEPT } from '../messages.ts'
import type { Rules } from '../places.ts'
import { stateOf } from './packages.ts'
import { listTree, type Listing, type MirrorLimits, removeWhole } from './scan.ts'

/** Two entries that were equal when they were last carried over. */
export interface Pair {
  readonly host: Entry
  readonly mirror: Entry
}

/** A path of the mirror that the workspace does not have so. */
export interface Own {
  readonly verdict: 'held' | 'beside'
  /** In the mirror; `GONE` for a removal. */
  readonly stamp: string
  /** Only of packages that the workspace has too: the state of both sides when they were laid. */
  readonly packages?: { readonly host: string; readonly mirror: string }
}

/** Parts that one way back needs. */
export interface PushOptions {
  readonly limits: MirrorLimits
  readonly host: Tree
  readonly mirror: Tree
  /** Kept true: holds what is equal on both sides when the push is over. */
  readonly pairs: Map<string, Pair>
  /** Kept true: what is held, and what stays beside the workspace, by path. */
  readonly own: Map<string, Own>
  /** Ends the work. What is not taken back by then is one note. */
  readonly signal: AbortSignal
}

/** The place of the record, and the rules. */
export interface CarryOptions {
  readonly records: Records
  readonly limits: SetLimits
  readonly workspace: string
  readonly maker: Maker
  readonly rules: () => Promise<Rules>
  /** The same, besides where places lead. */
  readonly plain: Rules
}

/** The set of a command, and what of its changes no set can hold. */
export interface Pushed {
  readonly taken?: Taken
  readonly notes: readonly string[]
}

/** One way back. */
export class Push {
  readonly #options: PushOptions
  readonly #notes: string[] = []
  readonly #pace: Pace
  #isWhole = true

  constructor(options: PushOptions) {
    this.#options = options
    this.#pace = paceOf(options.signal)
  }

  /** False when it did not come to its end: the mirror then has changes that are not the workspace's. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  async carry(options: CarryOptions): Promise<Pushed> {
    try {
      const listing = await this.#list(options.plain)
      const taken = listing && (await this.#take(listing, options))
      return { notes: this.#notes, ...(taken && { taken }) }
    } catch (error) {
      this.#isWhole = false
      if (!this.#options.signal.aborted) throw error
      return { notes: [...this.#notes, NOT_KEPT.timeUp()] }
    }
  }

  /** Undefined when there is too much to take back. */
  async #list(plain: Rules): Promise<Listing | undefined> {
    const { pairs, limits, mirror } = this.#options
    const has = (path: string): boolean => mirror.entry(path) !== undefined
    const judge = createGate({ ...plain, before: has, after: has })
    const isUnit = (path: string): boolean => {
      const { verdict, unit } = judge({ path, type: 'added', kind: 'directory' })
      return verdict === 'beside' && unit === path && !pairs.has(path)
    }
    // With more than this, more has changed than is taken back.
    const after = await listTree(mirror, {
      maxEntries: pairs.size + limits.maxFiles,
      opens: true,
      pace: this.#pace,
      known: (path) => pairs.get(path)?.mirror,
      leavesOut: isUnit,
    })
    let bytes = 0
    for (const { size } of after.entries.values()) bytes += size
    const files = after.entries.size
    // The limit is on all that would be there, not on changes: else one command could leave too much for every later one.
    if (!after.isComplete || files > limits.maxFiles || bytes > limits.maxBytes) {
      this.#notes.push(NOT_KEPT.tooMuch({ files, bytes }, limits))
      this.#isWhole = false
      return undefined
    }
    for (const path of [...after.others, ...after.gone]) await this.#refuse(path, NOT_KEPT.special(path))
    for (const path of after.deep) await this.#refuse(path, NOT_KEPT.tooDeep(path))
    return after
  }

  async #take(after: Listing, { rules, plain: _, ...options }: CarryOptions): Promise<Taken | undefined> {
    const { pairs, host, mirror } = this.#options
    const changes = await this.#changes(after)
    if (changes.length === 0) return undefined
    const taken = await takeChanges({
      ...options,
      host,
      source: mirror,
      changes,
      around: {
        ...(await rules()),
        before: (path) => pairs.has(path) || this.#isOnHost(path),
        // The mark of an environment is in a directory that is not listed.
        after: (path) => after.entries.has(path) || mirror.entry(path) !== undefined,
      },
      isStale: (path) => host.entry(path)?.stamp !== pairs.get(path)?.host.stamp,
      pace: this.#pace,
    })
    await this.#settle(changes, after, taken)
    return taken
  }

  async #changes({ entries }: Listing): Promise<Change[]> {
    const { pairs, own } = this.#options
    const changes: Change[] = []
    await forEachPaced(entries, this.#pace, ([path, entry]) => {
      const before = pairs.get(path)?.mirror
      if (isSame(before, entry) || own.get(path)?.stamp === entry.stamp) return
      const { kind } = entry
      if (kind === 'other') return
      changes.push(changeAt(path, { kind, target: entry.target, isNew: before === undefined }))
    })
    for (const [path, { packages }] of own)
      if (packages && entries.has(path) && stateOf(this.#options.mirror, path) !== packages.mirror)
        changes.push({ path, type: 'changed', kind: 'directory' })
    for (const [path, { mirror }] of pairs)
      if (!entries.has(path) && mirror.kind !== 'other' && own.get(path)?.stamp !== GONE)
        changes.push({ path, type: 'removed', kind: mirror.kind })
    return changes
  }

  /** After the set: what is applied is equal on both sides, what is held stays in the mirror, and the rest goes. */
  async #settle(changes: readonly Change[], { entries }: Listing, taken: Taken | undefined): Promise<void> {
    const { pairs, own, mirror } = this.#options
    const verdicts = new Map(taken?.entries.map(({ path, verdict }) => [path, verdict]))
    const beside = (taken?.entries ?? []).filter(({ verdict }) => verdict === 'beside').map(({ path }) => path)
    const isBeside = (path: string): boolean => beside.some((unit) => path === unit || path.startsWith(`${unit}/`))
    const verdictOf = (path: string): SetEntry['verdict'] =>
      taken?.forgotten.has(path) === true ? 'never' : (verdicts.get(path) ?? (isBeside(path) ? 'beside' : 'applied'))
    await forEachPaced(changes, this.#pace, async ({ path, type }) => {
      const entry = entries.get(path)
      const verdict = verdictOf(path)
      const packages = own.get(path)?.packages
      own.delete(path)
      if (verdict === 'never' || verdict === 'conflict') await this.#forget(path)
      else if (verdict === 'held' || verdict === 'beside')
        own.set(path, {
          verdict,
          stamp: entry?.stamp ?? GONE,
          ...(packages && { packages: { ...packages, mirror: stateOf(mirror, path) } }),
        })
      else if (type === 'removed') pairs.delete(path)
      else await this.#pair(path, entry)
    })
  }

  /** Both sides are equal now, but for files that git of the host writes in its own way. */
  async #pair(path: string, entry: Entry | undefined): Promise<void> {
    const now = this.#options.host.entry(path)
    if (entry && now) this.#options.pairs.set(path, { host: now, mirror: entry })
    else await this.#forget(path)
  }

  #isOnHost(path: string): boolean {
    try {
      return this.#options.host.entry(path) !== undefined
    } catch (error) {
      // Nothing is written into a directory without access rights.
      if (isClosed(error)) return false
      throw error
    }
  }

  async #refuse(path: string, note: string): Promise<void> {
    this.#notes.push(note)
    await this.#forget(path)
  }

  /** The next pull brings the workspace's own. */
  async #forget(path: string): Promise<void> {
    const { mirror, pairs } = this.#options
    await removeWhole(mirror, path)
    const known = pairs.get(path)
    pairs.delete(path)
    // Only a directory has others below it.
    if (known?.mirror.kind !== 'directory') return
    for (const below of pairs.keys()) if (below.startsWith(`${path}/`)) pairs.delete(below)
  }
}

/** A path as a command left it, for the gate. */
export function changeAt(
  path: string,
  {
    kind,
    target = '',
    isNew,
  }: { readonly kind: Change['kind']; readonly target?: string | undefined; readonly isNew: boolean },
): Change {
  return {
    path,
    type: isNew ? 'added' : 'changed',
    kind,
    leavesWorkspace: kind === 'link' && !staysInside(path, target),
  }
}

/** Stamp of a removal. */
export const GONE = 'gone'

function isSame(before: Entry | undefined, now: Entry): boolean {
  return before !== undefined && before.kind === now.kind && (now.kind === 'directory' || before.stamp === now.stamp)
}
