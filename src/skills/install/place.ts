import { isOwnerGone, ownerToken, type Tree } from '../../machine/files/index.ts'
import { isJsonObject, sha256 } from '../../kernel/index.ts'
import { emptySeats, fillSeats } from './clients.ts'
import { writeFiles } from './copies.ts'
import type { PackedFile } from './found.ts'
import { type Lock, LOCK_FILE, type LockedSkill, readLock, writeLock } from './lock-file.ts'
import { HIDDEN, hiddenName, isPlacedName, sweep } from './names.ts'
import { readNpmLock, writeNpmLock } from './npm-lock.ts'
import { type Memory, openPlaces, openState, type Scope, statePath, textOf, writeMemory, writeState } from './scope.ts'

/** One directory to place, replace or remove. */
export interface Change {
  readonly place: string
  /** The files of the new copy; undefined removes it. */
  readonly files: readonly PackedFile[] | undefined
}

interface Move {
  /** Name of the copy in `skills`. */
  readonly name: string
  /** Name of the new copy until it is moved; null when the copy is removed. */
  readonly stage: string | null
  /** Name that the old copy gets. */
  readonly backup: string
}

/** The change under way, for whoever finds it after this process is gone. */
interface Journal {
  readonly owner: string
  readonly root: string
  readonly moves: readonly Move[]
  /** Text of the new lock. */
  readonly lock: string
  /** Digest of the lock that it replaces; null where there was none. */
  readonly lockBefore: string | null
  readonly memory: Memory
  readonly seats: Seats & OfUser
}

/** Whoever ends a change may not know them. */
type OfUser = Pick<Scope, 'home' | 'stateHome'>

/** The skills whose places for other programs are filled and emptied. */
interface Seats {
  readonly filled: readonly LockedSkill[]
  readonly emptied: readonly LockedSkill[]
}

/** All that changes in one step. */
export interface Step {
  readonly changes: readonly Change[]
  readonly lock: Lock
  readonly memory: Memory
  readonly seats: Seats
}

/**
 * Changes copies, the lock and the memory as one step: all new copies are written beside the old ones first, then a journal says what is moved where. After
 * `kill -9` at any point, `recover` ends it. Call it while no other process changes the scope. Throws what the file system throws, with everything as before.
 */
export async function commit(scope: Scope, { changes, lock, memory, seats }: Step): Promise<void> {
  using tree = openPlaces(scope)
  readNpmLock(scope)
  await sweep(tree, 'skills')
  const moves: Move[] = []
  let failed: unknown
  try {
    for (const { place, files } of changes) moves.push(await stage(tree, place, files))
    const lockBefore = digestOf(textOf(scope.lockPath))
    const journal = {
      ...{ owner: ownerToken(), root: scope.root, moves, lock: writeLock(lock), lockBefore, memory },
      seats: { home: scope.home, stateHome: scope.stateHome, ...seats },
    }
    await writeState(scope, 'journal', JSON.stringify(journal))
    failed = await finish(scope, { tree, journal })
  } catch (error) {
    await undo(scope, tree, moves)
    throw error
  }
  if (failed !== undefined) throw failed
}

/** Ends what a process left that is gone; it must be called under the same lock as `commit`. Cheap when there is nothing. */
export async function recover(scope: Scope): Promise<void> {
  const journal = leftJournal(scope)
  if (!journal) return
  using tree = openPlaces(scope)
  const back = (): Promise<void> => undo(scope, tree, journal.moves)
  const now = digestOf(textOf(scope.lockPath))
  // Another lock came meanwhile, such as by `git pull`: it is the truth, and the change is none.
  if (now === journal.lockBefore || now === digestOf(journal.lock)) await finish(scope, { tree, journal }).catch(back)
  else await back()
}

function digestOf(text: string | undefined): string | null {
  return text === undefined ? null : sha256(text)
}

/** Whether a process that is gone has left something under way. */
export function needsRecovery(scope: Scope): boolean {
  return leftJournal(scope) !== undefined
}

