/** git-rules: which paths of commits and of an index would be held as files, and what files of state refer to. */
import { posix } from 'node:path'
import { below, type Tree } from '../files/index.ts'
import { type Change, directoriesAbove, type Judgement } from './gate.ts'
import { type Brought, LINK, linkTexts, pathsOf, SUBMODULE } from './git-checks.ts'
import { isPlainTodo, restIn } from './git-paths.ts'
import { GitRefused, type Repository } from './git-run.ts'
import { staysInside } from './sides.ts'

/** The judge of what comes into one worktree. */
export interface BroughtRules {
  readonly repository: Repository
  readonly directory: string
  /** Judges a path as a file of the worktree, besides which others come too. */
  readonly judgeWith: (others: ReadonlySet<string>) => (change: Change) => Judgement
  /** Those that git of the host has as they are. */
  readonly known: (brought: readonly Brought[]) => Promise<ReadonlySet<Brought>>
  /** Commits that somebody may check out. */
  readonly tips: readonly string[]
}

/** Parts of a path that are in every repository. */
const OF_REPOSITORY = /(?:^|\/)(?:HEAD|commondir|objects|refs)(?:\/|$)/

/** Those that the gate would hold, and that git of the host does not know there. */
export async function heldOf(rules: BroughtRules, brought: readonly Brought[]): Promise<ReadonlySet<Brought>> {
  const { repository, directory, judgeWith, known, tips } = rules
  if (brought.length === 0) return new Set()
  const top = /(?:^|\/)\.git$/.test(directory) ? posix.dirname(directory) : '.'
  const others = new Set<string>()
  const add = (path: string): void =>
    void [path, ...directoriesAbove(path)].forEach((each) => others.add(posix.join(top, each)))
  for (const { path, id } of brought) if (id !== undefined) add(path)
  // An earlier commit may have brought the other half of a repository.
  if (brought.some(({ path }) => OF_REPOSITORY.test(path)))
    for (const path of await pathsOf(repository, tips)) if (OF_REPOSITORY.test(path)) add(path)
  const judge = judgeWith(others)
  const links = await linkTexts(repository, brought)
  const candidates = brought.filter(({ path, id, mode }) => {
    const at = posix.join(top, path)
    const leavesWorkspace = mode === LINK && !staysInside(at, links.get(id ?? '') ?? '')
    return (
      judge({ path: at, type: id === undefined ? 'removed' : 'added', kind: KINDS[mode] ?? 'file', leavesWorkspace })
        .verdict !== 'applied'
    )
  })
  const isKnown = await known(candidates)
  return new Set(candidates.filter((each) => !isKnown.has(each)))
}

const KINDS: Readonly<Record<string, Change['kind']>> = { [LINK]: 'link', [SUBMODULE]: 'directory' }

const MAX_STATE_BYTES = 16 * 1024 * 1024
const TODO = /^(?:rebase-merge\/git-rebase-todo|sequencer\/todo)$/
const OF_TODO = /^(rebase-merge|sequencer)(?:\/|$)/
const ID = /\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g

/** Files of state in a git directory. */
interface StateFiles {
  readonly plain: readonly Change[]
  /** Those of an operation that runs a program, with the directory that holds it. */
  readonly withPrograms: readonly { readonly change: Change; readonly unit: string }[]
  /** All that may be the id of a commit, in whole or shortened. */
  readonly ids: readonly string[]
}

/** Throws GitRefused for one that is too large. */
export async function readStateFiles(
  { source, directory }: { readonly source: Tree; readonly directory: string },
  changes: readonly Change[],
): Promise<StateFiles> {
  const ids = new Set<string>()
  let runs = false
  for (const { path, kind, type } of changes) {
    if (kind !== 'file' || type === 'removed') continue
    const rest = restIn(directory, path)
    if ((source.entry(path)?.size ?? 0) > MAX_STATE_BYTES) throw new GitRefused(`${rest} is larger than 16 MiB`)
    const text = Buffer.from((await source.read(path, { maxBytes: MAX_STATE_BYTES })).bytes).toString('latin1')
    const steps = TODO.test(rest) ? text : ''
    for (const id of [...(text.match(ID) ?? []), ...shortIds(steps)]) ids.add(id)
    runs ||= !isPlainTodo(steps)
  }
  const isOfTodo = ({ path }: Change): boolean => runs && OF_TODO.test(restIn(directory, path))
  const unitOf = (path: string): string => below(directory, OF_TODO.exec(restIn(directory, path))?.[1] ?? '')
  return {
    plain: changes.filter((change) => !isOfTodo(change)),
    withPrograms: changes.filter(isOfTodo).map((change) => ({ change, unit: unitOf(change.path) })),
    ids: [...ids],
  }
}

/** Short ids that steps may refer to. */
function shortIds(steps: string): string[] {
  return steps.split('\n').flatMap((line) => {
    const [, first = '', ...more] = line.trim().split(/\s+/, 4)
    return (first.startsWith('-') ? more.join(' ') : first).match(/[0-9a-f]{4,64}/g) ?? []
  })
}
