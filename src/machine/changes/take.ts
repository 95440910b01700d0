/** take: brings the changes of one command into the workspace by the verdicts of the gate, and writes down what it takes to undo them. */
import { posix } from 'node:path'
import { errorCode, errorMessage } from '../../kernel/index.ts'
import { createPace, forEachPaced, type Pace, type Tree } from '../files/index.ts'
import { type Change, createGate, type Judgement, type Surroundings } from './gate.ts'
import type { ChangeSet, PackWriter, Records, SetEntry, Side } from './records.ts'
import { isSameMode, isSameSide, makeParents, ownerIn, sideAt } from './sides.ts'

/** How long sets are kept, and how much they may hold. */
export interface SetLimits {
  readonly keepDays: number
  /** Most bytes before the changes of one set: what cannot be undone is not applied. */
  readonly maxBytes: number
}

/** The tool that made a set, and its call. A command that got secrets makes none, as its files may contain them. */
export type Maker = Pick<ChangeSet, 'tool' | 'call'> & { readonly hasSecrets?: boolean }

/** The changes of one command, and where they are. */
export interface Taking {
  /** The workspace. */
  readonly host: Tree
  /** Where the command worked. */
  readonly source: Tree
  readonly changes: readonly Change[]
  readonly around: Surroundings
  /** Whether somebody else changed a path of the workspace since the command began. */
  readonly isStale: (path: string) => boolean
  readonly records: Records
  readonly limits: SetLimits
  /** Real path of the workspace. */
  readonly workspace: string
  readonly maker: Maker
  readonly pace: Pace
}

/** A set with its entries; entries alone of a command that got secrets. */
export interface Taken {
  readonly set?: ChangeSet
  readonly entries: readonly SetEntry[]
}

const DAY_MS = 86_400_000

/** Takes the changes. Undefined when there are none to record. The caller has the lock of the workspace. */
export async function takeChanges(taking: Taking): Promise<Taken | undefined> {
  const { changes, around, records, limits, workspace } = taking
  const { hasSecrets = false, ...maker } = taking.maker
  const judge = createGate(around)
  const judged = changes
    .map((change) => ({ change, judgement: judge(change) }))
    .filter(({ judgement }) => judgement.verdict !== 'dropped')
    // A directory before what is in it.
    .toSorted((a, b) => (a.change.path < b.change.path ? -1 : 1))
  if (judged.length === 0) return undefined
  const set = newSet(workspace, limits, maker)
  if (hasSecrets) {
    const unkept = (await writeDown(taking, { judged })).map(withoutSet)
    return { entries: await applyAll({ ...taking, pace: createPace() }, unkept) }
  }
  const entries = await writeDown(taking, { pack: records.pack(set.id), judged })
  records.write(set, entries)
  // From here on it is brought to its end: half of it would be neither the old state nor the new one.
  const done = await applyAll({ ...taking, pace: createPace() }, entries)
  const applied: ChangeSet = { ...set, state: 'applied' }
  records.write(applied, done)
  return { set: applied, entries: done }
}

/** A set that is being taken; its row is not written yet. */
export function newSet(workspace: string, { keepDays }: SetLimits, maker: Pick<ChangeSet, 'tool' | 'call'>): ChangeSet {
  const now = Date.now()
  return {
    id: Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('hex'),
    workspace,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + keepDays * DAY_MS).toISOString(),
    state: 'taking',
    ...maker,
  }
}

/** Nothing could keep it for the user. */
function withoutSet(entry: SetEntry): SetEntry {
  const isOpen = entry.verdict === 'held' || entry.verdict === 'conflict'
  return isOpen ? { ...entry, verdict: 'never', reason: NO_SET } : entry
}

/** The reason of what comes back from no command that got secrets. */
export const NO_SET = 'the command got a variable of a skill, so it makes no change set'

interface Judged {
  readonly change: Change
  readonly judgement: Judgement
}

/** Entries with both sides, whose bytes are in the pack and on the disk when this returns. */
async function writeDown(
  taking: Taking,
  { pack, judged }: { readonly pack?: PackWriter; readonly judged: readonly Judged[] },
): Promise<SetEntry[]> {
  const { host, limits, pace } = taking
  const isTooMuch = pack !== undefined && sizeBefore(host, judged) > limits.maxBytes
  const entries: SetEntry[] = []
  const beside = new Set<string>()
  try {
    await forEachPaced(judged, pace, async ({ change, judgement }) => {
      if (judgement.verdict === 'beside') {
        // A directory of installed packages is one row, without its bytes.
        const { unit } = judgement
        if (!beside.has(unit)) entries.push({ path: unit, type: change.type, ...judgement })
        beside.add(unit)
        return
      }
      const entry = await sidesOf(taking, { change, judgement }, { pack, isTooMuch })
      if (entry === undefined) return
      const verdict = entry.verdict === 'git' ? 'applied' : entry.verdict
      if (verdict !== 'applied') entries.push(entry)
      else if (isTooMuch) entries.push({ ...entry, verdict: 'held', reason: TOO_MUCH })
      else if (taking.isStale(change.path) && change.kind !== 'directory')
        entries.push({ ...entry, verdict: 'conflict', reason: STALE })
      else entries.push({ ...entry, verdict })
    })
  } finally {
    pack?.finish()
  }
  return entries
}

