import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { Tree } from '../../machine/files/index.ts'
import type { ReadManifest } from '../../machine/skill-files/index.ts'
import { packageOf, type Package, type PackedFile } from './found.ts'
import { type Lock, type LockedSkill, lockedFiles, nameOfPlace } from './lock-file.ts'
import { randomHex } from './names.ts'
import { type Change, commit, recover } from './place.ts'
import { copyAt, type Drift, driftOf, type PlannedSkill } from './plan.ts'
import { keepRevision, readRevision } from './revisions.ts'
import {
  type Memory,
  lockOf,
  openPlaces,
  openState,
  readMemory,
  type Remembered,
  type Scope,
  writeMemory,
} from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** Does work while no other process changes a directory: the lock of the workspace. */
export type Alone = <T>(directory: string, work: () => Promise<T>) => Promise<T>

/** How a plan is carried out. */
export interface ApplyOptions {
  readonly alone: Alone
  /** Names whose local edits, or foreign copies, are replaced; a copy of the files is kept. */
  readonly overwrite?: ReadonlySet<string>
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

const KEPT_REVISIONS = 5

/** Places planned skills and writes the lock. Throws CONFLICT for local edits and for copies that the lock does not have. */
export async function applyPlan(
  scope: Scope,
  planned: readonly PlannedSkill[],
  options: ApplyOptions,
): Promise<Applied> {
  return inScope(scope, options, async () => {
    const lock = new Map(lockOf(scope))
    const kept = new Map<string, string>()
    const changes: Change[] = []
    let memory = readMemory(scope)
    for (const plan of planned) {
      const { place, name, package: packed } = plan
      const before = lock.get(place)
      const there = await copyAt(scope, place)
      const copy = await guardCopy(scope, { name, place, there, before, next: packed.digest }, options)
      if (copy !== undefined) kept.set(name, copy)
      await keepRevision(scope.nexusHome, packed)
      if (there?.treeDigest !== packed.digest) changes.push({ place, files: packed.files })
      lock.set(place, entryOf(plan, before, options))
      memory = remember(memory, place, { before, options, next: packed.digest })
    }
    await commit(scope, changes, lock)
    await writeMemory(scope, memory)
    return { lock, kept }
  })
}

interface Guarded {
  readonly name: string
  readonly place: string
  readonly there: ReadManifest | undefined
  readonly before: LockedSkill | undefined
  /** Digest of what will be there; undefined when the copy is removed. */
  readonly next?: string
}

/** Nothing of a person is lost: returns where a copy of edited files is kept. Throws CONFLICT where that was not asked for. */
export async function guardCopy(
  scope: Scope,
  guarded: Guarded,
  { overwrite }: Pick<ApplyOptions, 'overwrite'>,
): Promise<string | undefined> {
  const { name, place, there, before, next } = guarded
  if (there === undefined || there.treeDigest === next) return undefined
  // No file of a skill, so no copy of edits has them: a repository of the user, or links.
  const others = there.leftOut.map(({ path }) => path)
  if (lstatSync(join(scope.root, place, '.git'), { throwIfNoEntry: false })) others.unshift('.git')
  if (others.length > 0) throw installError('CONFLICT', MESSAGES.notOfSkill(place, others))
  const drift =
    before === undefined ? there.files.map(({ path }): Drift => ({ path, change: 'added' })) : driftOf(before, there)
  if (drift.length === 0) return undefined
  if (overwrite?.has(name) !== true) {
    if (before === undefined) throw installError('CONFLICT', MESSAGES.notOurs(place))
    throw installError(
      'CONFLICT',
      MESSAGES.edited(
        name,
        drift.map(({ path, change }) => `${path} (${change})`),
      ),
    )
  }
  return keepEdits(scope, { name, place }, drift)
}

async function keepEdits(
  scope: Scope,
  { name, place }: { name: string; place: string },
  drift: readonly Drift[],
): Promise<string> {
  const state = openState(scope)
  const source = new Tree(join(scope.root, place))
  const directory = `edits/${name}-${randomHex()}`
  try {
    for (const { path, change } of drift) {
      if (change === 'missing') continue
      const { bytes, mode } = await source.read(path, { maxBytes: Number.MAX_SAFE_INTEGER })
      await state.write(`${directory}/${path}`, { bytes, mode: mode & 0o700, makesParents: true })
    }
    return join(scope.stateDirectory, directory)
  } finally {
    source.close()
    state.close()
  }
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
    for (const name of names) {
      const before = lockedOf(lock, name)
      const { place } = before
      const there = await copyAt(scope, place)
      const copy = await guardCopy(scope, { name, place, there, before }, options)
      if (copy !== undefined) kept.set(name, copy)
      lock.delete(place)
      changes.push({ place, files: undefined })
    }
    await commit(scope, changes, lock)
    return { lock, kept }
  })
}

/** Puts the revision before the current one back. Throws FILE_NOT_FOUND when none is kept. */
export async function rollBack(scope: Scope, name: string, options: ApplyOptions): Promise<LockedSkill> {
  return inScope(scope, options, async () => {
    const lock = new Map(lockOf(scope))
    const current = lockedOf(lock, name)
    const { place } = current
    const memory = readMemory(scope)
    const earlier = memory[place]?.before ?? []
    const previous = earlier.at(-1)
    const files = previous && (await readRevision(scope.nexusHome, previous.digest))
    if (!previous || !files) throw installError('FILE_NOT_FOUND', MESSAGES.nothingBefore(name))
    const there = await copyAt(scope, place)
    await guardCopy(scope, { name, place, there, before: current, next: previous.digest }, options)
    lock.set(place, { ...previous, pinned: current.pinned, clients: current.clients })
    await commit(scope, [{ place, files }], lock)
    await writeMemory(scope, { ...memory, [place]: { ...memory[place], before: earlier.slice(0, -1) } })
    return previous
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
    await commit(scope, [], lock)
  })
}

export interface Verified {
  readonly name: string
  readonly place: string
  /** Every file that is not as the lock has it; all are missing when the copy is. */
  readonly drift: readonly Drift[]
}

/** Compares every copy with the lock. */
export async function verifyCopies(scope: Scope, names: readonly string[] = []): Promise<readonly Verified[]> {
  const lock = lockOf(scope)
  const skills = names.length === 0 ? [...lock.values()] : names.map((name) => lockedOf(lock, name))
  const verified: Verified[] = []
  for (const skill of skills) {
    const { place } = skill
    const there = await copyAt(scope, place)
    verified.push({ name: nameOfPlace(place), place, drift: driftOf(skill, there ?? { files: [] }) })
  }
  return verified
}

/** The package of files that the machine has. Throws SKILL_INVALID. */
export function packageFrom(skill: LockedSkill, files: readonly PackedFile[]): Package {
  const name = nameOfPlace(skill.place)
  return packageOf({ path: '', name, description: '', directory: name }, files, [])
}
