import { isDeepStrictEqual } from 'node:util'
import type { Manifest } from '../../kernel/index.ts'
import { guardSeats, seatDrift } from './clients.ts'
import { copyAt, type Drift, driftOf } from './copies.ts'
import type { Package } from './found.ts'
import { guardCopy, type Guarded, type Overwriting } from './guard.ts'
import { type Lock, type LockedSkill, lockedFiles, nameOfPlace } from './lock-file.ts'
import { type Change, commit, recover } from './place.ts'
import type { PlannedSkill, Wanted } from './plan.ts'
import { collectRevisions, hasRevision, keepRevision, packageOfRevision } from './revisions.ts'
import { lockOf, openPlaces, readMemory, type Remembered, type Scope, usedDigests } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** Does work while no other process changes a directory: the lock of the workspace. */
export type Alone = <T>(directory: string, work: () => Promise<T>) => Promise<T>

/** How a plan is carried out. */
export interface ApplyOptions extends Overwriting {
  readonly alone: Alone
  /** Programs that are to find the copies, too. */
  readonly clients?: readonly string[]
  /** The folder or file that the copies came from, on this machine. */
  readonly from?: string
  readonly now: Date
}

/** Does work under the lock of a scope, after what a dead process left there is ended. */
export async function inScope<T>(
  scope: Scope,
  { alone }: { readonly alone: Alone },
  work: () => Promise<T>,
): Promise<T> {
  openPlaces(scope).close()
  return alone(scope.root, async () => {
    await recover(scope)
    return work()
  })
}

export interface Applied {
  readonly lock: Lock
  /** Where copies of replaced edits are, by name. */
  readonly kept: ReadonlyMap<string, string>
}

interface Placing {
  readonly before: LockedSkill | undefined
  readonly next: LockedSkill
  /** The files of a new copy; undefined where the copy stays, and only links or copies for other programs are made. */
  readonly packed: Package | undefined
}

/** One step on a scope: its new lock and memory, and what is placed and removed. Nothing is changed before the step is committed. */
class Edit {
  readonly lock: Map<string, LockedSkill>
  readonly memory: Record<string, Remembered>
  readonly kept = new Map<string, string>()
  readonly changes: Change[] = []
  readonly filled: LockedSkill[] = []
  readonly emptied: LockedSkill[] = []
  readonly #scope: Scope
  readonly #overwriting: Overwriting

  constructor(scope: Scope, overwriting: Overwriting) {
    this.#scope = scope
    this.#overwriting = overwriting
    this.lock = new Map(lockOf(scope))
    this.memory = { ...readMemory(scope) }
  }

