/** records: change sets on the disk of this machine, beside the state of the sandbox: what each did, and the bytes before and after. */
import { closeSync, mkdirSync, openSync, readSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { createPace, forEachPaced } from '../files/index.ts'
import { namesIn, PackWriter, readEnds, readText, writeLater, writeNew, writeWhole } from './durable.ts'
import { type Change, directoriesAbove, type Verdict } from './gate.ts'

/** One side of a change: what was, or is, at a path. */
export interface Side {
  readonly kind: Change['kind']
  readonly mode: number
  readonly size: number
  /** SHA-256 of a file's bytes or a link's text; empty for a directory. */
  readonly digest: string
  /** Where its bytes begin in the pack; absent for what the pack does not hold. */
  readonly at?: number
}

/** One path of a set. */
export interface SetEntry {
  readonly path: string
  /** The outermost place that decided: what a user keeps or drops. */
  readonly unit: string
  readonly type: Change['type']
  readonly verdict: Verdict | 'conflict' | 'undone'
  /** Completes "held, because …". */
  readonly reason?: string
  /** Absent: there was nothing. */
  readonly before?: Side
  readonly after?: Side
  /** Only in a git directory: `moves` are values that git of the host moves, in the bytes of both sides; `state` is a file that goes with them. */
  readonly git?: 'moves' | 'state'
}

/** One command or file tool, and what it changed. */
export interface ChangeSet {
  readonly id: string
  /** Real path. */
  readonly workspace: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly expiresAt: string
  /** `taking`: its process was killed under it, or still works. */
  readonly state: 'taking' | 'applied' | 'undone'
  /** The tool that made the changes, and its call. */
  readonly tool: string
  readonly call?: string
  /** Files and links that are in the workspace, and entries that wait for a person; when the row was written. */
  readonly counts?: { readonly applied: number; readonly held: number }
}

/** All that a set has besides its row. */
export interface Contents {
  readonly entries: readonly SetEntry[]
  /** Only with the first row. */
  readonly pack?: PackWriter | undefined
}

/** The sets of one workspace. Whoever changes one has the lock of the workspace. */
export class Records {
  readonly #directory: string
  readonly #workspace: string
  readonly #bornMs: number
  /** Those of the set that was asked last; they never change. */
  #inline: { readonly id: string; readonly bytes: Buffer } | undefined

  /** `directory` is made when the first set is. A file system may give the identity of a removed workspace to another one. */
  constructor(directory: string, workspace: string, bornMs = 0) {
    this.#directory = directory
    this.#workspace = workspace
    this.#bornMs = bornMs
  }

  /** The newest first. */
  list(): ChangeSet[] {
    return this.#ours(this.#ids()).toReversed()
  }

  find(id: string): ChangeSet | undefined {
    const { first = '', last = '' } = readEnds(this.#row(id), LONGEST_STATE) ?? {}
    // A kill or a loss of power may have cut it.
    const state = STATE.exec(last)?.[1] as ChangeSet['state'] | undefined
    return state && { ...(JSON.parse(first) as ChangeSet), state }
  }

  entries(id: string): SetEntry[] {
    return this.#lines(id).slice(ABOVE).flatMap((line) => (line.startsWith('{') ? (JSON.parse(line) as SetEntry) : [])) // oxfmt-ignore
  }

  /** Opens the pack of a new set. Old sets go now, also in a process that lives long. */
  pack(id: string): PackWriter {
    this.prune(Date.now())
    mkdirSync(join(this.#directory, OPEN), { recursive: true, mode: 0o700 })
    return new PackWriter(this.#packOf(id))
  }

  /** The bytes of a side, none for a directory; undefined when the pack does not hold them. */
  bytes(id: string, { kind, at, size }: Side): Uint8Array | undefined {
    if (kind === 'directory') return new Uint8Array()
    if (at === undefined) return undefined
    if (this.#inline?.id !== id)
      this.#inline = { id, bytes: Buffer.from(JSON.parse(this.#lines(id)[1] || '""') as string, 'base64') }
    const inline = this.#inline.bytes
    if (at + size <= inline.length) return inline.subarray(at, at + size)
    const fd = openSync(this.#packOf(id), 'r')
    try {
      const bytes = Buffer.allocUnsafe(size)
      for (let done = 0; done < size;) {
        const got = readSync(fd, bytes, done, size - done, at + done)
        if (got === 0) return undefined
        done += got
      }
      return bytes
    } finally {
      closeSync(fd)
    }
  }

  /** Sets that a command has to look at: those being taken, and those that hold something. The oldest first. */
  open(): ChangeSet[] {
    return this.#ours(namesIn(join(this.#directory, OPEN)))
  }

  /** Writes the row with the entries, and the bytes of a pack that is small, whole or not at all, and so that it survives a loss of power. */
  async write(set: ChangeSet, { entries, pack }: Contents): Promise<void> {
    const counts = countsOf(entries)
    const mark = join(this.#directory, OPEN, set.id)
    // Before the row when it opens, after it when it closes: a row that must be looked at is never without its mark.
    writeLater(mark, '')
    const inline = pack ? JSON.stringify(Buffer.from(pack.inline ?? []).toString('base64')) : this.#lines(set.id)[1]
    const write = pack ? writeNew : writeWhole
    await write(this.#row(set.id), linesOf({ ...set, counts }, inline || '""', entries), createPace())
    if (set.state !== 'taking' && counts.held === 0) rmSync(mark, { force: true })
  }

  /** The row of a set that was being taken says `applied`. A loss of power may take that away: `recover` sees then that all is there. */
  end({ id }: ChangeSet): void {
    writeLater(this.#row(id), '\n"applied"\n')
    if (this.find(id)?.counts?.held === 0) this.close(id)
  }

  /** Nothing is held in it. */
  close(id: string): void {
    rmSync(join(this.#directory, OPEN, id), { force: true })
  }

  remove(id: string): void {
    // The row first: without it the rest is no set.
    for (const path of [this.#row(id), this.#packOf(id), join(this.#directory, OPEN, id)]) rmSync(path, { force: true })
  }

  /**
   * Removes what a killed process left before its row was written, sets that expired, and the oldest where all together hold too much: first
   * those that hold nothing for a person. Looks once an hour, whichever process asks.
   */
  prune(now: number, maxBytes = MAX_BYTES): void {
    const mark = join(this.#directory, PRUNED)
    if (now - (statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0) < HOUR_MS) return
    const isOver = (set: ChangeSet | undefined): boolean => set === undefined || Date.parse(set.expiresAt) < now
    for (const id of this.#ids().filter((each) => isOver(this.find(each)))) this.remove(id)
    const isHolding = ({ counts, state }: ChangeSet): boolean => state === 'taking' || counts?.held !== 0
    const oldest = this.list().toReversed()
    let bytes = 0
    for (const { id } of oldest) bytes += this.#packSize(id)
    for (const { id } of [...oldest.filter((set) => !isHolding(set)), ...oldest.filter(isHolding)]) {
      if (bytes <= maxBytes) break
      bytes -= this.#packSize(id)
      this.remove(id)
    }
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    closeSync(openSync(mark, 'w', 0o600))
    utimesSync(mark, now / 1000, now / 1000)
  }

  #packSize(id: string): number {
    const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    return sizeOf(this.#packOf(id)) + sizeOf(this.#row(id))
  }

  #row(id: string): string {
    return join(this.#directory, `${id}.jsonl`)
  }

  #packOf(id: string): string {
    return join(this.#directory, `${id}.pack`)
  }

  #lines(id: string): string[] {
    return (readText(this.#row(id)) ?? '').split('\n')
  }

  /** Sets of this workspace, the oldest first. */
  #ours(ids: readonly string[]): ChangeSet[] {
    return ids
      .flatMap((id) => this.find(id) ?? [])
      .filter(({ workspace, createdAt }) => workspace === this.#workspace && Date.parse(createdAt) >= this.#bornMs)
      .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id))
  }

  #ids(): string[] {
    return [
      ...new Set(
        namesIn(this.#directory).flatMap((name) => /^(.+?)\.(?:jsonl|pack|jsonl\.part)$/.exec(name)?.[1] ?? []),
      ),
    ]
  }
}

/** Verdicts that wait for a person. */
export const HELD: readonly SetEntry['verdict'][] = ['held', 'conflict']

/** Files and links that are in the workspace; what git moved is one of them, the last, with its files of state, which alone are files like others. */
export function appliedFiles(entries: readonly SetEntry[]): readonly SetEntry[] {
  const applied = entries.filter(({ verdict }) => verdict === 'applied')
  const moved = new Set(applied.flatMap(({ git, unit }) => (git === 'moves' ? [unit] : [])))
  const files = applied.filter(
    ({ git, unit, before, after }) => !(git === 'state' && moved.has(unit)) && (after ?? before)?.kind !== 'directory',
  )
  return files.toSorted((a, b) => Number(a.git === 'moves') - Number(b.git === 'moves'))
}

function countsOf(entries: readonly SetEntry[]): NonNullable<ChangeSet['counts']> {
  return {
    applied: appliedFiles(entries).length,
    held: entries.filter(({ verdict }) => HELD.includes(verdict)).length,
  }
}

function* linesOf(set: ChangeSet, inline: string, entries: readonly SetEntry[]): Generator<string> {
  yield JSON.stringify(set)
  yield inline
  for (const entry of entries) yield JSON.stringify(entry)
  yield JSON.stringify(set.state)
}

/** The directory of marks. */
const OPEN = 'open'
/** A file that was changed when the sets were last pruned. */
const PRUNED = 'pruned'
const HOUR_MS = 3_600_000
/** Lines above the entries: the row and the bytes. */
const ABOVE = 2
/** The last whole line of a row; the one after it may be cut. */
const STATE = /\n"(taking|applied|undone)"\n\n?[^\n]*$/
const LONGEST_STATE = '\n"taking"\n\n"applied"'.length
/** Most bytes of all sets of a workspace. */
const MAX_BYTES = 1024 ** 3

/** One path that is held: the set, and what the command left there; undefined when it removed it. */
export interface HeldPath {
  readonly set: string
  readonly side: Side | undefined
}

/** Paths that are held, the newest of each. */
export async function heldPaths(records: Records): Promise<ReadonlyMap<string, HeldPath>> {
  const held = new Map<string, HeldPath>()
  await forEachPaced(records.open(), createPace(), ({ id }) => {
    for (const { path, verdict, after, git } of records.entries(id)) {
      held.delete(path)
      // A later command sees the repository of the workspace.
      if (verdict === 'held' && git === undefined) held.set(path, { set: id, side: after })
    }
  })
  const ages = new Map([...held.keys()].map((path, age) => [path, age]))
  // A later command put something else in the place of its directory.
  const isReplaced = (path: string): boolean =>
    directoriesAbove(path).some((above) => {
      const found = held.get(above)
      return found !== undefined && found.side?.kind !== 'directory' && (ages.get(above) ?? 0) > (ages.get(path) ?? 0)
    })
  return new Map([...held].filter(([path]) => !isReplaced(path)))
}

/** The directory of the sets of a workspace, by what it is and not by its name. */
export function recordsOf(stateDir: string, workspace: string): Records {
  const { dev, ino, birthtimeMs } = statSync(workspace, { bigint: true })
  return new Records(join(stateDir, 'changes', `${dev}-${ino}`), workspace, Number(birthtimeMs))
}
