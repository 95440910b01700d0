import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { sha256, SKILL_FILE } from '../../kernel/index.ts'
import type { Tree } from '../../machine/files/index.ts'
import { filesAt } from './copies.ts'
import type { PackedFile } from './found.ts'
import { type Lock, nameOfPlace } from './lock-file.ts'
import { checkPath, hostOfLocator, type Locator, type LocatorRules, readLocator } from './locator.ts'
import { openSource, type SourceAccess } from './open-source.ts'
import type { Wanted } from './plan.ts'
import { type Scope, textOf } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** The lock of the npm program `skills`, version 1, in a project. Ours is the truth; this one is read where ours is missing, and kept beside it. */
export const NPM_LOCK_FILE = 'skills-lock.json'

const ENTRY = v.looseObject({
  source: v.string(),
  sourceUrl: v.optional(v.string()),
  ref: v.optional(v.string()),
  sourceType: v.string(),
  skillPath: v.optional(v.string()),
  computedHash: v.optional(v.string()),
})
const DOCUMENT = v.looseObject({ version: v.literal(1), skills: v.record(v.string(), ENTRY) })
type Entry = v.InferOutput<typeof ENTRY>

/** The entries by name; undefined where there is no such file. Throws CONFIG_INVALID. */
export function readNpmLock({ root }: Pick<Scope, 'root'>): Readonly<Record<string, Entry>> | undefined {
  const path = join(root, NPM_LOCK_FILE)
  const text = textOf(path)
  if (text === undefined) return undefined
  return document(text, path).skills
}

function document(text: string, path: string): v.InferOutput<typeof DOCUMENT> {
  try {
    return v.parse(DOCUMENT, JSON.parse(text))
  } catch (cause) {
    throw installError('CONFIG_INVALID', MESSAGES.lockSyntax(path, 'it is no lock of version 1'), cause)
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
      const hash = entry?.computedHash
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
  return readLocator(`${typed}${at}`, { cwd: root, ...(access.httpHosts && { httpHosts: access.httpHosts }) })
}

/** Writes our git skills into their lock, where the project has one; entries that are not ours stay. */
export async function writeNpmLock(scope: Scope, tree: Tree, { lock, gone }: { lock: Lock; gone: readonly string[] }) {
  const path = join(scope.root, NPM_LOCK_FILE)
  const text = scope.kind === 'workspace' ? textOf(path) : undefined
  if (text === undefined) return
  const old = document(text, path)
  const skills = { ...old.skills }
  for (const name of gone) delete skills[name]
  for (const { place, source } of lock.values()) {
    const name = nameOfPlace(place)
    if (source.type !== 'git') continue
    const skillPath = source.path === '' ? SKILL_FILE : `${source.path}/${SKILL_FILE}`
    const before = skills[name]
    if (before?.ref === source.commit && before.skillPath === skillPath) continue
    const computedHash = npmHash(await filesAt(scope, tree, place))
    skills[name] = { ...npmSource(source.url), ref: source.commit, skillPath, computedHash }
  }
  // In the order of their program, so that the next change by it is a small one.
  const sorted = Object.fromEntries(
    Object.keys(skills)
      .sort()
      .map((key) => [key, skills[key]]),
  ) // oxlint-disable-line no-array-sort
  const next = `${JSON.stringify({ ...old, skills: sorted }, null, 2)}\n`
  if (next !== text) await tree.write(NPM_LOCK_FILE, { bytes: Buffer.from(next) })
}

function npmSource(url: string): Pick<Entry, 'source' | 'sourceUrl' | 'sourceType'> {
  const onGitHub = /^https:\/\/github\.com\/([^/]+\/[^/]+?)(?:\.git)?$/.exec(url)?.[1]
  return onGitHub === undefined
    ? { source: url, sourceUrl: url, sourceType: 'git' }
    : { source: onGitHub, sourceType: 'github' }
}
