/** git-checks: what commits and an index would bring into a worktree, and which of it git of the host has at that place already. */
import { bytesOf } from '../files/index.ts'
import { git, GitRefused, partsOf, type Repository } from './git-run.ts'

/** A path of a commit or an index, relative to its worktree, with its id; without one it was removed. */
export interface Brought {
  readonly path: string
  readonly mode: string
  readonly id?: string | undefined
}

/** More questions than this are not asked, and nothing is known. */
const MAX_QUESTIONS = 500_000
const MAX_LINKS = 200

/** The object that each expression names; undefined where there is none. Throws GitRefused where one is ambiguous. */
export async function resolve(repository: Repository, names: readonly string[]): Promise<(string | undefined)[]> {
  if (names.length === 0) return []
  const input = Buffer.concat(names.map((name) => Buffer.from(bytesOf(`${name}\n`) as string)))
  const lines = partsOf(await git(repository, ['cat-file', '--batch-check=%(objectname)'], { input }), 10)
  if (lines.length !== names.length || lines.some((line) => line.endsWith(' ambiguous')))
    throw new GitRefused('git cannot tell which commit it names')
  return lines.map((line) => (/^[0-9a-f]+$/.test(line) ? line : undefined))
}

/** Every path that a new commit has otherwise than each of its parents. */
export async function broughtBy(repository: Repository, commits: readonly string[]): Promise<Brought[]> {
  if (commits.length === 0) return []
  const wanted = ['rev-list', '--stdin', '--not', '--all', '--reflog']
  const input = await git(repository, wanted, { input: `${commits.join('\n')}\n` })
  if (input.length === 0) return []
  const shown = [
    'diff-tree',
    '--stdin',
    '--no-commit-id',
    '-r',
    '-c',
    '--root',
    '--raw',
    '-z',
    '--no-abbrev',
    '--no-renames',
  ]
  const parts = partsOf(await git(repository, shown, { input }))
  const brought: Brought[] = []
  for (let at = 0; at + 1 < parts.length; at += 2) {
    // Modes of all parents and its own, then the ids in the same order, then letters.
    const words = (parts[at] ?? '').replace(/^:+/, '').split(' ')
    const half = (words.length - 1) / 2
    const [mode = '', id = ''] = [words[half - 1], words[2 * half - 1]]
    brought.push({ path: parts[at + 1] ?? '', mode, id: /^0+$/.test(id) ? undefined : id })
  }
  return brought
}

/** Throws GitRefused unless git has all that the commits refer to. */
export async function checkWhole(repository: Repository, commits: readonly string[]): Promise<void> {
  if (commits.length === 0) return
  const args = ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--all']
  await git(repository, args, { input: `${commits.join('\n')}\n` })
}

/** The texts of the links among them, by their ids. */
export async function linkTexts(
  repository: Repository,
  brought: readonly Brought[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(brought.flatMap(({ mode, id }) => (mode === LINK ? (id ?? []) : [])))
  if (ids.size > MAX_LINKS) throw new GitRefused(`it has more than ${MAX_LINKS} new links`)
  const texts = new Map<string, string>()
  for (const id of ids) texts.set(id, (await git(repository, ['cat-file', 'blob', id])).toString())
  return texts
}

/** Modes of a link, and of a repository in another. */
export const LINK = '120000'
export const SUBMODULE = '160000'

/** Every path in some commits. */
export async function pathsOf(repository: Repository, commits: readonly string[]): Promise<string[]> {
  const paths: string[] = []
  for (const commit of commits)
    paths.push(...partsOf(await git(repository, ['ls-tree', '-r', '-t', '-z', '--name-only', commit])))
  return paths
}

/** Those of them that one of the commits has, or lacks where they were removed. */
export async function knownIn(
  repository: Repository,
  commits: readonly string[],
  brought: readonly Brought[],
): Promise<ReadonlySet<Brought>> {
  // A question is a line.
  const asked = brought.filter(({ path }) => !path.includes('\n'))
  if (asked.length * commits.length > MAX_QUESTIONS) return new Set()
  const names = commits.flatMap((commit) => asked.map(({ path }) => `${commit}:${path}`))
  const ids = await resolve(repository, names)
  return new Set(asked.filter(({ id }, index) => commits.some((_, at) => ids[at * asked.length + index] === id)))
}

/** Those of them whose path a commit has. */
export async function trackedIn(
  repository: Repository,
  commit: string | undefined,
  brought: readonly Brought[],
): Promise<Brought[]> {
  // A question is a line.
  const asked = brought.filter(({ path }) => !path.includes('\n'))
  if (commit === undefined || asked.length > MAX_QUESTIONS) return []
  const ids = await resolve(repository, asked.map(({ path }) => `${commit}:${path}`)) // oxfmt-ignore
  return asked.filter((_, index) => ids[index] !== undefined)
}
