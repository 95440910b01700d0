/** layers: commands of a normal user work over the workspace, which is not copied: what one changes is in a directory of its own. */
import { readFileSync, statfsSync, statSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { createGate, heldPaths, type Maker, type Records, recordsOf, takeChanges } from '../../changes/index.ts'
import { createPace, paceOf, Tree } from '../../files/index.ts'
import { errorMessage, toSafeLine } from '../../../kernel/index.ts'
import { withLock } from '../lock.ts'
import { isOpaque, type LeftChanges, listChanges } from '../layers/changes.ts'
import { GONE, Kept } from '../layers/kept.ts'
import { Leading } from '../layers/leading.ts'
import { openView, refusalOf, type View } from '../layers/view.ts'
import { leadingAmong, placesIn, type Rules, rulesOf, withLeading } from '../places.ts'
import type { Pushed } from '../mirror/push.ts'
import { LAYERS, NOT_KEPT } from '../messages.ts'
import type { Seen } from '../runner/protocol.ts'
import { tryRemoveTree } from '../runner/temp.ts'
import { type Entered, leftBy } from './left.ts'
import type { LocalSettings } from './options.ts'
import { lockFile, ownDirectory, workspaceIdentity } from './state.ts'
import { findProgram } from './unavailable.ts'

/** File systems whose clock is that of another machine, so that no time says what changed since a command began: NFS, SMB, CIFS, FUSE. */
const REMOTE: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546])

/** Directories of git that have neither links nor settings. */
const GIT_DATA = /(?:^|\/)\.git\/(?:objects|logs|refs)$/

/** One workspace and the directory of its layer. */
interface Place {
  readonly workspace: string
  readonly directory: string
  /** Device, inode, birth and path. */
  readonly identity: string
  readonly records: Records
  readonly leading: Leading
}

/** The trees of a place, while its lock is held. */
interface Open {
  readonly layer: Tree
  readonly host: Tree
}

/** The reason why commands of these settings work in a copy of a workspace; undefined when they do not. */
export async function refusalFor(settings: LocalSettings, workspace: string): Promise<string | undefined> {
  if (settings.isRoot) return LAYERS.root()
  return settings.layered ? new Layers(settings).refusal(workspace) : LAYERS.chosen()
}

/** The layers of one sandbox. */
export class Layers {
  readonly #settings: LocalSettings
  readonly #unshare: string | undefined
  readonly #places = new Map<string, Place>()
  readonly #refusals = new Map<string, Promise<string | undefined>>()

  constructor(settings: LocalSettings) {
    this.#settings = settings
    this.#unshare = findProgram('unshare', settings.programDirectories)
  }

  /** The reason why a workspace cannot be layered here; undefined when it can. */
  refusal(workspace: string): Promise<string | undefined> {
    const known = this.#refusals.get(workspace)
    if (known) return known
    const found = this.#try(workspace)
    this.#refusals.set(workspace, found)
    return found
  }

  /** Makes the directory of a command over the workspace. */
  async enter(
    workspace: string,
    {
      maker,
      signal,
      begin,
    }: { readonly maker: Maker; readonly signal?: AbortSignal; readonly begin: () => Promise<void> },
  ): Promise<Entered> {
    const place = this.#placeOf(workspace)
    const { name, sinceNs } = await this.#locked(
      place,
      async (open) => {
        await begin()
        const kept = await Kept.open(open.layer, open.host, place.identity)
        await kept.update(place.records, await heldPaths(place.records))
        const name = kept.newUpper()
        open.layer.makeDirectory(`${name}/upper`, { mode: (statSync(workspace).mode & 0o777) | 0o700 })
        return { name, sinceNs: open.layer.changeOf(`${name}/upper`)?.atNs ?? 0n }
      },
      signal,
    )
    const layer = join(place.directory, name)
    return {
      mount: { source: join(layer, 'seen'), path: workspace },
      view: [{ path: '', as: 'write' }, ...mountsBelow(workspace)],
      layer,
      leave: async (maxMs) => {
        try {
          return leftBy(await this.#leave(place, { name, sinceNs, maker, maxMs }))
        } catch (error) {
          return { notes: [NOT_KEPT.all(toSafeLine(errorMessage(error)))] }
        } finally {
          await tryRemoveTree(layer)
        }
      },
    }
  }

