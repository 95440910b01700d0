import { SKILL_FILE } from '../../kernel/index.ts'
import { type Candidate, candidatesOf, directoryOf, type Package, packageOf } from './found.ts'
import type { LockedSource } from './lock-file.ts'
import { checkPath, type Locator } from './locator.ts'
import { installError, MESSAGES } from './messages.ts'
import type { Ref, Refs, TreeFile } from './git-output.ts'
import { type GitAccess, Repository } from './repository.ts'

/** The skills of a source, and how they are read. Dispose it after use. */
export interface OpenedSource extends AsyncDisposable {
  readonly candidates: readonly Candidate[]
  /** Those that cannot be installed, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[]
  read(candidates: readonly Candidate[]): Promise<readonly Package[]>
  /** The source of one skill, as the lock has it. */
  lockedAs(candidate: Candidate): LockedSource
}

type GitLocator = Extract<Locator, { type: 'git' }>

/** The commit to which a ref leads now. */
export interface Resolved {
  readonly commit: string
  readonly follows: 'branch' | 'tags' | 'commit'
  readonly ref?: string
  readonly path?: string
}

/** Finds the commit of a locator. Throws FILE_NOT_FOUND. */
export function resolveRef({ url, ref, path, refAndPath }: Omit<GitLocator, 'type'>, refs: Refs): Resolved {
  if (refAndPath !== undefined) return resolveBrowsed(url, refAndPath, refs)
  const below = path === undefined ? {} : { path }
  if (ref === undefined) {
    const found = refs.all.find(({ kind, name }) => kind === 'branch' && name === refs.defaultBranch)
    if (!found) throw installError('FILE_NOT_FOUND', MESSAGES.emptyRepository(url))
    return { ...asResolved(found), ...below }
  }
  const found = named(ref, refs)
  if (found) return { ...asResolved(found), ...below }
  if (/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(ref)) return { commit: ref, follows: 'commit', ...below }
  throw installError('FILE_NOT_FOUND', MESSAGES.refMissing(url, ref))
}

/** A branch wins over a tag of the same name, as on the pages of git hosts. */
function named(ref: string, refs: Refs): Ref | undefined {
  const of = (kind: Ref['kind']) => refs.all.find((each) => each.kind === kind && each.name === ref)
  return of('branch') ?? of('tag')
}

function asResolved({ kind, name, commit }: Ref): Resolved {
  return { commit, ref: name, follows: kind === 'branch' ? 'branch' : 'tags' }
}

/** The longest ref with which the text begins; a ref may have slashes. */
function resolveBrowsed(url: string, refAndPath: string, refs: Refs): Resolved {
  const parts = refAndPath.split('/')
  for (let count = parts.length; count > 0; count--) {
    const ref = parts.slice(0, count).join('/')
    const rest = parts.slice(count).join('/')
    const below = rest === '' ? {} : { path: checkPath(rest) }
    const found = named(ref, refs)
    if (found) return { ...asResolved(found), ...below }
    if (count === 1 && /^[0-9a-f]{40}$/.test(ref)) return { commit: ref, follows: 'commit', ...below }
  }
  throw installError('FILE_NOT_FOUND', MESSAGES.refMissing(url, refAndPath))
}

/** Where a newer revision would be: the tip of the branch, or the newest tag. The same commit for a source that follows nothing. */
export function newestOf(source: Extract<LockedSource, { type: 'git' }>, refs: Refs): Resolved {
  const { follows, ref, commit } = source
  if (follows === 'commit' || ref === undefined) return { commit, follows }
  if (follows === 'branch') {
    const found = refs.all.find(({ kind, name }) => kind === 'branch' && name === ref)
    if (!found) throw installError('FILE_NOT_FOUND', MESSAGES.branchGone(source.url, ref))
    return asResolved(found)
  }
  const tags = refs.all.filter(({ kind, name }) => kind === 'tag' && sameForm(name, ref))
  const newest = tags.toSorted((a, b) => compareVersions(a.name, b.name)).at(-1)
  return newest && compareVersions(newest.name, ref) >= 0 ? asResolved(newest) : { commit, follows, ref }
}

/** `v1.2.3` and `v2.0.0` have one form, `pdf-v1` and `v1` have not; a version before its release is no newer release. */
function sameForm(a: string, b: string): boolean {
  const form = (tag: string) => tag.replace(/\d+(?:\.\d+)*/, '#')
  return form(a) === form(b)
}

