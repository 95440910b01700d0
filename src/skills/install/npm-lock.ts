import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { compareUtf8, sha256, SKILL_FILE } from '../../kernel/index.ts'
import { Tree } from '../../machine/files/index.ts'
import { filesAt } from './copies.ts'
import type { PackedFile } from './found.ts'
import { type Lock, type LockedSource, nameOfPlace } from './lock-file.ts'
import { checkPath, hostOfLocator, type Locator, type LocatorRules, readLocator } from './locator.ts'
import { openSource, type SourceAccess } from './open-source.ts'
import type { Wanted } from './plan.ts'
import { type Scope, textOf } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** The locks of the npm program `skills`: of a project, and of a user. Ours is the truth; theirs is read where ours is missing, and kept beside it. */
function formOf({ kind, root, home, stateHome }: Pick<Scope, 'kind' | 'root' | 'home' | 'stateHome'>) {
  if (kind === 'workspace') return { directory: root, name: 'skills-lock.json', version: 1 } as const
  if (kind === 'source') return undefined
  const directory = stateHome === undefined ? join(home, '.agents') : join(stateHome, 'skills')
  return { directory, name: '.skill-lock.json', version: 3 } as const
}

const ENTRY = v.looseObject({
  source: v.string(),
  sourceUrl: v.optional(v.string()),
  ref: v.optional(v.string()),
  sourceType: v.string(),
  skillPath: v.optional(v.string()),
  computedHash: v.optional(v.string()),
  /** The same hash, the id of the directory in git, or empty. */
  skillFolderHash: v.optional(v.string()),
})
const DOCUMENT = v.looseObject({ version: v.number(), skills: v.record(v.string(), ENTRY) })
type Entry = v.InferOutput<typeof ENTRY>

/** The entries by name; undefined where there is no such file. Throws CONFIG_INVALID. */
export function readNpmLock(scope: Scope): Readonly<Record<string, Entry>> | undefined {
  return documentOf(scope)?.document.skills
}

function documentOf(scope: Scope) {
  const form = formOf(scope)
  const path = form && join(form.directory, form.name)
  const text = path === undefined ? undefined : textOf(path)
  if (!form || path === undefined || text === undefined) return undefined
  const read = document(text, path)
  if (read.version === form.version) return { form, text, document: read }
  // Theirs forgets one of another version, too.
  if (form.version === 3) return undefined
  throw installError('CONFIG_INVALID', MESSAGES.lockSyntax(path, 'it is not a lock of version 1'))
}

function document(text: string, path: string): v.InferOutput<typeof DOCUMENT> {
  try {
    return v.parse(DOCUMENT, JSON.parse(text))
  } catch (cause) {
    throw installError('CONFIG_INVALID', MESSAGES.lockSyntax(path, 'it is not a lock of the program skills'), cause)
  }
}

/** Their hash: names and bytes one after the other, in the order of a locale. It is ambiguous, so that ours decides wherever there is one. */
export function npmHash(files: readonly PackedFile[]): string {
  const counted = files.filter(({ path }) => !path.split('/').slice(0, -1).includes('node_modules'))
  const sorted = counted.toSorted((a, b) => a.path.localeCompare(b.path))
  return sha256(Buffer.concat(sorted.flatMap(({ path, bytes }) => [Buffer.from(path), bytes])))
}

/** Their program does not place this file, but hashes it at some times. */
const SOMETIMES = 'metadata.json'

function fits(files: readonly PackedFile[], hash: string): boolean {
  // An id of git; without one theirs never looks for news.
  if (hash === '' || /^[0-9a-f]{40}$/.test(hash)) return hash === '' || hash === gitTree(files)
  return [files, files.filter(({ path }) => path.split('/').at(-1) !== SOMETIMES)].some(
    (each) => npmHash(each) === hash,
  )
}

export interface NpmAccess extends SourceAccess, Pick<LocatorRules, 'httpHosts'> {}

/** The hosts that are asked for the skills of such a lock. Throws INVALID_ARGUMENT for a source that may not be. */
export function npmHosts(
  scope: Scope,
  entries: Readonly<Record<string, Entry>>,
  access: Pick<LocatorRules, 'httpHosts'>,
): readonly string[] {
  const locators = Object.entries(entries).map(([name, entry]) => locatorOf(scope, name, { entry, access }))
  return [...new Set(locators.flatMap((locator) => hostOfLocator(locator) ?? []))]
}

/** Fetches the skills of such a lock, each source once. Throws SKILL_INVALID where the content is not what its hash says. */
export async function fetchNpm(
  scope: Scope,
  entries: Readonly<Record<string, Entry>>,
  access: NpmAccess,
): Promise<readonly Wanted[]> {
  const located = Object.entries(entries).map(([name, entry]) => {
    const locator = locatorOf(scope, name, { entry, access })
    return { name, entry, locator, key: JSON.stringify(locator) }
  })
  const wanted: Wanted[] = []
  for (const group of Map.groupBy(located, ({ key }) => key).values()) {
    const [first] = group
    if (!first) continue
    await using opened = await openSource(first.locator, access)
    const chosen = group.map(({ name, entry }) => {
      const below = entry.skillPath === undefined ? undefined : directoryOf(entry.skillPath)
      const found = opened.candidates.find((each) => (below === undefined ? each.name === name : each.path === below))
      if (found) return found
      const names = opened.candidates.map((each) => each.name)
      throw installError('SKILL_NOT_FOUND', MESSAGES.skillNotThere(name, entry.source, names))
    })
    for (const [index, read] of (await opened.read(chosen)).entries()) {
      const { name = '', entry } = group[index] ?? {}
      const hash = entry?.computedHash ?? entry?.skillFolderHash
      if (hash !== undefined && !fits(read.files, hash))
        throw installError('SKILL_INVALID', MESSAGES.notTheSame(name, hash, npmHash(read.files)))
      wanted.push({ package: read, source: opened.lockedAs(read) })
    }
  }
  return wanted
}

