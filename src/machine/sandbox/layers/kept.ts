/** kept: what later commands see of a workspace besides what is in it: held changes, installed packages and caches, as a layer over it. */
import { posix } from 'node:path'
import { directoriesAbove, type HeldPath, putSide, type Records, type SetEntry } from '../../changes/index.ts'
import { below, codeOf, type Entry, ownerToken, type Tree } from '../../files/index.ts'
import { removeWhole } from '../mirror/scan.ts'

/** A name in the directory of a layer: a device with the number 0, which hides what is below. */
export const GONE = 'gone'
const KEPT = 'kept'
const ABOUT = 'about.json'
const MAX_ABOUT_BYTES = 64 * 1024 * 1024

/** Facts about a layer, as they are on the disk. */
interface About {
  /** The workspace: another one may get the same place and number. */
  readonly identity: string
  /** Held paths, each with its set and digest and the state of the workspace; empty for what was removed from the layer again. */
  readonly laid: readonly (readonly [path: string, key: string])[]
  /** Packages and caches, each with the state of the workspace that it belongs to. */
  readonly beside: readonly (readonly [unit: string, stamp: string])[]
}

/** The change set of a command, and where the command worked. */
export interface Settled {
  readonly set: string | undefined
  readonly entries: readonly SetEntry[]
  /** Paths that the command removed, whatever they were. */
  readonly gone: readonly string[]
  readonly upper: Tree
  /** Whether a directory of the upper tree hides what is below it. */
  readonly isOpaque: (path: string) => Promise<boolean>
}

/** The layer of a workspace, as long as its lock is held. */
export class Kept {
  readonly #tree: Tree
  readonly #host: Tree
  readonly #identity: string
  readonly #laid: Map<string, string>
  readonly #beside: Map<string, string>

  private constructor({ tree, host }: { readonly tree: Tree; readonly host: Tree }, about: About) {
    this.#tree = tree
    this.#host = host
    this.#identity = about.identity
    this.#laid = new Map(about.laid)
    this.#beside = new Map(about.beside)
  }

  /** Reads a layer. That of another workspace, and one that cannot be read, is emptied. */
  static async open(tree: Tree, host: Tree, identity: string): Promise<Kept> {
    const about = await readAbout(tree)
    if (about?.identity === identity) return new Kept({ tree, host }, about)
    await removeWhole(tree, KEPT)
    tree.makeDirectory(KEPT, { mode: 0o755 })
    const kept = new Kept({ tree, host }, { identity, laid: [], beside: [] })
    await kept.#save()
    return kept
  }

