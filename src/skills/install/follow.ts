import { join } from 'node:path'
import { seatDrift } from './clients.ts'
import { copyAt, type Drift, driftOf } from './copies.ts'
import { isNexusError, type NexusError } from '../../kernel/index.ts'
import type { Candidate, Package } from './found.ts'
import { newestOf, openCommit, type Resolved } from './git-source.ts'
import type { Overwriting } from './guard.ts'
import { type Alone, changeScope } from './installer.ts'
import { type Lock, type LockedSkill, type LockedSource, nameOfPlace } from './lock-file.ts'
import { checkArchiveUrl, checkGitUrl, type Locator, type LocatorRules } from './locator.ts'
import { gitAccess, openSource, type SourceAccess } from './open-source.ts'
import type { Wanted } from './plan.ts'
import { hasRevision, packageOfRevision } from './revisions.ts'
import type { Refs } from './git-output.ts'
import { Repository } from './repository.ts'
import { resultsOf, sideBySide } from './side-by-side.ts'
import { readMemory, type Scope } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** Whether one skill has a newer revision. */
export interface News {
  readonly name: string
  readonly skill: LockedSkill
  /** `fixed`: a commit, a folder or a file, which have no newer revision to ask for. */
  readonly state: 'current' | 'newer' | 'fixed' | 'unreachable'
  readonly newest?: Resolved
  readonly error?: NexusError
}

interface FollowAccess extends SourceAccess, Pick<LocatorRules, 'httpHosts'> {}

type GitSource = Extract<LockedSource, { type: 'git' }>

/** Asks every repository once, several side by side. A source that cannot be reached is a result, not a failure. */
export async function findNews(skills: readonly LockedSkill[], access: FollowAccess): Promise<readonly News[]> {
  const urls = new Set(
    skills.flatMap(({ source }) => (source.type === 'git' && source.follows !== 'commit' ? [source.url] : [])),
  )
  const asked = await sideBySide([...urls], async (url) => [url, await refsOf(url, access)] as const)
  const refs = new Map(resultsOf(asked))
  return skills.map((skill) => {
    const about = { name: nameOfPlace(skill.place), skill }
    const { source } = skill
    const found = source.type === 'git' ? refs.get(source.url) : undefined
    if (found === undefined) return { ...about, state: 'fixed' }
    if (isNexusError(found)) return { ...about, state: 'unreachable', error: found }
    return { ...about, ...newsOf(source as GitSource, found) }
  })
}

async function refsOf(url: string, access: FollowAccess): Promise<Refs | NexusError> {
  try {
    await using repository = await Repository.open(checkGitUrl(url, access), gitAccess(access))
    return await repository.refs()
  } catch (error) {
    if (isNexusError(error) && error.code !== 'CANCELLED') return error
    throw error
  }
}

function newsOf(source: GitSource, refs: Refs): Pick<News, 'state' | 'newest' | 'error'> {
  try {
    const newest = newestOf(source, refs)
    return { state: newest.commit === source.commit ? 'current' : 'newer', newest }
  } catch (error) {
    if (isNexusError(error)) return { state: 'unreachable', error }
    throw error
  }
}

/** Fetches the newest revisions of skills that have one, each repository once. Throws NETWORK_FAILED. */
export async function fetchNews(news: readonly News[], access: FollowAccess): Promise<Fetched> {
  const due = news.flatMap(({ skill, state, newest }) =>
    state === 'newer' && newest && skill.source.type === 'git' ? [{ skill, source: skill.source, at: newest }] : [],
  )
  return fetchAt(due, access)
}

/** The skills that a repository still has, and those that its author moved or removed: they keep no other from being updated. */
export interface Fetched {
  readonly fetched: readonly Wanted[]
  readonly gone: readonly { readonly name: string; readonly error: NexusError }[]
}

interface Due {
  readonly skill: LockedSkill
  readonly source: GitSource
  readonly at: Resolved
}

async function fetchAt(due: readonly Due[], access: FollowAccess): Promise<Fetched> {
  const groups = Map.groupBy(due, ({ source, at }) => `${source.url} ${at.commit} ${at.ref}`)
  const fetched: Wanted[] = []
  const gone: { name: string; error: NexusError }[] = []
  for (const group of groups.values()) {
    const [first] = group
    if (!first) continue
    const repository = await Repository.open(checkGitUrl(first.source.url, access), gitAccess(access))
    const only = group.map(({ source }) => source.path)
    await using opened = await openCommit(repository, first.at, { only })
    const chosen: Candidate[] = []
    for (const { skill, source } of group) {
      const name = nameOfPlace(skill.place)
      const candidate = opened.candidates.find(({ path }) => path === source.path)
      // It stays where it is, also when its author has given it another name.
      if (candidate) chosen.push({ ...candidate, directory: name })
      else gone.push({ name, error: installError('FILE_NOT_FOUND', MESSAGES.skillGone(name, source.url)) })
    }
    for (const each of await opened.read(chosen)) fetched.push({ package: each, source: opened.lockedAs(each) })
  }
  return { fetched, gone }
}

/** A skill whose copy, or what other programs find of it, is not as the lock has it. */
export interface ToRestore {
  readonly name: string
  readonly skill: LockedSkill
  readonly drift: readonly (Drift & { readonly place: string })[]
  /** The copy is as the lock has it: only links or copies for other programs are to be made. */
  readonly isWhole: boolean
  /** Everything that differs is missing, so nothing is lost. */
  readonly isMissing: boolean
  /** The machine keeps this revision, so nobody is asked for it. */
  readonly isKept: boolean
}

