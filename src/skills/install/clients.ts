import { join, relative } from 'node:path'
import { codeOf, Tree } from '../../machine/files/index.ts'
import { copyAt, type Drift, driftOf, filesAt, writeFiles } from './copies.ts'
import { guardCopy, type Overwriting } from './guard.ts'
import { type LockedSkill, nameOfPlace } from './lock-file.ts'
import { hiddenName, sweep } from './names.ts'
import type { Scope } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** Where programs look for skills: in a project, and below the home of a user. */
const CLIENTS = {
  'claude-code': { workspace: '.claude/skills', user: '.claude/skills' },
  codex: { workspace: '.agents/skills', user: '.agents/skills' },
  cursor: { workspace: '.agents/skills', user: '.cursor/skills' },
  copilot: { workspace: '.agents/skills', user: '.copilot/skills' },
  opencode: { workspace: '.agents/skills', user: '.config/opencode/skills' },
  'gemini-cli': { workspace: '.agents/skills', user: '.gemini/skills' },
} as const satisfies Readonly<Record<string, Readonly<Record<'workspace' | 'user', string>>>>

export const CLIENT_NAMES: readonly string[] = Object.keys(CLIENTS)

/** Where one program finds a placed skill: a link to the copy, or a copy of it where links are not possible. */
interface Seat {
  readonly directory: string
  readonly path: string
  /** Text of the link. */
  readonly target: string
}

function seatsOf(scope: Scope, { place, clients }: Pick<LockedSkill, 'place' | 'clients'>): readonly Seat[] {
  const { kind, root } = scope
  if (kind === 'source') return []
  const directories = clients.flatMap((name) => {
    const known = Object.hasOwn(CLIENTS, name) ? CLIENTS[name as keyof typeof CLIENTS] : undefined
    return known ? [known[kind]] : []
  })
  return [...new Set(directories)].map((directory) => ({
    directory,
    path: `${directory}/${nameOfPlace(place)}`,
    target: relative(join(baseOf(scope), directory), join(root, place)),
  }))
}

function baseOf({ kind, home, root }: Scope): string {
  return kind === 'user' ? home : root
}

/**
 * Checks every seat of a skill that will be filled, before anything is changed. Returns where edits of copies that are replaced are kept, by seat.
 * Throws PATH_OUTSIDE where a directory on the way is a link, CONFLICT where something that is not ours is at a seat.
 */
export async function guardSeats(
  scope: Scope,
  { before, next }: { readonly before: LockedSkill | undefined; readonly next: LockedSkill },
  overwriting: Overwriting,
): Promise<readonly (readonly [seat: string, kept: string])[]> {
  const seats = seatsOf(scope, next)
  if (seats.length === 0) return []
  const base = { ...scope, root: baseOf(scope) }
  return withBase(scope, async (tree) => {
    const kept: [string, string][] = []
    for (const { directory, path, target } of seats) {
      checkWay(tree, directory)
      const there = tree.entry(path)
      if (there === undefined || there.target === target) continue
      if (there.kind !== 'directory') throw installError('CONFLICT', MESSAGES.linkTaken(path))
      const name = nameOfPlace(next.place)
      const guarded = { name, place: path, there: await copyAt(base, path), before, next: next.digest }
      const copy = await guardCopy(base, guarded, overwriting)
      if (copy !== undefined) kept.push([path, copy])
    }
    return kept
  })
}

/** No link is followed: what is behind it may be anybody's. */
function checkWay(tree: Tree, directory: string): void {
  const parts = directory.split('/')
  for (let count = 1; count <= parts.length; count++) {
    const above = parts.slice(0, count).join('/')
    const kind = tree.entry(above)?.kind
    if (kind !== undefined && kind !== 'directory') throw installError('PATH_OUTSIDE', MESSAGES.seatOutside(above))
  }
}

