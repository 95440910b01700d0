/** undo: puts back what a change set replaced, and takes or drops what it held. Each step may be repeated after a kill. */
import { errorCode, errorMessage } from '../../kernel/index.ts'
import { below, createPace, forEachPaced, partState, type Tree } from '../files/index.ts'
import { repositoryAt } from './git-run.ts'
import { makeMoves, movesOf } from './git-state.ts'
import { type ChangeSet, HELD, type Records, type SetEntry, type Side } from './records.ts'
import { isSameSide, putSide, sideAt } from './sides.ts'

/** A set in its workspace. Who uses it has the lock of the workspace. */
export interface InWorkspace {
  readonly records: Records
  readonly host: Tree
  readonly set: ChangeSet
}

/** Which part of a set. */
export interface Choice {
  /** Paths or units; empty: all of it. */
  readonly paths: readonly string[]
  /** Also where the workspace has changed since. */
  readonly force: boolean
}

/** The result for one path. */
export interface Outcome {
  readonly path: string
  readonly result: 'done' | 'ready' | 'changed-since' | 'no-bytes' | 'failed'
  /** A code of the system, of what failed. */
  readonly code?: string
}

/** Restores bytes, modes and removals. A path that changed since is left, unless forced. */
export function undo(at: InWorkspace, choice: Choice): Promise<Outcome[]> {
  return move(at, choice, {
    of: ['applied'],
    to: 'undone',
    from: ({ after }) => after,
    into: ({ before }) => before,
  })
}

/** Brings held changes into the workspace. */
export function keep(at: InWorkspace, choice: Choice): Promise<Outcome[]> {
  return move(at, choice, { of: HELD, to: 'applied', from: ({ before }) => before, into: ({ after }) => after })
}

/** Gives held changes up. Returns their paths. */
export async function drop({ records, set }: InWorkspace, { paths }: Pick<Choice, 'paths'>): Promise<string[]> {
  const dropped: string[] = []
  const entries = records.entries(set.id).map((entry): SetEntry => {
    if (!HELD.includes(entry.verdict) || !isChosen(entry, paths)) return entry
    dropped.push(entry.path)
    return { ...entry, verdict: 'dropped' }
  })
  await records.write(set, { entries })
  return dropped
}

/**
 * Ends what a killed process began: a set that was being taken is undone, so that each file is what it was, unless all of it is there already.
 * Returns those that were undone.
 */
export async function recover(records: Records, host: Tree): Promise<ChangeSet[]> {
  const undone: ChangeSet[] = []
  for (const set of records.open()) {
    if (set.state !== 'taking') {
      if (set.counts?.held === 0) records.close(set.id)
    } else if (await isThere(host, records.entries(set.id))) records.end(set)
    else {
      await undo({ records, host, set: { ...set, state: 'undone' } }, ALL)
      undone.push(set)
    }
  }
  return undone
}

const ALL: Choice = { paths: [], force: false }

async function isThere(host: Tree, entries: readonly SetEntry[]): Promise<boolean> {
  for (const { path, after, git } of entries.filter(({ verdict }) => verdict === 'applied'))
    if (git !== undefined || !isSameSide(await sideAt(host, path), after)) return false
  return true
}

interface Direction {
  readonly of: readonly SetEntry['verdict'][]
  readonly to: SetEntry['verdict']
  readonly from: (entry: SetEntry) => Side | undefined
  readonly into: (entry: SetEntry) => Side | undefined
}

async function move(at: InWorkspace, { paths, force }: Choice, direction: Direction): Promise<Outcome[]> {
  const { records, set } = at
  const entries = records.entries(set.id)
  const chosen = entries.filter((entry) => direction.of.includes(entry.verdict) && isChosen(entry, paths))
  const outcomes = new Map<SetEntry, Outcome>()
  // All is compared before git moves its values, as it writes about that into files of the set.
  const pace = createPace()
  await forEachPaced(chosen, pace, async (entry) => {
    if (entry.git !== 'moves') outcomes.set(entry, await look(at, entry, { force, direction }))
  })
  const unmoved = new Map<string, Outcome['result']>()
  for (const entry of chosen.filter(({ git }) => git === 'moves')) {
    const outcome = await moveByGit(at, entry, { force, direction })
    outcomes.set(entry, outcome)
    if (outcome.result !== 'done') unmoved.set(entry.unit, outcome.result)
  }
  await forEachPaced(inOrder(chosen, direction.into), pace, async (entry) => {
    const { path, git } = entry
    const stays = git === 'state' ? unmoved.get(entry.unit) : undefined
    if (stays !== undefined) outcomes.set(entry, { path, result: stays })
    else if (outcomes.get(entry)?.result === 'ready') outcomes.set(entry, await put(at, entry, direction))
  })
  const isDone = (entry: SetEntry): boolean => outcomes.get(entry)?.result === 'done'
  const moved = entries.map((entry): SetEntry => (isDone(entry) ? { ...entry, verdict: direction.to } : entry))
  const isUndone = direction.to === 'undone' && !moved.some(({ verdict }) => verdict === 'applied')
  await records.write(isUndone ? { ...set, state: 'undone' } : set, { entries: moved })
  return chosen.flatMap((entry) => outcomes.get(entry) ?? [])
}

