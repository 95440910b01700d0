/** git-scratch: the references, HEAD and index that a command left, in a repository of ours for git of the host to read: without its settings, with the host's objects. */
import { chownSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { below, isAbsence, Tree } from '../files/index.ts'
import { listGitSettings } from '../host/index.ts'
import type { Change } from './gate.ts'
import { gitRole, restIn } from './git-paths.ts'
import { git, GitRefused, type Repository } from './git-run.ts'
import { makeParents } from './sides.ts'

/** Larger references are none. */
const MAX_BYTES = 4_096
const MAX_LARGE_BYTES = 256 * 1024 * 1024
/** They say how references and objects are written. */
const FORMAT = /^(?:core\.repositoryformatversion|extensions\.(?:objectformat|refstorage))$/

/** A directory of ours that the owner of the repository may use. */
export interface Scratch {
  readonly path: string
  readonly tree: Tree
}

/** Makes one for some work, and removes it. */
export async function withScratch<T>({ as }: Repository, work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(tmpdir(), 'nexus-git-'))
  if (as) chownSync(path, as.uid, as.gid)
  const tree = new Tree(path)
  try {
    return await work({ path, tree })
  } finally {
    tree.close()
    const above = new Tree(tmpdir())
    await above.removeAll(posix.basename(path))
    above.close()
  }
}

/** The changes of a command in one git directory. */
export interface GitChanges {
  /** Relative to both trees. */
  readonly directory: string
  readonly host: Tree
  readonly source: Tree
  readonly changes: readonly Change[]
}

/** Brings there what the command left; the index only when it changed that. */
export async function fillScratch(
  { path: at, tree }: Scratch,
  { directory: host, as }: Repository,
  left: GitChanges,
): Promise<Repository> {
  const { directory, source, changes } = left
  for (const path of await hostFiles(left)) await copyTo(tree, { from: left.host, path, directory })
  const ofGit = changes.filter(({ path }) => gitRole(restIn(directory, path)) === 'by-git')
  for (const change of ofGit) await makeRoomFor(change, tree, directory)
  for (const { path, type, kind } of ofGit)
    if (type !== 'removed' && kind === 'file') await copyTo(tree, { from: source, path, directory })
  if (!tree.entry('HEAD')) throw new GitRefused('it has no HEAD after the command')
  for (const name of ['refs', 'objects']) if (!tree.entry(name)) tree.makeDirectory(name, { mode: 0o755 })
  const settings = (await listGitSettings(join(host, 'config'), '/nonexistent')) ?? []
  const lines = settings
    .filter(([key]) => FORMAT.test(key))
    .map(([key, value]) => `[${key.replace('.', ']\n')}=${value}\n`)
  await tree.write('config', { bytes: Buffer.from(lines.join('')) })
  return { directory: at, objects: join(host, 'objects'), as }
}

/** Removes what the command removed, and a reference where it left a directory: `git branch -m own own/more`. */
async function makeRoomFor({ path, type, kind }: Change, tree: Tree, directory: string): Promise<void> {
  const name = restIn(directory, path)
  const isInTheWay = kind === 'directory' && tree.entry(name)?.kind === 'file'
  if (type === 'removed' || isInTheWay) await tree.removeAll(name)
}

async function hostFiles({ directory, host }: GitChanges): Promise<string[]> {
  const paths = ['HEAD', 'packed-refs'].map((name) => below(directory, name))
  for (const name of ['refs', 'reftable']) paths.push(...(await filesBelow(host, below(directory, name))))
  return paths.filter((path) => host.entry(path)?.kind === 'file')
}

async function copyTo(
  tree: Tree,
  { from, path, directory }: { readonly from: Tree; readonly path: string; readonly directory: string },
): Promise<void> {
  const to = restIn(directory, path)
  const size = from.entry(path)?.size ?? 0
  const isReference = to.startsWith('refs/')
  if (size > MAX_LARGE_BYTES && !isReference) throw new GitRefused(`${to} is larger than 256 MiB`)
  makeParents(tree, posix.dirname(to))
  // Git skips an empty one.
  if (size > MAX_BYTES && isReference) await tree.write(to, { bytes: new Uint8Array() })
  else await tree.copyFrom(from, path, { mode: 0o644, to })
}

async function filesBelow(tree: Tree, directory: string): Promise<string[]> {
  const { entries } = await tree.list(directory).catch((error: unknown) => {
    if (isAbsence(error)) return { entries: [] }
    throw error
  })
  const paths: string[] = []
  for (const { name, kind } of entries) {
    const path = `${directory}/${name}`
    if (kind === 'directory') paths.push(...(await filesBelow(tree, path)))
    else if (kind === 'file') paths.push(path)
  }
  return paths
}

/** Settings of a branch that only say where it comes from. */
const OF_BRANCH = /^branch\.(.+)\.(remote|merge|rebase)$/

/**
 * The settings of the host with those of branches that the command changed and that only lead to what is there, written by git of the host.
 * `isAll`: the command changed nothing else in them. Undefined when there is nothing of that.
 */
export async function settingsWith(
  { path: at, tree }: Scratch,
  scratch: Repository,
  { directory, host, source }: GitChanges,
): Promise<{ readonly bytes: Uint8Array; readonly isAll: boolean } | undefined> {
  const path = below(directory, 'config')
  if ([host, source].some((each) => each.entry(path)?.kind !== 'file')) return undefined
  await tree.copyFrom(host, path, { mode: 0o644, to: 'made' })
  await tree.copyFrom(source, path, { mode: 0o644, to: 'left' })
  const read = async (name: string): Promise<readonly (readonly [string, string])[] | undefined> =>
    listGitSettings(join(at, name), '/nonexistent')
  const [before, after] = [await read('made'), await read('left')]
  if (before === undefined || after === undefined) return undefined
  const [old, now] = [new Map(before), new Map(after)]
  const remotes = new Set(before.map(([key]) => /^remote\.(.+)\.[^.]+$/.exec(key)?.[1]))
  const isPlain = (key: string, value: string): boolean => {
    const name = OF_BRANCH.exec(key)?.[2]
    if (name === 'remote') return value === '.' || remotes.has(value)
    return name === 'merge'
      ? /^refs\/heads\/[^\s]+$/.test(value)
      : name === 'rebase' && /^(?:true|false|merges)$/.test(value)
  }
  const set = [...now].filter(([key, value]) => old.get(key) !== value && isPlain(key, value))
  const gone = [...old.keys()].filter((key) => key.startsWith('branch.') && !now.has(key))
  if (set.length + gone.length === 0) return undefined
  const change = (...args: readonly string[]): Promise<Buffer> =>
    git(scratch, ['config', '--file', join(at, 'made'), ...args])
  for (const key of gone) await change('--unset-all', key)
  for (const [key, value] of set) await change('--replace-all', key, value)
  const text = (rows: readonly (readonly [string, string])[] = []): string =>
    rows
      .map((row) => row.join('\n'))
      .sort()
      .join('\0')
  const isAll = text(await read('made')) === text(after)
  return { bytes: (await tree.read('made', { maxBytes: MAX_LARGE_BYTES })).bytes, isAll }
}
