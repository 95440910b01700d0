/** push: carries what a command changed in a mirror back to the workspace, and refuses what may not leave the sandbox. */
import { posix } from 'node:path'
import {
  contentOf,
  type Entry,
  forEachPaced,
  isClosed,
  type Owner,
  type Pace,
  paceOf,
  type Tree,
} from '../../files/index.ts'
import { errorCode, errorMessage } from '../../../kernel/index.ts'
import { NOT_KEPT } from '../messages.ts'
import { directoriesAbove, isRepository, type Protection } from '../guard/protected.ts'
import { listTree, type Listing, type MirrorLimits, removeWhole } from './scan.ts'

/** Two entries that were equal when they were last carried over. */
export interface Pair {
  readonly host: Entry
  readonly mirror: Entry
}

/** Parts that one way back needs. */
export interface PushOptions {
  readonly limits: MirrorLimits
  readonly host: Tree
  readonly mirror: Tree
  readonly protection: Protection
  /** Kept true: holds what is equal on both sides when the push is over. */
  readonly pairs: Map<string, Pair>
  /** Ends the work. What is not taken back by then is one note. */
  readonly signal: AbortSignal | undefined
}

/** One way back. Whatever is not taken back is also removed from the mirror, so that the next pull brings the workspace's own. */
export class Push {
  readonly #options: PushOptions
  readonly notes: string[] = []
  readonly #pace: Pace
  #after: Listing['entries'] = new Map()
  #taken = 0
  #isWhole = true
  /** The system refused a change. */
  #hasFailed = false
  /** Directories that were repositories before the command. */
  readonly #repositories: ReadonlySet<string>

  constructor(options: PushOptions) {
    this.#options = options
    const { pairs, signal } = options
    this.#pace = paceOf(signal)
    const heads = [...pairs.keys()].filter((path) => posix.basename(path) === 'HEAD').map((path) => posix.dirname(path))
    const parts = (directory: string): string[] => (directory === '.' ? [] : directory.split('/'))
    const repositories = heads.filter((directory) => isRepository(parts(directory), (path) => pairs.has(path)))
    this.#repositories = new Set(repositories.map((directory) => (directory === '.' ? '' : directory)))
  }

  /** False when it did not come to its end. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  async carry(): Promise<void> {
    try {
      await this.#carryAll()
    } catch (error) {
      if (!this.#options.signal?.aborted) throw error
      this.#giveUp(NOT_KEPT.timeUp(this.#taken))
    }
  }

  async #carryAll(): Promise<void> {
    const { pairs, limits, mirror } = this.#options
    // With more than this, more has changed than is taken back.
    const maxEntries = pairs.size + limits.maxFiles
    const after = await listTree(mirror, { maxEntries, opens: true, pace: this.#pace })
    this.#after = after.entries
    const changed: [string, Entry][] = []
    let bytes = 0
    await forEachPaced(after.entries, this.#pace, ([path, entry]) => {
      bytes += entry.size
      if (!isSame(pairs.get(path)?.mirror, entry)) changed.push([path, entry])
    })
    // The limit is on all that would be there, not on changes: else one command could leave too much for every later one.
    const files = after.entries.size
    const isTooMuch = changed.length > 0 && (files > limits.maxFiles || bytes > limits.maxBytes)
    if (isTooMuch || !after.isComplete) return this.#giveUp(NOT_KEPT.tooMuch({ files, bytes }, limits))
    for (const path of after.others) await this.#refuse(path, NOT_KEPT.special(path))
    for (const path of after.deep) await this.#refuse(path, NOT_KEPT.tooDeep(path))
    await this.#takeAll(changed, after.deep.length > 0)
  }

  /** New files first, and then the removals: else a file that was moved to where it is not kept would be gone. */
  async #takeAll(changed: readonly [string, Entry][], isTooDeep: boolean): Promise<void> {
    const { pairs, mirror } = this.#options
    const before = [...pairs].reverse()
    // Where a file becomes a directory or the reverse, what was there goes before all.
    const replaced = new Set(
      before.filter(([path, { mirror: was }]) => this.#isReplaced(path, was)).map(([path]) => path),
    )
    const isInTheWay = (path: string): boolean =>
      replaced.size > 0 && [...directoriesAbove(path), path].some((each) => replaced.has(each))
    const removed = before.filter(([path]) => replaced.has(path) || !this.#after.has(path))
    const take = ([path, pair]: [string, Pair]): Promise<void> => this.#takeRemoval(path, pair)
    await forEachPaced(
      removed.filter(([path]) => isInTheWay(path)),
      this.#pace,
      take,
    )
    await forEachPaced(changed, this.#pace, async ([path, entry]) => {
      if (mirror.entry(path)) await this.#guard(path, () => this.#takeChange(path, entry))
    })
    const lost = changed
      .filter(([path, entry]) => pairs.get(path)?.mirror !== entry)
      .map(([, entry]) => contentOf(entry))
    const rest = removed.filter(([path]) => !isInTheWay(path))
    const staying = this.#movedAway(rest, { lost: new Set(lost), isAny: this.#hasFailed || isTooDeep })
    await forEachPaced(
      rest.filter(([path]) => !staying.has(path)),
      this.#pace,
      take,
    )
  }