  /** Brings it up to what is held now, and removes what the workspace has by itself. */
  async update(records: Records, held: ReadonlyMap<string, HeldPath>): Promise<void> {
    const stale = [...this.#laid].reverse().filter(([path, key]) => !this.#isCurrent(path, key, held.get(path)))
    const outdated = [...this.#beside].filter(([unit, stamp]) => this.#stampOf(unit) !== stamp || !this.#canLay(unit))
    const missing = [...held].filter(([path, now]) => this.#isMissing(path, now))
    for (const [path] of [...stale, ...outdated]) await this.#remove(path)
    // The user changed it since: theirs is seen, and the set keeps the other.
    for (const [path, key] of stale) if (key.startsWith(keyOf(held.get(path)))) this.#laid.set(path, '')
    for (const [path, now] of missing) this.#laid.set(path, this.#keyOf(path, now))
    // First the names: what is not named here would never be removed.
    if (stale.length + outdated.length + missing.length > 0) await this.#save()
    for (const [path, now] of missing) await this.#lay(path, now, records)
  }

  async #lay(path: string, { set, side }: HeldPath, records: Records): Promise<void> {
    if (side === undefined) return this.#hide(path)
    if (side.kind === 'directory') return this.#makeDirectory(path)
    const bytes = records.bytes(set, side)
    if (bytes === undefined) return
    await this.#makeWay(path)
    await putSide(this.#tree, at(path), { side, bytes })
  }

  /** Takes what is held, or stays beside the workspace, out of an upper directory. */
  async settle({ set = '', entries, gone, upper, isOpaque }: Settled): Promise<void> {
    const isNamed = (path: string): boolean => this.#laid.has(path) || this.#beside.has(path)
    // A later command sees the repository of the workspace.
    const held = entries.filter(({ verdict, git }) => verdict === 'held' && git === undefined)
    const beside = entries.filter(({ verdict }) => verdict === 'beside').map(({ unit }) => unit)
    const others = entries.filter(({ verdict, path }) => !['held', 'beside'].includes(verdict) && isNamed(path))
    for (const path of [...gone, ...others.map((entry) => entry.path)]) await this.#drop(path)
    for (const { path, after } of held) this.#laid.set(path, this.#keyOf(path, { set, side: after }))
    for (const unit of beside) this.#beside.set(unit, this.#stampOf(unit))
    if (held.length + beside.length + gone.length + others.length > 0) await this.#save()
    for (const { path, after } of held) await this.#keep(path, after?.kind, upper)
    for (const unit of beside)
      if (upper.entry(unit)) await this.#merge(unit, upper, isOpaque)
      else await this.#hide(unit)
  }

  async #keep(path: string, kind: Entry['kind'] | undefined, upper: Tree): Promise<void> {
    if (kind === undefined) await this.#hide(path)
    else if (kind === 'directory') await this.#makeDirectory(path)
    // Some files of git are made by us; the next command gets them out of the set.
    else if (upper.entry(path)?.kind === kind) await this.#move(path, upper)
  }

  /** Makes the directory of one command, and returns its name. */
  newUpper(): string {
    const name = `up-${ownerToken()}-${Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')}`
    for (const part of ['', '/work', '/seen', '/below']) this.#tree.makeDirectory(`${name}${part}`, { mode: 0o700 })
    return name
  }

  entry(path: string): Entry | undefined {
    return this.#tree.entry(at(path))
  }

  #isCurrent(path: string, key: string, now: HeldPath | undefined): boolean {
    return now !== undefined && (key === '' || key === this.#keyOf(path, now)) && this.#canLay(path)
  }

  #isMissing(path: string, now: HeldPath): boolean {
    const key = this.#laid.get(path)
    if (key === '' || !this.#canLay(path)) return false
    return key?.startsWith(keyOf(now)) !== true || (now.side !== undefined && this.entry(path) === undefined)
  }

  async #drop(path: string): Promise<void> {
    await removeWhole(this.#tree, at(path))
    const isBelow = (other: string): boolean => other === path || other.startsWith(`${path}/`)
    for (const laid of this.#laid.keys()) if (isBelow(laid)) this.#laid.set(laid, '')
    for (const unit of [...this.#beside.keys()]) if (isBelow(unit)) this.#beside.delete(unit)
  }

  async #remove(path: string): Promise<void> {
    const isUnit = this.#beside.delete(path)
    this.#laid.delete(path)
    if (isUnit || this.entry(path)?.kind !== 'directory') await removeWhole(this.#tree, at(path))
    // Directories that were only the way to it.
    for (let up = path; up !== '.' && !this.#laid.has(up); up = posix.dirname(up)) {
      if (this.entry(up)?.kind !== 'directory') continue
      if (!(await this.#tree.list(at(up), { max: 0 })).isComplete) return
      this.#tree.remove(at(up), 'directory')
    }
  }

  async #merge(path: string, upper: Tree, isOpaque: Settled['isOpaque']): Promise<void> {
    const isMerged = upper.entry(path)?.kind === 'directory' && this.entry(path)?.kind === 'directory'
    if (!isMerged || (await isOpaque(path))) return this.#move(path, upper)
    for (const { name } of (await upper.list(path)).entries) await this.#merge(below(path, name), upper, isOpaque)
  }

  async #move(path: string, upper: Tree): Promise<void> {
    await this.#makeWay(path)
    if (this.entry(path)) await removeWhole(this.#tree, at(path))
    this.#tree.moveFrom(upper, path, at(path))
  }

  /** Hides what the workspace has at a path. */
  async #hide(path: string): Promise<void> {
    if (this.#host.entry(path) === undefined || this.#isHidden(path)) return
    await this.#makeWay(path)
    if (this.entry(path)) await removeWhole(this.#tree, at(path))
    try {
      this.#tree.link(GONE, at(path))
    } catch (error) {
      // It has as many names as a file may have: what is more stays visible.
      if (codeOf(error) !== 'EMLINK') throw error
    }
  }

  async #makeDirectory(path: string): Promise<void> {
    if (this.entry(path)?.kind === 'directory') return
    await this.#makeWay(path)
    // Making its way hides it where that was hidden.
    const kind = this.entry(path)?.kind
    if (kind !== undefined) await removeWhole(this.#tree, at(path))
    // A directory of the layer shows its own mode.
    this.#tree.makeDirectory(at(path), { mode: (this.#host.entry(path)?.mode ?? 0o755) | 0o700 })
    if (kind !== 'other' || this.#host.entry(path)?.kind !== 'directory') return
    // The entries that the workspace has in it stay hidden.
    for (const { name } of (await this.#host.list(path)).entries) await this.#hide(below(path, name))
  }

  async #makeWay(path: string): Promise<void> {
    const above = posix.dirname(path)
    if (above !== '.') await this.#makeDirectory(above)
  }

  #isHidden(path: string): boolean {
    return directoriesAbove(path).some((up) => (this.entry(up)?.kind ?? 'directory') !== 'directory')
  }

  /** Nothing is laid through a file or a link that the workspace has by now. */
  #canLay(path: string): boolean {
    return directoriesAbove(path).every((up) => (this.#host.entry(up)?.kind ?? 'directory') === 'directory')
  }

  #stampOf(unit: string): string {
    const found = this.#host.changeOf(unit)
    return found ? `${found.inode}:${found.atNs}` : ''
  }

  #keyOf(path: string, held: HeldPath): string {
    const isFile = this.#host.entry(path)?.kind !== 'directory'
    return keyOf(held) + (isFile ? this.#stampOf(path) : '')
  }

  async #save(): Promise<void> {
    const about: About = { identity: this.#identity, laid: [...this.#laid], beside: [...this.#beside] }
    await this.#tree.write(ABOUT, { bytes: Buffer.from(JSON.stringify(about)), mode: 0o600 })
  }
}

function at(path: string): string {
  return `${KEPT}/${path}`
}

function keyOf(held: HeldPath | undefined): string {
  return held ? `${held.set}:${held.side?.digest ?? 'gone'}@` : '-'
}

async function readAbout(tree: Tree): Promise<About | undefined> {
  try {
    const { bytes } = await tree.read(ABOUT, { maxBytes: MAX_ABOUT_BYTES })
    return JSON.parse(new TextDecoder().decode(bytes)) as About
  } catch {
    // There is none, or a loss of power cut it: what it names can be made again.
    return undefined
  }
}
