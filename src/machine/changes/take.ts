/** take: brings the changes of one command into the workspace by the verdicts of the gate, and writes down what it takes to undo them. */
import { posix } from 'node:path'
import { errorCode, errorMessage } from '../../kernel/index.ts'
import { createPace, forEachPaced, type Tree } from '../files/index.ts'
import { directoriesAbove } from './gate.ts'
import { gitRole, restIn } from './git-paths.ts'
import { GitRefused } from './git-run.ts'
import type { GitTaken, Judged, MadeFile } from './git-take.ts'
import { makeMoves, textOf } from './git-state.ts'
import { type AllJudged, judgeAll, type JudgedGit, type Judging } from './judge.ts'
import type { PackWriter } from './durable.ts'
import type { ChangeSet, Records, SetEntry, Side } from './records.ts'
import { isSameMode, isSameSide, makeParents, ownerIn, putSide, sideAt, sideOfBytes } from './sides.ts'

/** How long sets are kept, and how much they may hold. */
export interface SetLimits {
  readonly keepDays: number
  /** Most bytes before the changes of one set: what cannot be undone is not applied. */
  readonly maxBytes: number
}

/** The tool that made a set, and its call. A command that got secrets makes none, as its files may contain them. */
export type Maker = Pick<ChangeSet, 'tool' | 'call'> & { readonly hasSecrets?: boolean }

/** The changes of one command, and where they go. */
export interface Taking extends Judging {
  readonly records: Records
  readonly limits: SetLimits
  readonly maker: Maker
}

/** A set with its entries; entries alone of a command that got secrets. */
export interface Taken {
  readonly set?: ChangeSet
  readonly entries: readonly SetEntry[]
  /** Files of git directories of which later commands see those of the workspace. */
  readonly forgotten: ReadonlySet<string>
}

const DAY_MS = 86_400_000