/** Puts a link at every seat of placed skills, or a copy. Call it after `guardSeats`: what is there is replaced. */
export async function fillSeats(scope: Scope, skills: readonly LockedSkill[]): Promise<void> {
  const filled = skills.flatMap((skill) => seatsOf(scope, skill).map((seat) => ({ skill, seat })))
  if (filled.length === 0) return
  await withBase(scope, async (tree) => {
    const base = { root: baseOf(scope) }
    for (const directory of new Set(filled.map(({ seat }) => seat.directory))) await openSeats(tree, directory)
    for (const { skill, seat } of filled) {
      const { path, target } = seat
      const there = tree.entry(path)
      if (there?.target === target) continue
      if (there?.kind === 'directory' && (await copyAt(base, path))?.treeDigest === skill.digest) continue
      await fill(scope, tree, { skill, seat })
    }
  })
}

/** Makes the directory, without what processes that are gone have left in it. */
async function openSeats(tree: Tree, directory: string): Promise<void> {
  const parts = directory.split('/')
  for (let count = 1; count <= parts.length; count++) {
    const above = parts.slice(0, count).join('/')
    if (tree.entry(above) === undefined) tree.makeDirectory(above, { mode: 0o755 })
  }
  await sweep(tree, directory)
}

/** Systems without links, and those where only an administrator may make them. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL'])

async function fill(
  scope: Scope,
  tree: Tree,
  { skill, seat }: { readonly skill: LockedSkill; readonly seat: Seat },
): Promise<void> {
  const { directory, path, target } = seat
  const staged = `${directory}/${hiddenName('new')}`
  try {
    tree.makeLink(staged, target)
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error
    await writeFiles(tree, staged, await filesAt(scope, skill.place))
  }
  const backup = tree.entry(path) === undefined ? undefined : hide(tree, path)
  tree.rename(staged, nameOfPlace(skill.place))
  if (backup !== undefined) await tree.removeAll(`${directory}/${backup}`)
}

/** Removes links and copies that are ours; anything else there is somebody's own. */
export async function emptySeats(scope: Scope, skills: readonly LockedSkill[]): Promise<void> {
  const left = skills.flatMap((skill) => seatsOf(scope, skill).map((seat) => ({ skill, ...seat })))
  if (left.length === 0) return
  await withBase(scope, async (tree) => {
    for (const { skill, directory, path, target } of left) {
      const there = tree.entry(path)
      if (there?.target === target) tree.remove(path, 'link')
      else if (there?.kind === 'directory' && (await isOurCopy(scope, path, skill))) await tree.removeAll(`${directory}/${hide(tree, path)}`) // oxfmt-ignore
    }
    for (const directory of new Set(left.map((each) => each.directory)))
      if (tree.entry(directory)?.kind === 'directory') await sweep(tree, directory)
  })
}

/** A copy that was removed in part would be none of ours after `kill -9`, and stay. Returns the name that no program finds. */
function hide(tree: Tree, path: string): string {
  const backup = hiddenName('old')
  tree.rename(path, backup)
  return backup
}

async function isOurCopy(scope: Scope, path: string, { digest }: LockedSkill): Promise<boolean> {
  const there = await copyAt({ root: baseOf(scope) }, path)
  return there !== undefined && there.treeDigest === digest && there.leftOut.length === 0
}

/** Everything at the seats of a skill that is not as the lock has it: all files are missing where no link and no copy is. */
export async function seatDrift(
  scope: Scope,
  skill: LockedSkill,
): Promise<readonly { readonly place: string; readonly drift: readonly Drift[] }[]> {
  const seats = seatsOf(scope, skill)
  if (seats.length === 0) return []
  return withBase(scope, async (tree) => {
    const found: { place: string; drift: readonly Drift[] }[] = []
    for (const { path, target } of seats) {
      const there = tree.entry(path)
      if (there?.target === target) continue
      const copy = there?.kind === 'directory' ? await copyAt({ root: baseOf(scope) }, path) : undefined
      const drift = driftOf(skill, copy)
      if (drift.length > 0) found.push({ place: path, drift })
    }
    return found
  })
}

async function withBase<T>(scope: Scope, work: (tree: Tree) => Promise<T>): Promise<T> {
  using tree = new Tree(baseOf(scope))
  return await work(tree)
}
