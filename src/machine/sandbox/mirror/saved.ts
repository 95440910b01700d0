/** saved: mirrors outlive their process. Each is a directory with the copy and what is known of it, which one process at a time may take. */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, forEachPaced, ownerToken, type Pace, Tree } from '../../files/index.ts'
import { tryRemoveTree } from '../runner/temp.ts'
import { GONE, type Own, type Pair } from './push.ts'
import { listTree, removeWhole } from './scan.ts'

/** Facts about a copy, by path. */
export interface Known {
  readonly pairs: Map<string, Pair>
  /** Held paths, and those that stay beside the workspace. */
  readonly own: Map<string, Own>
}

/** One workspace and the place of its mirror. */
export interface SavedPlace {
  /** Ours alone; it has one directory a workspace. */
  readonly directory: string
  /** Name of the workspace in it. */
  readonly name: string
  /** Device, inode, birth and path of the workspace. */
  readonly identity: string
}

const COPY = 'copy'
const KNOWN = 'known.jsonl'
const MAX_KNOWN_BYTES = 512 * 1024 * 1024

/** Keeps a copy, which is moved. Where another process was faster, it is removed. */
export async function saveMirror(place: SavedPlace, { from, known, workspace, pace }: Saving): Promise<void> {
  const part = `.part-${ownerToken()}-${randomName()}`
  const all = new Tree(place.directory)
  try {
    all.makeDirectory(part, { mode: 0o700 })
    renameSync(from, join(place.directory, part, COPY))
    all.makeLink(`${part}/workspace`, workspace)
    const lines = [JSON.stringify(place.identity)]
    const add = (kind: keyof Known): Promise<void> =>
      forEachPaced<[string, Pair | Own]>(known[kind], pace, (row) => void lines.push(JSON.stringify([kind, ...row])))
    await add('pairs')
    await add('own')
    await all.write(`${part}/${KNOWN}`, { bytes: Buffer.from(lines.join('\n')), mode: 0o600, pace })
    renameSync(join(place.directory, part), join(place.directory, place.name))
  } catch (error) {
    await tryRemoveTree(join(place.directory, part))
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error
  } finally {
    all.close()
  }
}

interface Saving {
  /** Directory of the copy. */
  readonly from: string
  readonly known: Known
  readonly workspace: string
  readonly pace: Pace
}

/** Moves a kept copy to a path where nothing is, and says what is known of it; undefined when there is none of this workspace. */
export async function takeMirror(place: SavedPlace, to: string, pace: Pace): Promise<Known | undefined> {
  const mine = join(place.directory, `.part-${ownerToken()}-${randomName()}`)
  try {
    // Only one process can.
    renameSync(join(place.directory, place.name), mine)
    const known = await readKnown(mine, place.identity, pace)
    renameSync(join(mine, COPY), to)
    await check(to, known, pace)
    return known
  } catch {
    // None is there, or it is damaged: a new copy is made.
    await tryRemoveTree(to)
    return undefined
  } finally {
    await tryRemoveTree(mine)
  }
}

async function readKnown(directory: string, identity: string, pace: Pace): Promise<Known> {
  const tree = new Tree(directory)
  const known: Known = { pairs: new Map(), own: new Map() }
  try {
    const { bytes } = await tree.read(KNOWN, { maxBytes: MAX_KNOWN_BYTES, pace })
    const [first = '', ...lines] = new TextDecoder().decode(bytes).split('\n')
    if (JSON.parse(first) !== identity) throw new Error('it is of another workspace')
    await forEachPaced(lines, pace, (line) => {
      const row = JSON.parse(line) as ['pairs', string, Pair] | ['own', string, Own]
      if (row[0] === 'pairs') known.pairs.set(row[1], row[2])
      else known.own.set(row[1], row[2])
    })
    return known
  } finally {
    tree.close()
  }
}

/** Removes from the copy what is not as it is known, and forgets what is not there: a process of a command may have outlived its runner. */
async function check(directory: string, { pairs, own }: Known, pace: Pace): Promise<void> {
  const tree = new Tree(directory)
  try {
    const isBeside = (path: string): boolean => own.get(path)?.verdict === 'beside'
    const isUnit = (path: string): boolean => isBeside(path) && !pairs.has(path)
    const { entries, others, gone } = await listTree(tree, {
      pace,
      opens: true,
      leavesOut: isUnit,
      known: (path) => pairs.get(path)?.mirror,
    })
    const isKnown = (path: string, stamp: string): boolean =>
      [pairs.get(path)?.mirror.stamp, own.get(path)?.stamp].includes(stamp) || isBeside(path)
    const strange = [...entries].filter(([path, { stamp }]) => !isKnown(path, stamp)).map(([path]) => path)
    const removed = [...strange, ...others, ...gone]
    for (const path of removed) await removeWhole(tree, path)
    // A removed directory takes along what the listing still has.
    const stampAt = (path: string): string | undefined =>
      (removed.length > 0 ? tree.entry(path) : entries.get(path))?.stamp
    await forEachPaced(pairs, pace, ([path, { mirror }]) => {
      const { verdict, stamp } = own.get(path) ?? {}
      if (stampAt(path) !== mirror.stamp && !(verdict === 'held' && stamp === GONE)) pairs.delete(path)
    })
    for (const [path, { verdict, stamp }] of own)
      if (verdict === 'held' && stamp !== GONE && stampAt(path) !== stamp) own.delete(path)
  } finally {
    tree.close()
  }
}

function randomName(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')
}