  async #leave(
    place: Place,
    how: { readonly name: string; readonly sinceNs: bigint; readonly maker: Maker; readonly maxMs: number },
  ): Promise<Pushed> {
    const layer = new Tree(place.directory)
    try {
      layer.openUp(`${how.name}/upper`)
      // The runner removes it when the command began; else the next one finds out why it did not.
      if (layer.entry(`${how.name}/work`)) this.#distrust(place, layer)
      if ((await layer.list(`${how.name}/upper`, { max: 0 })).isComplete) return { notes: [] }
    } finally {
      layer.close()
    }
    const signal = AbortSignal.timeout(Math.ceil(how.maxMs))
    return this.#locked(place, async (open) => {
      const upper = new Tree(join(place.directory, how.name, 'upper'))
      let view: View | undefined
      try {
        view = await openView(this.#unshare ?? '', join(place.directory, how.name))
        return await this.#take(place, { ...open, ...view, upper, signal, maker: how.maker, sinceNs: how.sinceNs })
      } catch (error) {
        if (!signal.aborted) throw error
        return { notes: [NOT_KEPT.timeUp()] }
      } finally {
        view?.close()
        upper.close()
      }
    })
  }

  async #take(
    place: Place,
    trees: Open &
      Omit<View, 'close'> & {
        readonly upper: Tree
        readonly signal: AbortSignal
        readonly maker: Maker
        readonly sinceNs: bigint
      },
  ): Promise<Pushed> {
    const { workspace, records } = place
    const { host, upper, seen, below, signal, maker } = trees
    const pace = paceOf(signal)
    const rules = await this.#rulesOf(place, host)
    const left = await listChanges({ host, upper, seen, below, rules, pace })
    const notes = notesOf(left)
    if (!left.isComplete) return { notes: [...notes, LAYERS.tooMuch(left.changes.length)] }
    const taken = await takeChanges({
      host,
      source: seen,
      changes: left.changes,
      around: {
        ...rules,
        before: (path) => host.entry(path) !== undefined,
        after: (path) => seen.entry(path) !== undefined,
      },
      isStale: (path) => (host.changeOf(path)?.atNs ?? 0n) > trees.sinceNs,
      records,
      limits: this.#settings.changes,
      workspace,
      maker,
      pace,
    })
    const kept = await Kept.open(trees.layer, host, place.identity)
    // A command with secrets leaves nothing outside of the workspace.
    const entries = (taken?.entries ?? []).filter(({ verdict }) => taken?.set !== undefined || verdict === 'applied')
    await kept.settle({
      set: taken?.set?.id,
      entries,
      gone: left.gone,
      upper,
      isOpaque: (path) => isOpaque({ upper, below, seen }, path),
    })
    return { notes, ...(taken && { taken }) }
  }

  /** The rules of the gate; where settings and links lead is looked up anew. */
  async #rulesOf({ workspace, leading }: Place, host: Tree): Promise<Rules> {
    const places = placesIn(workspace, this.#settings)
    const has = (path: string): boolean => host.entry(path) !== undefined
    const rules = rulesOf(places)
    const judge = createGate({ ...rules, before: has, after: has })
    const leavesOut = (path: string): boolean =>
      GIT_DATA.test(path) || judge({ path, type: 'changed', kind: 'directory' }).verdict === 'beside'
    const found = await leading.find(host, { leavesOut, pace: createPace() })
    return withLeading(rules, workspace, leadingAmong(found, rules, has))
  }

  async #locked<T>(place: Place, work: (open: Open) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return withLock(
      lockFile(this.#settings, place.workspace),
      async () => {
        const [layer, host] = [new Tree(place.directory), new Tree(place.workspace)]
        try {
          return await work({ layer, host })
        } finally {
          layer.close()
          host.close()
        }
      },
      { signal },
    )
  }

  /** Tries an overlay over this workspace, unless this kernel is known to do it. */
  async #try(workspace: string): Promise<string | undefined> {
    if (this.#unshare === undefined) return LAYERS.noUnshare()
    if (REMOTE.has(statfsSync(workspace).type)) return LAYERS.remote()
    const place = this.#placeOf(workspace)
    const mark = `${GONE}-${release()}`
    return this.#locked(place, async (open) => {
      if (open.layer.entry(GONE) !== undefined && open.layer.entry(mark) !== undefined) return undefined
      const kept = await Kept.open(open.layer, open.host, place.identity)
      const name = kept.newUpper()
      try {
        for (const part of ['upper', 'trial', 'trial/tried', 'trial/tried/in'])
          open.layer.makeDirectory(`${name}/${part}`, { mode: 0o700 })
        const said = await refusalOf(this.#unshare ?? '', join(place.directory, name))
        if (said !== undefined) return LAYERS.refused(toSafeLine(said))
        if (open.layer.entry(GONE) === undefined) takeMark(open.layer, join(place.directory, name, 'upper'))
        open.layer.makeDirectory(mark, { mode: 0o700 })
        return undefined
      } finally {
        await open.layer.removeAll(name)
      }
    })
  }

  #distrust({ workspace }: Place, layer: Tree): void {
    this.#refusals.delete(workspace)
    const mark = `${GONE}-${release()}`
    if (layer.entry(mark)) layer.remove(mark, 'directory')
  }

  #placeOf(workspace: string): Place {
    const known = this.#places.get(workspace)
    const { name, identity } = workspaceIdentity(workspace)
    if (known?.identity === identity) return known
    const { stateDir } = this.#settings
    const directory = ownDirectory(join(ownDirectory(join(stateDir, 'layers'), 0o700), name), 0o700)
    const layer = new Tree(directory)
    try {
      const there = layer.entry('workspace')
      if (there?.target !== workspace) {
        if (there) layer.remove('workspace', there.kind)
        layer.makeLink('workspace', workspace)
      }
    } finally {
      layer.close()
    }
    const place = { workspace, directory, identity, records: recordsOf(stateDir, workspace), leading: new Leading() }
    this.#places.set(workspace, place)
    return place
  }
}

/** Keeps a removal of the trial as the one that others are made of. */
function takeMark(layer: Tree, upper: string): void {
  const from = new Tree(upper)
  try {
    layer.moveFrom(from, 'tried', GONE)
  } finally {
    from.close()
  }
}

function notesOf({ others, deep }: LeftChanges): string[] {
  return [...others.map(NOT_KEPT.special), ...deep.map(NOT_KEPT.tooDeep)]
}

/** File systems that are mounted in the workspace: a layer does not show what is in them. Read-only, as their changes could not be taken back. */
function mountsBelow(workspace: string): Seen[] {
  const points = readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((point) =>
      Buffer.from(
        point.replace(/\\(\d{3})/g, (_all, code: string) => String.fromCharCode(parseInt(code, 8))),
        'latin1',
      ).toString(),
    )
  const inside = points.filter((point) => point.startsWith(`${workspace}/`))
  return [...new Set(inside)].map((point) => ({ path: point.slice(workspace.length + 1), as: 'host' }))
}