  /** Throws CONFLICT for what a person would lose. */
  async place(name: string, { before, next, packed }: Placing): Promise<void> {
    const { place, digest } = next
    if (packed) {
      const there = await this.#guard({ name, place, before, next: digest })
      if (there?.treeDigest !== digest) this.changes.push({ place, files: packed.files })
    }
    for (const [seat, path] of await guardSeats(this.#scope, { before, next }, this.#overwriting))
      this.kept.set(seat, path)
    if (packed) await keepRevision(this.#scope.nexusHome, packed)
    this.lock.set(place, next)
    this.filled.push(next)
  }

  /** Throws as `place`. */
  async remove(name: string, before: LockedSkill): Promise<void> {
    const { place } = before
    await this.#guard({ name, place, before })
    this.changes.push({ place, files: undefined })
    this.lock.delete(place)
    delete this.memory[place]
    this.emptied.push(before)
  }

  async #guard(guarded: Omit<Guarded, 'there'>): Promise<Manifest | undefined> {
    const there = await copyAt(this.#scope, guarded.place)
    const copy = await guardCopy(this.#scope, { ...guarded, there }, this.#overwriting)
    if (copy !== undefined) this.kept.set(guarded.name, copy)
    return there
  }
}

/** Changes a scope in one step under its lock, and lets go of the revisions that nothing refers to any more. */
export async function changeScope(
  scope: Scope,
  options: Overwriting & { readonly alone: Alone },
  work: (edit: Edit) => void | Promise<void>,
): Promise<Applied> {
  return inScope(scope, options, async () => {
    const edit = new Edit(scope, options)
    await work(edit)
    const { lock, memory, kept, changes, filled, emptied } = edit
    await commit(scope, { changes, lock, memory, seats: { filled, emptied } })
    if (changes.length > 0) await collectRevisions(scope.nexusHome, usedDigests(scope))
    return { lock, kept }
  })
}

const KEPT_REVISIONS = 5

/** Places planned skills and writes the lock. Throws CONFLICT for local edits, for copies that the lock does not have, and where the lock has another revision than the plan. */
export async function applyPlan(
  scope: Scope,
  planned: readonly PlannedSkill[],
  options: ApplyOptions,
): Promise<Applied> {
  return changeScope(scope, options, async (edit) => {
    for (const plan of planned) {
      const { place, name, package: packed } = plan
      const before = edit.lock.get(place)
      if (!isAsPlanned(plan, before)) throw installError('CONFLICT', MESSAGES.lockChanged(name))
      await edit.place(name, { before, next: entryOf(plan, before, options), packed })
      const was: Remembered | undefined = edit.memory[place]
      const earlier = was?.before ?? []
      const isNew = before !== undefined && before.digest !== packed.digest
      edit.memory[place] = {
        before: (isNew ? [...earlier, before] : earlier).slice(-KEPT_REVISIONS),
        seenAt: options.now.toISOString(),
        from: options.from ?? was?.from,
      }
    }
  })
}

/** A person agreed to replace the revision that the plan has seen; a process that placed the same meanwhile changed nothing of that. */
function isAsPlanned({ before, package: packed }: PlannedSkill, now: LockedSkill | undefined): boolean {
  const isSame = now?.digest === before?.digest && isDeepStrictEqual(now?.source, before?.source)
  return isSame || now?.digest === packed.digest
}

function entryOf(plan: PlannedSkill, before: LockedSkill | undefined, { clients }: ApplyOptions): LockedSkill {
  const { place, source, package: packed } = plan
  const version = packed.document.frontmatter['version']
  return {
    ...{ place, source, digest: packed.digest },
    files: lockedFiles({ files: packed.manifest }),
    pinned: before?.pinned ?? false,
    clients: [...new Set([...(before?.clients ?? []), ...(clients ?? [])])],
    ...(typeof version === 'string' && { version }),
  }
}

/** The entry of a name. Throws SKILL_NOT_FOUND. */
export function lockedOf(lock: Lock, name: string): LockedSkill {
  const found = [...lock.values()].find(({ place }) => place === name || nameOfPlace(place) === name)
  if (found) return found
  throw installError('SKILL_NOT_FOUND', MESSAGES.notInLock(name, [...lock.keys()].map(nameOfPlace)))
}

/** Removes copies and their entries. Throws SKILL_NOT_FOUND, CONFLICT. */
export async function removeSkills(
  scope: Scope,
  names: readonly string[],
  options: Omit<ApplyOptions, 'now'>,
): Promise<Applied> {
  return changeScope(scope, options, async (edit) => {
    for (const name of names) await edit.remove(name, lockedOf(edit.lock, name))
  })
}

/** The revision before the current one, to be judged before it is placed again. Throws FILE_NOT_FOUND when none is kept. */
export async function previousOf(scope: Scope, name: string): Promise<Wanted & { readonly previous: LockedSkill }> {
  const { place } = lockedOf(lockOf(scope), name)
  const previous = readMemory(scope)[place]?.before.at(-1)
  if (!previous || !hasRevision(scope.nexusHome, previous.digest))
    throw installError('FILE_NOT_FOUND', MESSAGES.nothingBefore(name))
  return { package: await packageOfRevision(scope, previous), source: previous.source, previous }
}

/** Puts the revision before the current one back. Throws as `previousOf`, and CONFLICT for local edits. */
export async function rollBack(scope: Scope, name: string, options: ApplyOptions): Promise<Applied> {
  return changeScope(scope, options, async (edit) => {
    const current = lockedOf(edit.lock, name)
    const { place, pinned, clients } = current
    const { previous, package: packed } = await previousOf(scope, name)
    await edit.place(name, { before: current, next: { ...previous, pinned, clients }, packed })
    const earlier = edit.memory[place]?.before ?? []
    edit.memory[place] = { ...edit.memory[place], before: earlier.slice(0, -1) }
  })
}

/** Pins or unpins. Throws SKILL_NOT_FOUND. */
export async function setPinned(
  scope: Scope,
  name: string,
  options: Pick<ApplyOptions, 'alone'> & { readonly pinned: boolean },
): Promise<void> {
  await changeScope(scope, options, ({ lock }) => {
    const skill = lockedOf(lock, name)
    lock.set(skill.place, { ...skill, pinned: options.pinned })
  })
}

export interface Verified {
  readonly name: string
  readonly place: string
  /** Every file that is not as the lock has it; all are missing when the copy is. */
  readonly drift: readonly Drift[]
}

/** Compares every copy with the lock, and what other programs find of it. */
export async function verifyCopies(scope: Scope, names: readonly string[] = []): Promise<readonly Verified[]> {
  const lock = lockOf(scope)
  const skills = names.length === 0 ? [...lock.values()] : names.map((name) => lockedOf(lock, name))
  const verified: Verified[] = []
  for (const skill of skills) {
    const { place } = skill
    const name = nameOfPlace(place)
    verified.push({ name, place, drift: driftOf(skill, await copyAt(scope, place)) })
    for (const seat of await seatDrift(scope, skill)) verified.push({ name, ...seat })
  }
  return verified
}