/** Finds the skills that differ from the lock. */
export async function findToRestore(scope: Scope, lock: Lock): Promise<readonly ToRestore[]> {
  const all: ToRestore[] = []
  for (const skill of lock.values()) {
    const { place, digest } = skill
    const there = await copyAt(scope, place)
    const isWhole = there?.treeDigest === digest
    const wrong = [...(isWhole ? [] : [{ place, drift: driftOf(skill, there) }]), ...(await seatDrift(scope, skill))]
    if (wrong.length === 0) continue
    const drift = wrong.flatMap((each) => each.drift.map((one) => ({ ...one, place: each.place })))
    const files = Object.keys(skill.files).length * wrong.length
    const isMissing = drift.length === files && drift.every(({ change }) => change === 'missing')
    const isKept = hasRevision(scope.nexusHome, digest)
    all.push({ name: nameOfPlace(place), skill, drift, isWhole, isMissing, isKept })
  }
  return all
}

/** The hosts that a restore has to ask. */
export function hostsToAsk(all: readonly ToRestore[]): readonly string[] {
  const urls = all.flatMap(({ skill: { source }, isKept, isWhole }) =>
    !isKept && !isWhole && 'url' in source && source.url !== undefined ? [source.url] : [],
  )
  return [...new Set(urls.map((url) => new URL(url).host))]
}

/** Gets exactly the revisions of the lock, from this machine where it has them. Throws SKILL_INVALID for other content. */
export async function fetchLocked(
  scope: Scope,
  all: readonly ToRestore[],
  access: FollowAccess,
): Promise<readonly Wanted[]> {
  const wanted: Wanted[] = []
  const due: Due[] = []
  for (const { skill, isKept } of all.filter(({ isWhole }) => !isWhole)) {
    const { source } = skill
    if (isKept) wanted.push({ package: await packageOfRevision(scope, skill), source })
    else if (source.type === 'git') due.push({ skill, source, at: source })
    else wanted.push({ package: await readAgain(scope, skill, access), source })
  }
  const { fetched, gone } = await fetchAt(due, access)
  const [missing] = gone
  if (missing) throw missing.error
  const got = [...wanted, ...fetched]
  const digests = new Map(all.map(({ name, skill }) => [name, skill.digest]))
  for (const { package: packed } of got) {
    const { directory: name, digest } = packed
    const expected = digests.get(name) ?? ''
    if (digest !== expected) throw installError('SKILL_INVALID', MESSAGES.notTheSame(name, expected, digest))
  }
  return got
}

/** From the folder, file or address that the lock or this machine has. */
async function readAgain(scope: Scope, skill: LockedSkill, access: FollowAccess): Promise<Package> {
  const name = nameOfPlace(skill.place)
  const locator = locatorOf(scope, skill, access)
  if (!locator) throw installError('FILE_NOT_FOUND', MESSAGES.cannotRestore(name))
  await using opened = await openSource(locator, access)
  const below = skill.source.type === 'archive' ? skill.source.path : ''
  // The lock has no path of a folder that is outside, also when it has several skills.
  const candidate =
    opened.candidates.find(({ path }) => path === below) ??
    opened.candidates.find(({ directory }) => skill.source.type === 'local' && directory === name)
  if (!candidate) throw installError('FILE_NOT_FOUND', MESSAGES.cannotRestore(name))
  const [read] = await opened.read([{ ...candidate, directory: name }])
  if (!read) throw installError('FILE_NOT_FOUND', MESSAGES.cannotRestore(name))
  return read
}

function locatorOf(scope: Scope, { place, source }: LockedSkill, rules: FollowAccess): Locator | undefined {
  if (source.type === 'archive' && source.url !== undefined) return checkArchiveUrl(source.url, rules)
  if (source.type === 'local' && source.path !== undefined)
    return { type: 'directory', path: join(scope.root, source.path) }
  const from = readMemory(scope)[place]?.from
  if (from === undefined) return undefined
  return { type: source.type === 'archive' ? 'archive' : 'directory', path: from }
}

/**
 * Places what `fetchLocked` gave, and makes the links and copies for other programs; the lock stays as it is. Returns where copies of replaced edits
 * are, by name. Throws CONFLICT for copies with local edits that are not to be overwritten, and where the lock was changed after it was read.
 */
export async function restore(
  scope: Scope,
  { due, wanted }: { readonly due: readonly ToRestore[]; readonly wanted: readonly Wanted[] },
  options: Overwriting & { readonly alone: Alone; readonly now: Date },
): Promise<ReadonlyMap<string, string>> {
  const packages = new Map(wanted.map(({ package: packed }) => [packed.directory, packed]))
  const { kept } = await changeScope(scope, options, async (edit) => {
    for (const { name, skill } of due) {
      const { place, digest } = skill
      const before = edit.lock.get(place)
      if (before?.digest !== digest) throw installError('CONFLICT', MESSAGES.lockChanged(name))
      const packed = packages.get(name)
      await edit.place(name, { before, next: before, packed })
      if (packed) edit.memory[place] = { before: [], ...edit.memory[place], seenAt: options.now.toISOString() }
    }
  })
  return kept
}
