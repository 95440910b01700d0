/** changes: lists what a command left in its upper directory, as changes of the workspace. */
import { type Change, createGate, type Surroundings } from '../../changes/index.ts'
import { below, forEachPaced, type Pace, type Tree } from '../../files/index.ts'
import { changeAt } from '../mirror/push.ts'
import { listTree } from '../mirror/scan.ts'
import type { View } from './view.ts'

/** More than this is not taken back: what one command writes must not fill the memory. */
const MAX_CHANGED = 500_000

/** The trees of one command. */
export interface Left extends Omit<View, 'close'> {
  readonly upper: Tree
  readonly host: Tree
  readonly rules: Omit<Surroundings, 'before' | 'after'>
  readonly pace: Pace
}

/** Changes, and what belongs to them. */
export interface LeftChanges {
  readonly changes: readonly Change[]
  /** Paths that the command removed, without what was in them. */
  readonly gone: readonly string[]
  /** Devices, pipes and sockets; paths that no program can open. */
  readonly others: readonly string[]
  readonly deep: readonly string[]
  readonly isComplete: boolean
}

/** Lists the changes. A directory of packages, or a cache, is one change. */
export async function listChanges(left: Left): Promise<LeftChanges> {
  const { upper, host, below: before, seen, rules, pace } = left
  const judge = createGate({
    ...rules,
    before: (path) => host.entry(path) !== undefined,
    after: (path) => seen.entry(path) !== undefined,
  })
  const isUnit = (path: string): boolean => {
    const { verdict, unit } = judge({ path, type: 'changed', kind: 'directory' })
    return verdict === 'beside' && unit === path
  }
  const {
    entries,
    gone: removed,
    ...rest
  } = await listTree(upper, {
    maxEntries: MAX_CHANGED,
    opens: true,
    pace,
    leavesOut: isUnit,
  })
  const changes: Change[] = []
  const gone = [...removed]
  const remove = async (path: string): Promise<void> => {
    const kind = host.entry(path)?.kind
    if (kind === undefined || kind === 'other') return
    changes.push({ path, type: 'removed', kind })
    if (kind !== 'directory' || isUnit(path)) return
    for (const { name } of (await host.list(path, { pace })).entries) await remove(below(path, name))
  }
  await forEachPaced(entries, pace, async ([path, entry]) => {
    const there = host.entry(path)?.kind
    const isDirectory = entry.kind === 'directory'
    if (isDirectory && there === 'directory') {
      if (isUnit(path)) changes.push({ path, type: 'changed', kind: 'directory' })
      else gone.push(...(await hiddenIn(left, path)))
      return
    }
    const { kind, target } = entry
    if (kind === 'other') return
    changes.push(changeAt(path, { kind, target, isNew: there === undefined }))
    if (there === 'directory')
      for (const { name } of (await host.list(path, { pace })).entries) await remove(below(path, name))
  })
  for (const path of gone) if (before.entry(path) !== undefined) await remove(path)
  return { changes, gone, ...rest }
}

/** Whether a directory of the upper tree hides what is below it. Only the system knows, so one entry below it is looked for. */
export async function isOpaque(
  { upper, below: before, seen }: Pick<Left, 'upper' | 'below' | 'seen'>,
  path: string,
): Promise<boolean> {
  if (before.entry(path)?.kind !== 'directory') return false
  const own = new Set((await upper.list(path)).entries.map(({ name }) => name))
  const { entries } = await before.list(path, { max: own.size + 1 })
  const other = entries.map(({ name }) => below(path, name)).find((each) => !own.has(each.slice(path.length + 1)))
  // Looked for last: another program may have removed it meanwhile.
  return other !== undefined && seen.entry(other) === undefined && before.entry(other) !== undefined
}

/** Paths below a directory that the command made anew. */
async function hiddenIn(left: Left, path: string): Promise<string[]> {
  if (!(await isOpaque(left, path))) return []
  const { upper, seen, below: before } = left
  const names = (await before.list(path)).entries.map(({ name }) => below(path, name))
  return names.filter(
    (each) => upper.entry(each) === undefined && seen.entry(each) === undefined && before.entry(each) !== undefined,
  )
}