function directoryOf(skillPath: string): string {
  const path = skillPath.replace(/(?:^|\/)SKILL\.md$/, '')
  return path === '' ? '' : checkPath(path)
}

function locatorOf(
  { root }: Pick<Scope, 'root'>,
  name: string,
  { entry, access }: { readonly entry: Entry; readonly access: Pick<LocatorRules, 'httpHosts'> },
): Locator {
  const { source, sourceUrl, sourceType, ref } = entry
  if (sourceType === 'local') {
    const path = resolve(root, source)
    if (path !== root && !path.startsWith(`${root}/`))
      throw installError('INVALID_ARGUMENT', MESSAGES.npmSource(name, 'a folder outside of the project'))
    return { type: 'directory', path }
  }
  if (!['github', 'gitlab', 'git', 'download'].includes(sourceType))
    throw installError('INVALID_ARGUMENT', MESSAGES.npmSource(name, sourceType))
  const at = ref === undefined ? '' : `#${ref}`
  // A path is no ref of ours, and `./x` in a lock of another type would be a folder of this machine.
  const typed = (sourceUrl ?? source).replace(/^(?=[./])/, '-')
  return readLocator(`${typed}${at}`, { cwd: root, httpHosts: access.httpHosts })
}

/** The id that git gives to a directory with these files. */
function gitTree(files: readonly PackedFile[]): string {
  const rows = [...Map.groupBy(files, ({ path }) => path.split('/')[0] ?? '')].map(([name, inside]) => {
    const [file] = inside
    if (file?.path === name)
      return { key: name, mode: file.executable ? '100755' : '100644', name, id: gitId('blob', file.bytes) }
    const below = inside.map((each) => ({ ...each, path: each.path.slice(name.length + 1) }))
    return { key: `${name}/`, mode: '40000', name, id: gitTree(below) }
  })
  const sorted = rows.sort((a, b) => compareUtf8(a.key, b.key))
  return gitId('tree', Buffer.concat(sorted.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]))) // oxfmt-ignore
}

function gitId(kind: string, bytes: Uint8Array): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha1')
  return hash.update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
}

/** Writes our git skills into their lock, where there is one; entries that are not ours stay. */
export async function writeNpmLock(scope: Scope, { lock, gone }: { lock: Lock; gone: readonly string[] }) {
  const found = documentOf(scope)
  if (!found) return
  const { form, text, document: old } = found
  const skills = { ...old.skills }
  for (const name of gone) delete skills[name]
  for (const { place, source } of lock.values()) {
    if (source.type !== 'git') continue
    const name = nameOfPlace(place)
    const entryOf = form.version === 1 ? entryOfProject : entryOfUser
    const entry = await entryOf(source, skills[name], () => filesAt(scope, place))
    if (entry) skills[name] = entry
  }
  // In the order of their program, so that the next change by it is a small one.
  const sorted = Object.fromEntries(
    Object.keys(skills)
      .sort()
      .map((key) => [key, skills[key]]),
  ) // oxlint-disable-line no-array-sort
  const next = `${JSON.stringify({ ...old, skills: sorted }, null, 2)}\n`
  if (next === text) return
  using directory = new Tree(form.directory)
  await directory.write(form.name, { bytes: Buffer.from(next) })
}

type GitSource = Extract<LockedSource, { type: 'git' }>
type Read = () => Promise<readonly PackedFile[]>

/** The entry of a copy; undefined where the one before is right. */
async function entryOfProject(source: GitSource, before: Entry | undefined, read: Read): Promise<Entry | undefined> {
  const { url, commit: ref } = source
  const skillPath = skillPathOf(source)
  if (before?.ref === ref && before.skillPath === skillPath) return undefined
  return { ...npmSource(url), ref, skillPath, computedHash: npmHash(await read()) }
}

async function entryOfUser(source: GitSource, before: Entry | undefined, read: Read): Promise<Entry | undefined> {
  const { url, commit, ref = commit } = source
  const skillFolderHash = npmHash(await read())
  if (before?.skillFolderHash === skillFolderHash) return undefined
  const now = new Date().toISOString()
  const times = { installedAt: before?.['installedAt'] ?? now, updatedAt: now }
  return { ...before, ...npmSource(url), ref, skillPath: skillPathOf(source), skillFolderHash, ...times }
}

function skillPathOf({ path }: GitSource): string {
  return path === '' ? SKILL_FILE : `${path}/${SKILL_FILE}`
}

function npmSource(url: string): Pick<Entry, 'source' | 'sourceUrl' | 'sourceType'> {
  const onGitHub = /^https:\/\/github\.com\/([^/]+\/[^/]+?)(?:\.git)?$/.exec(url)?.[1]
  return onGitHub === undefined
    ? { source: url, sourceUrl: url, sourceType: 'git' }
    : { source: onGitHub, sourceType: 'github' }
}