  /** Files that stay, as what the command made of them was not kept. */
  #movedAway(
    removed: readonly [string, Pair][],
    { lost, isAny }: { readonly lost: ReadonlySet<string>; readonly isAny: boolean },
  ): ReadonlySet<string> {
    const isLost = ({ mirror: was }: Pair): boolean => was.kind !== 'directory' && (isAny || lost.has(contentOf(was)))
    const staying = removed.filter(([, pair]) => isLost(pair)).map(([path]) => path)
    for (const path of staying) this.#options.pairs.delete(path)
    if (staying.length > 0) this.notes.push(NOT_KEPT.movedAway(staying))
    return new Set(staying)
  }

  #isReplaced(path: string, { kind }: Entry): boolean {
    const now = this.#after.get(path)
    return now !== undefined && now.kind !== kind
  }

  #giveUp(note: string): void {
    this.notes.push(note)
    this.#isWhole = false
  }

  async #takeRemoval(path: string, pair: Pair): Promise<void> {
    const { host, pairs } = this.#options
    pairs.delete(path)
    const protectedPath = this.#protection(path, pair.host.kind)
    if (protectedPath !== undefined) {
      this.notes.push(NOT_KEPT.protectedRemoval(path, protectedPath))
      return
    }
    await this.#guard(path, async () => {
      const now = host.entry(path)
      if (!now) return
      if (now.stamp !== pair.host.stamp) {
        this.notes.push(NOT_KEPT.removedMeanwhile(path))
        return
      }
      if (now.kind === 'directory' && (await host.list(path, { max: 0 })).isComplete === false) return
      host.remove(path, now.kind)
    })
  }

  async #takeChange(path: string, entry: Entry): Promise<void> {
    const { host, pairs } = this.#options
    const note = this.#refusal(path, entry)
    if (note !== undefined) return this.#refuse(path, note)
    this.#makeParents(posix.dirname(path))
    const before = pairs.get(path)
    const now = host.entry(path)
    const isDirectory = entry.kind === 'directory'
    if (isDirectory && now?.kind === 'directory') return this.#pair(path, entry)
    if (now && now.stamp !== before?.host.stamp) return this.#keepBeside(path, entry)
    if (isDirectory) host.makeDirectory(path, { mode: entry.mode, owner: this.#hostOwner(path) })
    else if (entry.kind === 'link') replaceLink(host, path, entry)
    else await this.#writeFile(path, { entry, now, before })
    this.#pair(path, entry)
  }

  async #writeFile(
    path: string,
    { entry, now, before }: { entry: Entry; now: Entry | undefined; before: Pair | undefined },
  ): Promise<void> {
    const { host, mirror } = this.#options
    // The host's own mode stays unless the command changed it.
    const mode = now && before?.mirror.mode === entry.mode ? now.mode : entry.mode
    const owner = this.#hostOwner(path)
    await host.copyFrom(mirror, path, { mode, owner, mustBeNew: now === undefined, pace: this.#pace })
  }

  #refusal(path: string, entry: Entry): string | undefined {
    const protectedPath = this.#protection(path, entry.kind)
    if (protectedPath !== undefined) return NOT_KEPT.protectedChange(path, protectedPath)
    const leaves = entry.kind === 'link' && !staysInside(path, entry.target ?? '')
    return leaves ? NOT_KEPT.leavingLink(path) : undefined
  }

  /** Both sides are equal now. */
  #pair(path: string, entry: Entry): void {
    const { host, pairs } = this.#options
    const result = host.entry(path)
    if (result) pairs.set(path, { host: result, mirror: entry })
  }

  /** Both sides changed it: the host's stays, the command's is written beside it. */
  async #keepBeside(path: string, entry: Entry): Promise<void> {
    const { host, mirror } = this.#options
    if (entry.kind !== 'file') return this.#refuse(path, NOT_KEPT.changedMeanwhile(path))
    let beside = `${path}.nexus-conflict`
    for (let number = 2; host.entry(beside); number++) beside = `${path}.nexus-conflict-${number}`
    const owner = this.#hostOwner(path)
    await host.copyFrom(mirror, path, { to: beside, mode: entry.mode, owner, mustBeNew: true, pace: this.#pace })
    await this.#refuse(path, NOT_KEPT.conflict(path, beside))
  }

  #makeParents(directory: string): void {
    const { host } = this.#options
    if (directory === '.' || host.entry(directory)?.kind === 'directory') return
    this.#makeParents(posix.dirname(directory))
    host.makeDirectory(directory, {
      mode: this.#after.get(directory)?.mode ?? 0o755,
      owner: this.#hostOwner(directory),
    })
  }

  /** New files belong to whom their directory belongs to, also when root carries them over. */
  #hostOwner(path: string): Owner | undefined {
    return process.getuid?.() === 0 ? this.#options.host.ownerOf(posix.dirname(path)) : undefined
  }

  #protection(path: string, kind: string): string | undefined {
    const { pairs, protection } = this.#options
    return protection.placeOf(path, kind, {
      // A command that ran at the same time may have made the other half of a repository.
      exists: (other) => this.#after.has(other) || pairs.has(other) || this.#isOnHost(other),
      wasRepository: (directory) => this.#repositories.has(directory),
    })
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

  async #guard(path: string, step: () => Promise<void>): Promise<void> {
    try {
      await step()
      this.#taken++
    } catch (error) {
      if (this.#options.signal?.aborted) throw error
      this.#hasFailed = true
      await this.#refuse(path, NOT_KEPT.failed(path, errorCode(error) ?? errorMessage(error)))
    }
  }

  async #refuse(path: string, note: string): Promise<void> {
    this.notes.push(note)
    await this.#forget(path)
  }

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

function replaceLink(host: Tree, path: string, entry: Entry): void {
  if (host.entry(path)) host.remove(path, 'link')
  host.makeLink(path, entry.target ?? '')
}

function isSame(before: Entry | undefined, now: Entry): boolean {
  return before !== undefined && before.kind === now.kind && (now.kind === 'directory' || before.stamp === now.stamp)
}

/**
 * True when a link can only lead to places inside: a relative target whose `..` are all at its beginning and
 * do not climb above the workspace. A later `..` could follow another link first and come out elsewhere.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const climbs = parts.findIndex((part) => part !== '..')
  const up = climbs < 0 ? parts.length : climbs
  return !parts.slice(up).includes('..') && up <= path.split('/').length - 1
}
