import { isDeepStrictEqual } from 'node:util'
import { guardSeats, seatDrift } from './clients.ts'
import { copyAt, type Drift, driftOf } from './copies.ts'
import { guardCopy, type Overwriting } from './guard.ts'
import { type Lock, type LockedSkill, lockedFiles, nameOfPlace } from './lock-file.ts'
import { type Change, commit, recover, type Step } from './place.ts'
import type { PlannedSkill, Wanted } from './plan.ts'
import { collectRevisions, hasRevision, keepRevision, packageOfRevision } from './revisions.ts'
import { type Memory, lockOf, openPlaces, readMemory, type Remembered, type Scope, usedDigests } from './scope.ts'
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

/** Changes a scope, and lets go of the revisions that nothing refers to any more. */
export async function change(scope: Scope, step: Step): Promise<void> {
  await commit(scope, step)
  if (step.changes.length > 0) await collectRevisions(scope.nexusHome, usedDigests(scope))
}

export interface Applied {
  readonly lock: Lock
  /** Where copies of replaced edits are, by name. */
  readonly kept: ReadonlyMap<string, string>
}

const KEPT_REVISIONS = 5

/** Places planned skills and writes the lock. Throws CONFLICT for local edits, for copies that the lock does not have, and where the lock has another revision than the plan. */
export async function applyPlan(
  scope: Scope,
  planned: readonly PlannedSkill[],
  options: ApplyOptions,
): Promise<Applied> {
  return inScope(scope, options, async () => {
    const lock = new Map(lockOf(scope))
    const kept = new Map<string, string>()
    const changes: Change[] = []
    const placed: LockedSkill[] = []
    let memory = readMemory(scope)
    for (const plan of planned) {
      const { place, name, package: packed } = plan
      const before = lock.get(place)
      if (!isAsPlanned(plan, before)) throw installError('CONFLICT', MESSAGES.lockChanged(name))
      const there = await copyAt(scope, place)
      const copy = await guardCopy(scope, { name, place, there, before, next: packed.digest }, options)
      if (copy !== undefined) kept.set(name, copy)
      const next = entryOf(plan, before, options)
      for (const [seat, path] of await guardSeats(scope, { before, next }, options)) kept.set(seat, path)
      await keepRevision(scope.nexusHome, packed)
      if (there?.treeDigest !== packed.digest) changes.push({ place, files: packed.files })
      lock.set(place, next)
      placed.push(next)
      memory = remember(memory, place, { before, options, next: packed.digest })
    }
    await change(scope, { changes, lock, memory, seats: { filled: placed } })
    return { lock, kept }
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

function remember(
  memory: Memory,
  place: string,
  { before, options, next }: { before: LockedSkill | undefined; options: ApplyOptions; next: string },
): Memory {
  const was: Remembered | undefined = memory[place]
  const earlier = was?.before ?? []
  const more = before === undefined || before.digest === next ? earlier : [...earlier, before]
  const from = options.from ?? was?.from
  const remembered = {
    before: more.slice(-KEPT_REVISIONS),
    seenAt: options.now.toISOString(),
    ...(from !== undefined && { from }),
  }
  return { ...memory, [place]: remembered }
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
  return inScope(scope, options, async () => {
    const lock = new Map(lockOf(scope))
    const kept = new Map<string, string>()
    const changes: Change[] = []
    const memory = { ...readMemory(scope) }
    const removed: LockedSkill[] = []
    for (const name of names) {
      const before = lockedOf(lock, name)
      const { place } = before
      const there = await copyAt(scope, place)
      const copy = await guardCopy(scope, { name, place, there, before }, options)
      if (copy !== undefined) kept.set(name, copy)
      lock.delete(place)
      removed.push(before)
      delete memory[place]
      changes.push({ place, files: undefined })
    }
    await change(scope, { changes, lock, memory, seats: { emptied: removed } })
    return { lock, kept }
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
export async function rollBack(
  scope: Scope,
  name: string,
  options: ApplyOptions,
): Promise<Pick<Applied, 'kept'> & { readonly previous: LockedSkill }> {
  return inScope(scope, options, async () => {
    const lock = new Map(lockOf(scope))
    const current = lockedOf(lock, name)
    const { place } = current
    const memory = readMemory(scope)
    const earlier = memory[place]?.before ?? []
    const { previous, package: packed } = await previousOf(scope, name)
    const there = await copyAt(scope, place)
    const kept = new Map<string, string>()
    const copy = await guardCopy(scope, { name, place, there, before: current, next: previous.digest }, options)
    if (copy !== undefined) kept.set(name, copy)
    const next = { ...previous, pinned: current.pinned, clients: current.clients }
    for (const [seat, path] of await guardSeats(scope, { before: current, next }, options)) kept.set(seat, path)
    lock.set(place, next)
    const remembered = { ...memory, [place]: { ...memory[place], before: earlier.slice(0, -1) } }
    const seats = { filled: [next] }
    await change(scope, { changes: [{ place, files: packed.files }], lock, memory: remembered, seats })
    return { previous, kept }
  })
}

/** Pins or unpins. Throws SKILL_NOT_FOUND. */
export async function setPinned(
  scope: Scope,
  name: string,
  options: Pick<ApplyOptions, 'alone'> & { readonly pinned: boolean },
): Promise<void> {
  await inScope(scope, options, async () => {
    const lock = new Map(lockOf(scope))
    const skill = lockedOf(lock, name)
    lock.set(skill.place, { ...skill, pinned: options.pinned })
    await change(scope, { changes: [], lock, memory: readMemory(scope) })
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