function leftJournal(scope: Scope): Journal | undefined {
  const text = textOf(statePath(scope, 'journal'))
  if (text === undefined) return undefined
  const journal = readJournal(text)
  return journal && journal.root === scope.root && isOwnerGone(journal.owner) ? journal : undefined
}

function readJournal(text: string): Journal | undefined {
  try {
    const read: unknown = JSON.parse(text)
    if (!isJsonObject(read)) return undefined
    const journal = read as unknown as Journal
    const isOurs = journal.moves.every(
      ({ name, stage, backup }) => isPlacedName(name) && HIDDEN.test(backup) && (stage === null || HIDDEN.test(stage)),
    )
    return isOurs && typeof journal.lock === 'string' && isJsonObject(journal.memory) && isJsonObject(journal.seats) ? journal : undefined // oxfmt-ignore
  } catch {
    // A journal is written whole or not at all: this is none.
    return undefined
  }
}

async function stage(tree: Tree, place: string, files: readonly PackedFile[] | undefined): Promise<Move> {
  const name = place.slice('skills/'.length)
  const backup = hiddenName('old')
  if (files === undefined) return { name, stage: null, backup }
  const staged = hiddenName('new')
  try {
    await writeFiles(tree, `skills/${staged}`, files)
  } catch (error) {
    await tree.removeAll(`skills/${staged}`)
    throw error
  }
  return { name, stage: staged, backup }
}

/**
 * Moves what is not moved yet, writes the lock and the memory, removes the old copies. Each step may have been taken before. Returns why other programs
 * do not find what was placed: that undoes nothing, as `nexus skills ci` repairs it.
 */
async function finish(scope: Scope, { tree, journal }: { tree: Tree; journal: Journal }): Promise<unknown> {
  for (const { name, stage: staged, backup } of journal.moves) {
    const isStaged = staged !== null && tree.entry(`skills/${staged}`) !== undefined
    const isLeaving = staged === null && tree.entry(`skills/${backup}`) === undefined
    if ((isStaged || isLeaving) && tree.entry(`skills/${name}`) !== undefined) tree.rename(`skills/${name}`, backup)
    if (isStaged) tree.rename(`skills/${staged}`, name)
  }
  await writeMemory(scope, journal.memory)
  await tree.write(LOCK_FILE, { bytes: Buffer.from(journal.lock), isDurable: true })
  const gone = journal.moves.filter((each) => each.stage === null).map(({ name }) => name)
  // Ours is the truth: where theirs cannot be written now, the next change writes it.
  const { filled, emptied, ...ofUser } = journal.seats
  const theirs = { ...scope, ...ofUser }
  await writeNpmLock(theirs, { lock: readLock(journal.lock, scope.lockPath), gone }).catch(() => undefined)
  const failed = await emptySeats(theirs, emptied)
    .then(() => fillSeats(theirs, filled))
    .catch((error: unknown) => error)
  await removeJournal(scope)
  // A copy that cannot be removed now is hidden, and the next change tries again.
  for (const { backup } of journal.moves) await tree.removeAll(`skills/${backup}`)
  return failed
}

/** The copies of before are back, then the journal goes, then the new copies: a second call of this or of `finish` finds what it needs. */
async function undo(scope: Scope, tree: Tree, moves: readonly Move[]): Promise<void> {
  const has = (name: string): boolean => tree.entry(`skills/${name}`) !== undefined
  for (const { name, stage: staged, backup } of moves) {
    if (staged !== null && !has(staged) && has(name)) tree.rename(`skills/${name}`, staged)
    // Else somebody else, such as `git pull`, has put a copy there meanwhile.
    if (has(backup) && !has(name)) tree.rename(`skills/${backup}`, name)
  }
  await removeJournal(scope)
  for (const each of moves.flatMap(({ stage: staged, backup }) => [staged ?? [], backup].flat()))
    await tree.removeAll(`skills/${each}`)
}

async function removeJournal(scope: Scope): Promise<void> {
  using state = openState(scope)
  await state.removeAll(`${scope.key}.journal`)
}