function compareVersions(a: string, b: string): number {
  const numbers = (tag: string) => (/\d+(?:\.\d+)*/.exec(tag)?.[0] ?? '0').split('.').map(Number)
  const [ofA, ofB] = [numbers(a), numbers(b)]
  for (let index = 0; index < Math.max(ofA.length, ofB.length); index++) {
    const difference = (ofA[index] ?? 0) - (ofB[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Opens a repository at the commit that the locator names now. */
export async function openGit(
  locator: GitLocator,
  { likely = [], ...access }: GitAccess & Pick<Which, 'likely'>,
): Promise<OpenedSource> {
  const repository = await Repository.open(locator.url, access)
  const names = likely === 'all' || locator.skill === undefined ? likely : [...likely, locator.skill]
  return openCommit(repository, resolveRef(locator, await repository.refs()), { likely: names })
}

interface Which {
  /** Only the skills of these directories. */
  readonly only?: readonly string[]
  readonly likely?: Likely | undefined
}

/** Names of skills that will be chosen: their files come with the same request where a directory has the name. */
export type Likely = readonly string[] | 'all'

/** Opens a repository at one commit: what is below the path, or only the skills of some directories. The source disposes of the repository. */
export async function openCommit(repository: Repository, resolved: Resolved, which: Which = {}): Promise<OpenedSource> {
  try {
    return await sourceAt(repository, resolved, which)
  } catch (error) {
    await repository[Symbol.asyncDispose]()
    throw error
  }
}

async function sourceAt(
  repository: Repository,
  resolved: Resolved,
  { only, likely = [] }: Which,
): Promise<OpenedSource> {
  const files = await repository.fetchCommit(resolved.commit)
  const all =
    only === undefined ? skillFilesIn(files, resolved.path ?? '') : files.filter(({ path }) => isSkillFile(path))
  const skillFiles = only === undefined ? all : all.filter(({ path }) => only.includes(directoryOf(path)))
  const isLikely = (path: string): boolean =>
    likely === 'all' ||
    skillFiles.length === 1 ||
    [path, path.slice(path.lastIndexOf('/') + 1)].some((name) => likely.includes(name))
  const directories = only ?? skillFiles.map(({ path }) => directoryOf(path)).filter(isLikely)
  await repository.measure([...skillFiles, ...directories.flatMap((path) => filesOf(files, path).own)])
  const texts = await repository.files(skillFiles)
  const { commit, follows, ref } = resolved
  return {
    ...candidatesOf(skillFiles.map(({ path, id }) => ({ path, bytes: texts.get(id) ?? new Uint8Array() }))),
    read: (candidates) => readAll(repository, files, candidates),
    lockedAs: ({ path }) => ({
      type: 'git',
      url: repository.url,
      commit,
      follows,
      ...(ref !== undefined && { ref }),
      path,
    }),
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  }
}

function isSkillFile(path: string): boolean {
  return path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`)
}

/** Folders of examples and of other programs' packages are no place for skills to install. */
const PASSED = new Set(['node_modules', '.git'])

/** Every SKILL.md below a path; a SKILL.md ends the descent. */
export function skillFilesIn<File extends Pick<TreeFile, 'path' | 'kind'>>(
  files: readonly File[],
  below: string,
): File[] {
  const prefix = below === '' ? '' : `${below}/`
  const all = files.filter(
    ({ path, kind }) =>
      (kind === 'file' || kind === 'executable') &&
      path.startsWith(prefix) &&
      isSkillFile(path) &&
      !path.split('/').some((part) => PASSED.has(part)),
  )
  const directories = new Set(all.map(({ path }) => directoryOf(path)))
  return all.filter(({ path }) => !hasSkillAbove(directoryOf(path), { directories, below }))
}

function hasSkillAbove(
  directory: string,
  { directories, below }: { readonly directories: ReadonlySet<string>; readonly below: string },
): boolean {
  if (directory === below) return false
  for (let at = directory; at !== '';) {
    at = at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : ''
    // A SKILL.md at the root of a repository is often about the repository, and its skills are below.
    if (at !== '' && directories.has(at)) return true
  }
  return false
}

async function readAll(
  repository: Repository,
  files: readonly TreeFile[],
  candidates: readonly Candidate[],
): Promise<Package[]> {
  const perSkill = candidates.map((candidate) => ({ candidate, ...filesOf(files, candidate.path) }))
  const wanted = perSkill.flatMap(({ own }) => own)
  // One request for all of them. Then one process reads a group: a process for each skill took most of the time.
  await repository.measure(wanted)
  const packages: Package[] = []
  for (const group of groupsOf(repository, perSkill)) {
    const blobs = await repository.files(group.flatMap(({ own }) => own))
    for (const { candidate, own, leftOut } of group) {
      const packed = own.map(({ path, id, kind }) => ({
        path: candidate.path === '' ? path : path.slice(candidate.path.length + 1),
        bytes: blobs.get(id) ?? new Uint8Array(),
        executable: kind === 'executable',
      }))
      packages.push(packageOf(candidate, packed, leftOut))
    }
  }
  return packages
}

const GROUP_BYTES = 16 * 1024 * 1024

/** Skills in their order, as many in a group as have these bytes together; a larger one is alone. */
function groupsOf<Skill extends { readonly own: readonly TreeFile[] }>(
  repository: Repository,
  skills: readonly Skill[],
) {
  const groups: Skill[][] = []
  let room = 0
  for (const skill of skills) {
    const bytes = skill.own.reduce((sum, { id }) => sum + repository.sizeOf(id), 0)
    const last = groups.at(-1)
    if (last && bytes <= room) last.push(skill)
    else groups.push([skill])
    room = (last && bytes <= room ? room : GROUP_BYTES) - bytes
  }
  return groups
}

function filesOf(files: readonly TreeFile[], path: string): { own: readonly TreeFile[]; leftOut: readonly string[] } {
  const prefix = path === '' ? '' : `${path}/`
  const inside = files.filter((file) => file.path.startsWith(prefix))
  const isFile = ({ kind }: TreeFile) => kind === 'file' || kind === 'executable'
  return {
    own: inside.filter(isFile),
    leftOut: inside.filter((file) => !isFile(file)).map((file) => file.path.slice(prefix.length)),
  }
}