interface How {
  readonly force: boolean
  readonly direction: Direction
}

/** Whether a path can be moved now. */
async function look({ host }: InWorkspace, entry: SetEntry, { force, direction }: How): Promise<Outcome> {
  const { path } = entry
  try {
    const now = await sideAt(host, path)
    // An earlier try was killed after this step.
    const [from, into] = [direction.from(entry), direction.into(entry)]
    if (isSameSide(now, into)) return { path, result: 'done' }
    if (isSameSide(from, now) || isBetween(from, now, into) || force) return { path, result: 'ready' }
    // Git has written about its own moves since.
    return { path, result: entry.git === 'state' && LOG.test(path) ? 'done' : 'changed-since' }
  } catch (error) {
    return failed(path, error)
  }
}

/** Another kind, or a link, cannot be replaced in one step: the old one goes first. */
function isBetween(from: Side | undefined, now: Side | undefined, into: Side | undefined): boolean {
  if (from === undefined || into === undefined) return false
  return now === undefined && (from.kind !== into.kind || into.kind === 'link')
}

const LOG = /(?:^|\/)logs\//

async function put({ records, host, set }: InWorkspace, entry: SetEntry, direction: Direction): Promise<Outcome> {
  const { path } = entry
  const into = direction.into(entry)
  try {
    const bytes = into && records.bytes(set.id, into)
    if (into && bytes === undefined) return { path, result: 'no-bytes' }
    const isInTheWay = host.entry(path)?.kind === 'directory' && into?.kind !== 'directory'
    if (isInTheWay && (await hasOthers(host, path)) && into) return { path, result: 'failed', code: 'ENOTEMPTY' }
    await putSide(host, path, { side: into, bytes })
    return { path, result: 'done' }
  } catch (error) {
    return failed(path, error)
  }
}

/** Whether a directory has more in it than what killed writers left, which goes. */
async function hasOthers(host: Tree, path: string): Promise<boolean> {
  const { entries } = await host.list(path)
  const left = entries.filter(({ name }) => partState(name) === 'left')
  for (const { name } of left) host.remove(below(path, name), 'file')
  return left.length < entries.length
}

/** Moves the values of a repository, all or none. */
async function moveByGit(
  { records, host, set }: InWorkspace,
  entry: SetEntry,
  { force, direction }: How,
): Promise<Outcome> {
  const { path } = entry
  const text = (side: Side | undefined): string => new TextDecoder().decode(side && records.bytes(set.id, side))
  try {
    if (host.entry(path)?.kind !== 'directory') return { path, result: 'changed-since' }
    const moves = movesOf(text(direction.from(entry)), text(direction.into(entry)))
    const isMoved = await makeMoves(repositoryAt(host, set.workspace, path), moves, force)
    return { path, result: isMoved ? 'done' : 'changed-since' }
  } catch (error) {
    return failed(path, error)
  }
}

function failed(path: string, error: unknown): Outcome {
  return { path, result: 'failed', code: errorCode(error) ?? errorMessage(error) }
}

/** Removals first, the deepest first, then what is made, in the order of the set. */
function inOrder(entries: readonly SetEntry[], into: Direction['into']): SetEntry[] {
  const removed = entries.filter((entry) => into(entry) === undefined).toReversed()
  return [...removed, ...entries.filter((entry) => into(entry) !== undefined)]
}

/** Whether a path, its unit or a directory above it was named. */
export function isChosen({ path, unit }: SetEntry, paths: readonly string[]): boolean {
  return (
    paths.length === 0 || paths.some((chosen) => chosen === unit || chosen === path || path.startsWith(`${chosen}/`))
  )
}