/** Takes the changes. Undefined when there are none to record. The caller has the lock of the workspace. */
export async function takeChanges(taking: Taking): Promise<Taken | undefined> {
  const { records } = taking
  const { hasSecrets = false, ...maker } = taking.maker
  const judged = await judgeAll(taking)
  const all = [...judged.files, ...judged.git]
  if (all.length === 0) return undefined
  const set = newSet(taking.workspace, taking.limits, maker)
  const forgotten = new Set<string>()
  if (hasSecrets) {
    const unkept = (await writeDown(taking, judged)).map(withoutSet)
    const entries = await applyAll({ ...taking, pace: createPace() }, unkept, { judged, forgotten })
    return { entries, forgotten }
  }
  const pack = records.pack(set.id)
  const entries = await writeDown(taking, judged, pack)
  if (entries.length === 0) {
    records.remove(set.id)
    return undefined
  }
  await records.write(set, { entries, pack })
  // From here on it is brought to its end: half of it would be neither the old state nor the new one.
  const done = await applyAll({ ...taking, pace: createPace() }, entries, { judged, forgotten })
  const applied: ChangeSet = { ...set, state: 'applied' }
  if (done.every(({ verdict }, index) => verdict === entries[index]?.verdict)) records.end(set)
  else await records.write(applied, { entries: done })
  return { set: applied, entries: done, forgotten }
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

/** Entries with both sides, whose bytes are in the pack and on the disk when this returns. */
async function writeDown(taking: Taking, { files, git }: AllJudged, pack?: PackWriter): Promise<SetEntry[]> {
  const { host, limits, pace } = taking
  const isTooMuch = pack !== undefined && (await sizeBefore(taking, files)) > limits.maxBytes
  const entries: SetEntry[] = []
  const beside = new Set<string>()
  try {
    for (const unit of git) entries.push(...(await entriesOf(host, unit, { pack, isTooMuch })))
    const made = new Map(
      entries.filter(({ git: role }) => role === undefined).map((entry) => [entry.path, entry.after]),
    )
    await forEachPaced(files, pace, async ({ change, judgement, git: role }) => {
      if (judgement.verdict === 'beside') {
        // A directory of installed packages is one row, without its bytes.
        const { unit } = judgement
        if (!beside.has(unit)) entries.push({ path: unit, type: change.type, ...judgement })
        beside.add(unit)
        return
      }
      const found = await sidesOf(taking, { change, judgement }, { pack, isTooMuch })
      if (found === undefined) return
      const before = made.get(change.path) ?? found.before
      const entry: SetEntry = { ...found, ...(before && { before }), ...(role && { git: role }) }
      if (entry.verdict !== 'applied') entries.push(entry)
      else if (isTooMuch) entries.push({ ...entry, verdict: 'held', reason: TOO_MUCH })
      else if (taking.isStale(change.path) && change.kind !== 'directory')
        entries.push({ ...entry, verdict: 'conflict', reason: STALE })
      else entries.push(entry)
    })
  } finally {
    await pack?.finish()
  }
  return entries
}

/** The values that git moves, as one entry, and files that have other bytes than those of the command. */
async function entriesOf(host: Tree, { directory, taken }: JudgedGit, how: Writing): Promise<SetEntry[]> {
  const entries: SetEntry[] = []
  for (const file of taken.made) entries.push(await madeEntry(host, file, how))
  return taken.moves.length === 0 ? entries : [...entries, await movesEntry(directory || '.', taken, how)]
}

interface Writing {
  readonly pack: PackWriter | undefined
  readonly isTooMuch: boolean
}

function verdictOf(isTooMuch: boolean): Pick<SetEntry, 'verdict' | 'reason'> {
  return isTooMuch ? { verdict: 'held', reason: TOO_MUCH } : { verdict: 'applied' }
}

async function madeEntry(host: Tree, { path, bytes, held }: MadeFile, { pack, isTooMuch }: Writing): Promise<SetEntry> {
  const before = await sideAt(host, path, { pack })
  const after = await sideOfBytes(bytes, { pack, mode: before?.mode ?? 0o644 })
  const verdict = held ? ({ verdict: 'held', ...held } as const) : verdictOf(isTooMuch)
  return { path, unit: path, type: before ? 'changed' : 'added', ...verdict, ...(before && { before }), after }
}

async function movesEntry(path: string, { moves, fault }: GitTaken, { pack, isTooMuch }: Writing): Promise<SetEntry> {
  const sideOf = (text: string): Promise<Side> => sideOfBytes(Buffer.from(text), { pack, mode: 0o600 })
  const [before, after] = [await sideOf(textOf(moves, 'from')), await sideOf(textOf(moves, 'to'))]
  return { path, unit: path, type: 'changed', ...(fault ?? verdictOf(isTooMuch)), before, after, git: 'moves' }
}

/** The reason of a change whose earlier bytes no set keeps. */
export const TOO_MUCH = 'the earlier bytes are more than execution.changes.maxBytes, so it could not be undone'
const STALE = 'another program changed it meanwhile'

/** Undefined for a path that is equal on both sides by now. */
async function sidesOf(
  { host, source, pace, limits }: Taking,
  { change: { path, type }, judgement }: Pick<Judged, 'change' | 'judgement'>,
  { pack, isTooMuch }: { readonly pack: PackWriter | undefined; readonly isTooMuch: boolean },
): Promise<SetEntry | undefined> {
  if (judgement.verdict === 'never') return { path, type, ...judgement }
  const before = await sideAt(host, path, { pack: isTooMuch ? undefined : pack, pace })
  const isLarge = (pack?.size ?? 0) + (source.entry(path)?.size ?? 0) > 2 * limits.maxBytes
  const after = type === 'removed' ? undefined : await sideAt(source, path, { pack: isLarge ? undefined : pack, pace })
  if (isSameSide(before, after)) return undefined
  return { path, type, ...judgement, ...(before && { before }), ...(after && { after }) }
}

async function sizeBefore({ host, pace }: Taking, judged: readonly Judged[]): Promise<number> {
  let bytes = 0
  await forEachPaced(judged, pace, ({ change, judgement: { verdict } }) => {
    if (verdict !== 'beside' && verdict !== 'never') bytes += host.entry(change.path)?.size ?? 0
  })
  return bytes
}

/** Where a file becomes a directory or the reverse, what was there goes first; other removals come last, the deepest first. */
async function applyAll(
  taking: Taking,
  entries: readonly SetEntry[],
  { judged, forgotten }: { readonly judged: AllJudged; readonly forgotten: Set<string> },
): Promise<SetEntry[]> {
  const moved = await moveAll(entries, judged.git)
  for (const { directory, changes } of judged.git)
    if (moved.some(({ path, git, verdict }) => git === 'moves' && path === (directory || '.') && verdict !== 'applied'))
      for (const { path } of changes) if (gitRole(restIn(directory, path)) !== 'objects') forgotten.add(path)
  return applyFiles(taking, moved, judged)
}

/** First of all, as files of state follow what git moved, and its notes about that are replaced by those of the command. */
async function moveAll(entries: readonly SetEntry[], units: readonly JudgedGit[]): Promise<SetEntry[]> {
  const faults = new Map<string, Pick<SetEntry, 'verdict' | 'reason'>>()
  for (const { path, git, verdict } of entries) {
    const unit = units.find(({ directory }) => git === 'moves' && verdict === 'applied' && path === (directory || '.'))
    if (unit === undefined) continue
    try {
      const { repository, moves } = unit.taken
      if (!(await makeMoves(repository, moves))) faults.set(path, { verdict: 'conflict', reason: STALE })
    } catch (error) {
      if (!(error instanceof GitRefused)) throw error
      faults.set(path, { verdict: 'held', reason: error.message })
    }
  }
  return entries.map((entry) => ({ ...entry, ...(entry.git && entry.verdict === 'applied' && faults.get(entry.unit)) }))
}

async function applyFiles(taking: Taking, entries: readonly SetEntry[], { git }: AllJudged): Promise<SetEntry[]> {
  const made = new Map(git.flatMap(({ taken }) => taken.made.map(({ path, bytes }) => [path, bytes] as const)))
  const failed = new Map<SetEntry, string>()
  const step = async (entry: SetEntry, work: () => void | Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      failed.set(entry, `writing it failed: ${errorCode(error) ?? errorMessage(error)}`)
    }
  }
  const write = (entry: SetEntry): Promise<void> => {
    const bytes = made.get(entry.path)
    return bytes ? putSide(taking.host, entry.path, { side: entry.after, bytes }) : writeSide(taking, entry)
  }
  const applied = entries.filter(({ verdict, git: role }) => verdict === 'applied' && role !== 'moves')
  const replaced = new Set(applied.filter(isReplaced).map(({ path }) => path))
  const isInTheWay = ({ path }: SetEntry): boolean =>
    replaced.size > 0 && directoriesAbove(path).some((each) => replaced.has(each))
  const deepestFirst = applied.filter(({ after }) => after === undefined).toReversed()
  const remove = (entry: SetEntry): Promise<void> => step(entry, () => removeSide(taking.host, entry))
  await forEachPaced(deepestFirst.filter(isInTheWay), taking.pace, remove)
  await forEachPaced(
    applied.filter(({ after }) => after !== undefined),
    taking.pace,
    (entry) => step(entry, () => write(entry)),
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

function isReplaced({ before, after }: Pick<SetEntry, 'before' | 'after'>): boolean {
  return before !== undefined && after !== undefined && before.kind !== after.kind
}

async function removeSide(host: Tree, { path }: SetEntry): Promise<void> {
  const now = host.entry(path)
  if (!now) return
  if (now.kind === 'directory' && !(await host.list(path, { max: 0 })).isComplete) return
  host.remove(path, now.kind)
}

async function writeSide({ host, source, pace }: Taking, { path, before, after, git }: SetEntry): Promise<void> {
  if (after === undefined) return
  if (isReplaced({ before, after })) removeOld(host, path, before)
  makeParents(host, posix.dirname(path))
  const owner = ownerIn(host, path)
  if (after.kind === 'directory') {
    if (host.entry(path)?.kind !== 'directory') host.makeDirectory(path, { mode: after.mode, owner })
  } else if (after.kind === 'link') {
    if (host.entry(path)) host.remove(path, 'link')
    host.makeLink(path, source.entry(path)?.target ?? '')
  } else {
    await host.copyFrom(source, path, { mode: modeOf(before, after), owner, mustBeNew: isNew({ before, git }), pace })
  }
}

/** Git of the host may have put a directory there already, with the log of a moved reference. */
function removeOld(host: Tree, path: string, before: SetEntry['before']): void {
  if (before !== undefined && host.entry(path)?.kind === before.kind) host.remove(path, before.kind)
}

/** Git of the host may have made a file of state with its moves. */
function isNew({ before, git }: Pick<SetEntry, 'before' | 'git'>): boolean {
  return before?.kind !== 'file' && git === undefined
}

/** The mode of the workspace stays unless the command changed it. */
function modeOf(before: Side | undefined, after: Side): number {
  return before?.kind === 'file' && isSameMode(before, after) ? before.mode : after.mode
}
