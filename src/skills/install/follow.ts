import { join } from 'node:path'
import { makeLinks } from './clients.ts'
import { isNexusError, type NexusError } from '../../kernel/index.ts'
import type { Package } from './found.ts'
import { newestOf, openCommit, type Resolved } from './git-source.ts'
import { guardCopy, type Overwriting } from './guard.ts'
import { type Alone, change, inScope, packageFrom } from './installer.ts'
import { type Lock, type LockedSkill, type LockedSource, nameOfPlace } from './lock-file.ts'
import { checkArchiveUrl, checkGitUrl, type Locator, type LocatorRules } from './locator.ts'
import { gitAccess, openSource, type SourceAccess } from './open-source.ts'
import type { Change } from './place.ts'
import { copyAt, type Drift, driftOf, type Wanted } from './plan.ts'
import { readRevision, keepRevision } from './revisions.ts'
import { type Refs, Repository } from './repository.ts'
import { lockOf, readMemory, type Remembered, type Scope } from './scope.ts'
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

/** Asks every repository once, side by side. A source that cannot be reached is a result, not a failure. */
export async function findNews(skills: readonly LockedSkill[], access: FollowAccess): Promise<readonly News[]> {
  const urls = new Set(
    skills.flatMap(({ source }) => (source.type === 'git' && source.follows !== 'commit' ? [source.url] : [])),
  )
  const asked = await Promise.all([...urls].map(async (url) => [url, await refsOf(url, access)] as const))
  const refs = new Map(asked)
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

/** Fetches the newest revisions of skills that have one, each repository once. Throws NETWORK_FAILED, FILE_NOT_FOUND. */
export async function fetchNews(news: readonly News[], access: FollowAccess): Promise<readonly Wanted[]> {
  const due = news.flatMap(({ skill, state, newest }) =>
    state === 'newer' && newest && skill.source.type === 'git' ? [{ skill, source: skill.source, at: newest }] : [],
  )
  return fetchAt(due, access)
}

interface Due {
  readonly skill: LockedSkill
  readonly source: GitSource
  readonly at: Resolved
}

async function fetchAt(due: readonly Due[], access: FollowAccess): Promise<readonly Wanted[]> {
  const groups = Map.groupBy(due, ({ source, at }) => `${source.url} ${at.commit} ${at.ref}`)
  const fetched: Wanted[] = []
  for (const group of groups.values()) {
    const [first] = group
    if (!first) continue
    const repository = await Repository.open(checkGitUrl(first.source.url, access), gitAccess(access))
    await using opened = await openCommit(
      repository,
      first.at,
      group.map(({ source }) => source.path),
    )
    const chosen = group.map(({ skill, source }) => {
      const candidate = opened.candidates.find(({ path }) => path === source.path)
      if (!candidate) throw installError('FILE_NOT_FOUND', MESSAGES.skillGone(nameOfPlace(skill.place), source.url))
      // It stays where it is, also when its author has given it another name.
      return { ...candidate, directory: nameOfPlace(skill.place) }
    })
    const packages = await opened.read(chosen)
    for (const [index, each] of packages.entries())
      fetched.push({ package: each, source: opened.lockedAs(chosen[index] ?? each) })
  }
  return fetched
}

/** A copy that is not as the lock has it. */
export interface ToRestore {
  readonly name: string
  readonly skill: LockedSkill
  readonly drift: readonly Drift[]
  /** Nothing is at its place. */
  readonly isMissing: boolean
  /** The machine keeps this revision, so nobody is asked for it. */
  readonly isKept: boolean
}

/** Finds the copies that differ from the lock. */
export async function findToRestore(scope: Scope, lock: Lock): Promise<readonly ToRestore[]> {
  const all: ToRestore[] = []
  for (const skill of lock.values()) {
    const there = await copyAt(scope, skill.place)
    if (there?.treeDigest === skill.digest) continue
    const isKept = (await readRevision(scope.nexusHome, skill.digest)) !== undefined
    const drift = driftOf(skill, there ?? { files: [] })
    all.push({ name: nameOfPlace(skill.place), skill, drift, isMissing: there === undefined, isKept })
  }
  return all
}

/** The hosts that a restore has to ask. */
export function hostsToAsk(all: readonly ToRestore[]): readonly string[] {
  const urls = all.flatMap(({ skill: { source }, isKept }) =>
    !isKept && 'url' in source && source.url !== undefined ? [source.url] : [],
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
  for (const { skill, name } of all) {
    const kept = await readRevision(scope.nexusHome, skill.digest)
    const { source } = skill
    if (kept) wanted.push({ package: packageFrom(skill, kept), source })
    else if (source.type === 'git') due.push({ skill, source, at: atCommit(source) })
    else wanted.push({ package: await readAgain(scope, skill, access), source })
    const got = wanted.at(-1)?.package
    if (kept === undefined && source.type !== 'git' && got) checkDigest(name, skill, got)
  }
  const fetched = await fetchAt(due, access)
  for (const [index, { skill }] of sortedLike(due, fetched).entries()) {
    const got = fetched[index]?.package
    if (got) checkDigest(nameOfPlace(skill.place), skill, got)
  }
  return [...wanted, ...fetched]
}

/** The skills in the order of what was fetched, which is by repository. */
function sortedLike(due: readonly Due[], fetched: readonly Wanted[]): readonly Due[] {
  const byName = new Map(due.map((each) => [nameOfPlace(each.skill.place), each]))
  return fetched.flatMap(({ package: { directory } }) => byName.get(directory) ?? [])
}

function atCommit({ commit, follows, ref }: GitSource): Resolved {
  return { commit, follows, ...(ref !== undefined && { ref }) }
}

function checkDigest(name: string, { digest }: LockedSkill, got: Package): void {
  if (got.digest !== digest) throw installError('SKILL_INVALID', MESSAGES.notTheSame(name, digest, got.digest))
}

/** From the folder, file or address that the lock or this machine has. */
async function readAgain(scope: Scope, skill: LockedSkill, access: FollowAccess): Promise<Package> {
  const name = nameOfPlace(skill.place)
  const locator = locatorOf(scope, skill, access)
  if (!locator) throw installError('FILE_NOT_FOUND', MESSAGES.cannotRestore(name))
  await using opened = await openSource(locator, access)
  const below = skill.source.type === 'archive' ? skill.source.path : ''
  const candidate = opened.candidates.find(({ path }) => path === below)
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

/** Places what `fetchLocked` gave; the lock stays as it is. Throws CONFLICT for copies with local edits that are not to be overwritten. */
export async function restore(
  scope: Scope,
  wanted: readonly Wanted[],
  options: Overwriting & { readonly alone: Alone; readonly now: Date; readonly home?: string },
): Promise<ReadonlyMap<string, string>> {
  return inScope(scope, options, async () => {
    const lock = lockOf(scope)
    const memory: Record<string, Remembered> = { ...readMemory(scope) }
    const kept = new Map<string, string>()
    const changes: Change[] = []
    for (const { package: packed } of wanted) {
      const { directory: name, digest } = packed
      const place = `skills/${name}`
      const copy = await guardCopy(
        scope,
        { name, place, there: await copyAt(scope, place), before: lock.get(place), next: digest },
        options,
      )
      if (copy !== undefined) kept.set(name, copy)
      memory[place] = { before: [], ...memory[place], seenAt: options.now.toISOString() }
      await keepRevision(scope.nexusHome, packed)
      changes.push({ place, files: packed.files })
    }
    await change(scope, { changes, lock, memory })
    const placed = changes.flatMap(({ place }) => lock.get(place) ?? [])
    makeLinks({ scope, home: options.home ?? scope.root }, placed)
    return kept
  })
}
