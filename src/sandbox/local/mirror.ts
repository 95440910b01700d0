/** mirror: a copy of a workspace that belongs to the dropped uid; commands work in it, our own code carries the changes over. */
import { posix } from 'node:path'
import { toSafeLine } from '../../kernel/index.ts'
import type { MirrorLimits } from './options.ts'
import { protectedPlace } from './protected.ts'
import { type Listing, listTree } from './scan.ts'
import { type Entry, isAbsence, type Owner, Tree } from './tree.ts'

/** Two entries that were equal when they were last carried over. */
interface Pair {
  readonly host: Entry
  readonly mirror: Entry
}

/** What a mirror is made for. */
export interface MirrorOptions {
  /** Real path of the workspace. */
  readonly workspace: string
  /** An empty directory of the dropped uid. */
  readonly directory: string
  /** Whom the copies belong to; undefined when that is ourselves. */
  readonly owner: Owner | undefined
  readonly limits: MirrorLimits
}

/** One copy of one workspace, for one command at a time. */
export class Mirror {
  readonly directory: string
  readonly #options: MirrorOptions
  #pairs = new Map<string, Pair>()

  constructor(options: MirrorOptions) {
    this.directory = options.directory
    this.#options = options
  }

  /** Makes the copy equal to the workspace. Throws LIMIT_EXCEEDED when that is too large. */
  async pull(signal?: AbortSignal): Promise<void> {
    const host = new Tree(this.#options.workspace)
    const mirror = new Tree(this.directory)
    try {
      const { entries } = await listTree(host, { limits: this.#options.limits, signal })
      for (const [path, pair] of [...this.#pairs].reverse()) {
        const entry = entries.get(path)
        if (entry?.kind === pair.host.kind && (entry.kind === 'directory' || entry.stamp === pair.host.stamp)) continue
        if (entry?.kind === 'file' && pair.host.kind === 'file') continue
        mirror.removeAll(path)
        this.#pairs.delete(path)
      }
      // In the order of the listing, so that parents come first here and last in the loop above.
      const pairs = new Map<string, Pair>()
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
      const after = await listTree(mirror, { limits: { maxFiles: Infinity, maxBytes: Infinity }, mustBeReadable: true })
      const notes = new Push({ ...this.#options, host, mirror, after, pairs: this.#pairs }).carry()
      return notes.map((note) => toSafeLine(note))
    } finally {
      host.close()
      mirror.close()
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
      if (isAbsence(error) || (error as NodeJS.ErrnoException).code === 'EACCES') return undefined
      throw error
    }
    const copy = mirror.entry(path)
    return copy && { host: entry, mirror: copy }
  }
}

interface PushOptions extends MirrorOptions {
  readonly host: Tree
  readonly mirror: Tree
  readonly after: Listing
  /** Kept true: holds what is equal on both sides when the push is over. */
  readonly pairs: Map<string, Pair>
}

/** One way back. Whatever is not taken back is also removed from the mirror, so that the next pull brings the workspace's own. */
class Push {
  readonly #options: PushOptions
  readonly #notes: string[] = []

  constructor(options: PushOptions) {
    this.#options = options
  }

  carry(): string[] {
    const { after, pairs, limits, mirror } = this.#options
    for (const path of after.others) {
      this.#refuse(path, 'it is a device, a pipe or a socket')
    }
    const changed = [...after.entries].filter(([path, entry]) => !isSame(pairs.get(path)?.mirror, entry))
    const bytes = changed.reduce((sum, [, entry]) => sum + entry.size, 0)
    if (changed.length > limits.maxFiles || bytes > limits.maxBytes) {
      for (const [path] of changed) this.#forget(path)
      return [
        `nothing was taken back: the command changed ${changed.length} files with ${bytes} bytes; at most ${limits.maxFiles} and ${limits.maxBytes} (mirror.maxFiles, mirror.maxBytes)`,
      ]
    }
    for (const [path, pair] of [...pairs].reverse()) {
      const now = after.entries.get(path)
      if (now === undefined || now.kind !== pair.mirror.kind) this.#takeRemoval(path, pair)
    }
    for (const [path, entry] of changed) {
      if (mirror.entry(path)) this.#guard(path, () => this.#takeChange(path, entry))
    }
    return this.#notes
  }

  #takeRemoval(path: string, pair: Pair): void {
    const { host, pairs } = this.#options
    pairs.delete(path)
    const place = this.#protection(path, pair.host.kind)
    if (place !== undefined) return this.#note(path, `removing it was not taken over: ${place} is protected`)
    this.#guard(path, () => {
      const now = host.entry(path)
      if (!now) return
      if (now.stamp !== pair.host.stamp)
        return this.#note(path, 'the command removed it, but it changed on the host meanwhile: kept')
      if (now.kind === 'directory' && host.names(path).length > 0) return
      host.remove(path, now.kind)
    })
  }

  #takeChange(path: string, entry: Entry): void {
    const { host, mirror, pairs } = this.#options
    const place = this.#protection(path, entry.kind)
    if (place !== undefined) return this.#refuse(path, `${place} is protected`)
    if (entry.kind === 'link' && !staysInside(path, entry.target ?? '')) {
      return this.#refuse(path, 'it is a link that leaves the workspace')
    }
    this.#makeParents(posix.dirname(path))
    const before = pairs.get(path)
    const now = host.entry(path)
    if (entry.kind === 'directory') {
      if (now && now.kind !== 'directory') return this.#refuse(path, 'a file of that name appeared on the host')
      if (!now) host.makeDirectory(path, { mode: entry.mode, owner: this.#hostOwner(path) })
    } else if (now && now.stamp !== before?.host.stamp) {
      return this.#keepBeside(path, entry)
    } else if (entry.kind === 'link') {
      if (now) host.remove(path, now.kind)
      host.makeLink(path, entry.target ?? '')
    } else {
      const mode = now?.kind === 'file' && before?.mirror.mode === entry.mode ? now.mode : entry.mode
      host.copyFrom(mirror, path, { mode, owner: this.#hostOwner(path), mustBeNew: now === undefined })
    }
    const result = host.entry(path)
    if (result) pairs.set(path, { host: result, mirror: entry })
  }

  /** Both sides changed it: the host's stays, the command's lies beside it. */
  #keepBeside(path: string, entry: Entry): void {
    const { host, mirror } = this.#options
    if (entry.kind !== 'file') return this.#refuse(path, 'it changed on the host meanwhile')
    let beside = `${path}.nexus-conflict`
    for (let number = 2; host.entry(beside); number++) beside = `${path}.nexus-conflict-${number}`
    host.copyFrom(mirror, path, { to: beside, mode: entry.mode, owner: this.#hostOwner(path), mustBeNew: true })
    this.#refuse(path, `it changed on the host meanwhile; the command's version is ${beside}`)
  }

  #makeParents(directory: string): void {
    const { host, after } = this.#options
    if (directory === '.' || host.entry(directory)?.kind === 'directory') return
    this.#makeParents(posix.dirname(directory))
    host.makeDirectory(directory, {
      mode: after.entries.get(directory)?.mode ?? 0o755,
      owner: this.#hostOwner(directory),
    })
  }

  /** New files belong to whom their directory belongs to, also when root carries them over. */
  #hostOwner(path: string): Owner | undefined {
    return process.getuid?.() === 0 ? this.#options.host.ownerOf(posix.dirname(path)) : undefined
  }

  #protection(path: string, kind: string): string | undefined {
    const { after, pairs } = this.#options
    return protectedPlace(path, kind, (other) => after.entries.has(other) || pairs.has(other))
  }

  #guard(path: string, step: () => void): void {
    try {
      step()
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      this.#refuse(path, `it could not be carried over (${code ?? message})`)
    }
  }

  #refuse(path: string, why: string): void {
    this.#note(path, `not taken back: ${why}`)
    this.#forget(path)
  }

  #note(path: string, text: string): void {
    this.#notes.push(`${path}: ${text}`)
  }

  #forget(path: string): void {
    const { mirror, pairs } = this.#options
    mirror.removeAll(path)
    for (const known of pairs.keys()) if (known === path || known.startsWith(`${path}/`)) pairs.delete(known)
  }
}

function isSame(before: Entry | undefined, now: Entry): boolean {
  return before !== undefined && before.kind === now.kind && (now.kind === 'directory' || before.stamp === now.stamp)
}

/**
 * True when a link can only lead to places inside: a relative target whose `..` all stand at its beginning and
 * do not climb above the workspace. A later `..` could follow another link first and come out elsewhere.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const climbs = parts.findIndex((part) => part !== '..')
  const up = climbs < 0 ? parts.length : climbs
  return !parts.slice(up).includes('..') && up <= path.split('/').length - 1
}