/** The reason of a change whose earlier bytes no set keeps. */
export const TOO_MUCH = 'the earlier bytes are more than execution.changes.maxBytes, so it could not be undone'
const STALE = 'another program changed it meanwhile'

/** Undefined for a path that is equal on both sides by now. */
async function sidesOf(
  { host, source, pace, limits }: Taking,
  { change: { path, type }, judgement }: Judged,
  { pack, isTooMuch }: { readonly pack: PackWriter | undefined; readonly isTooMuch: boolean },
): Promise<SetEntry | undefined> {
  if (judgement.verdict === 'never') return { path, type, ...judgement }
  const before = await sideAt(host, path, { pack: isTooMuch ? undefined : pack, pace })
  const isLarge = (pack?.size ?? 0) + (source.entry(path)?.size ?? 0) > 2 * limits.maxBytes
  const after = type === 'removed' ? undefined : await sideAt(source, path, { pack: isLarge ? undefined : pack, pace })
  if (isSameSide(before, after)) return undefined
  return { path, type, ...judgement, ...(before && { before }), ...(after && { after }) }
}

function sizeBefore(host: Tree, judged: readonly Judged[]): number {
  const sizes = judged.map(({ change, judgement }) =>
    judgement.verdict === 'beside' || judgement.verdict === 'never' ? 0 : (host.entry(change.path)?.size ?? 0),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Where a file becomes a directory or the reverse, what was there goes first; other removals come last, the deepest first. */
async function applyAll(taking: Taking, entries: readonly SetEntry[]): Promise<SetEntry[]> {
  const failed = new Map<SetEntry, string>()
  const step = async (entry: SetEntry, work: () => void | Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      failed.set(entry, `writing it failed: ${errorCode(error) ?? errorMessage(error)}`)
    }
  }
  const applied = entries.filter(({ verdict }) => verdict === 'applied')
  const isReplaced = ({ before, after }: SetEntry): boolean =>
    before !== undefined && after !== undefined && before.kind !== after.kind
  const replaced = new Set(applied.filter(isReplaced).map(({ path }) => path))
  const isInTheWay = ({ path }: SetEntry): boolean =>
    replaced.size > 0 && [...directoriesAbove(path)].some((each) => replaced.has(each))
  const deepestFirst = applied.filter(({ after }) => after === undefined).toReversed()
  const remove = (entry: SetEntry): Promise<void> => step(entry, () => removeSide(taking.host, entry))
  await forEachPaced(deepestFirst.filter(isInTheWay), taking.pace, remove)
  await forEachPaced(
    applied.filter(({ after }) => after !== undefined),
    taking.pace,
    (entry) => step(entry, () => writeSide(taking, entry)),
  )
  const rest = deepestFirst.filter((entry) => !isInTheWay(entry))
  // The bytes of a file that was moved may be those that could not be written.
  if (failed.size > 0) for (const entry of rest) failed.set(entry, 'another change of the command failed')
  else await forEachPaced(rest, taking.pace, remove)
  return entries.map((entry) => {
    const reason = failed.get(entry)
    return reason === undefined ? entry : { ...entry, verdict: 'held', reason }
  })
}

async function removeSide(host: Tree, { path }: SetEntry): Promise<void> {
  const now = host.entry(path)
  if (!now) return
  if (now.kind === 'directory' && !(await host.list(path, { max: 0 })).isComplete) return
  host.remove(path, now.kind)
}

async function writeSide({ host, source, pace }: Taking, { path, before, after }: SetEntry): Promise<void> {
  if (after === undefined) return
  if (before !== undefined && before.kind !== after.kind) host.remove(path, before.kind)
  makeParents(host, posix.dirname(path))
  const owner = ownerIn(host, path)
  if (after.kind === 'directory') {
    if (host.entry(path)?.kind !== 'directory') host.makeDirectory(path, { mode: after.mode, owner })
  } else if (after.kind === 'link') {
    if (host.entry(path)) host.remove(path, 'link')
    host.makeLink(path, source.entry(path)?.target ?? '')
  } else
    await host.copyFrom(source, path, { mode: modeOf(before, after), owner, mustBeNew: before?.kind !== 'file', pace })
}

/** The mode of the workspace stays unless the command changed it. */
function modeOf(before: Side | undefined, after: Side): number {
  return before?.kind === 'file' && isSameMode(before, after) ? before.mode : after.mode
}

/** Directories of a relative path, the outermost first. */
function* directoriesAbove(path: string): Generator<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) yield path.slice(0, at)
}
