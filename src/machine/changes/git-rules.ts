/** git-rules: which paths of commits and of an index would be held as files, and what files of state refer to. */
import { posix } from 'node:path'
import { below, forEachPaced, type Pace, type Tree } from '../files/index.ts'
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
  readonly pace: Pace
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
  const candidates: Brought[] = []
  await forEachPaced(brought, rules.pace, (each) => {
    const { path, id, mode } = each
    const at = posix.join(top, path)
    const leavesWorkspace = mode === LINK && !staysInside(at, links.get(id ?? '') ?? '')
    const type = id === undefined ? 'removed' : 'added'
    const { verdict } = judge({ path: at, type, kind: KINDS[mode] ?? 'file', leavesWorkspace })
    if (verdict !== 'applied') candidates.push(each)
  })
  const isKnown = await known(candidates)
  return new Set(candidates.filter((each) => !isKnown.has(each)))
}

const KINDS: Readonly<Record<string, Change['kind']>> = { [LINK]: 'link', [SUBMODULE]: 'directory' }

const MAX_STATE_BYTES = 16 * 1024 * 1024
const TODO = /^(?:rebase-merge\/git-rebase-todo|sequencer\/todo)$/
const OF_TODO = /^(rebase-merge|sequencer)(?:\/|$)/
/** Git takes capitals too. */
const ID = /\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/gi
const ONLY_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i
/** Files whose lines begin with an id. Git would take another name of a commit there too, which we could not check. */
const OF_IDS =
  /^(?:(?:MERGE|CHERRY_PICK|REVERT|REBASE|ORIG|FETCH)_HEAD|sequencer\/(?:head|abort-safety)|rebase-merge\/(?:onto|orig-head))$/
/** The end of a rebase writes these references. */
const OF_REFERENCES = /^rebase-merge\/(?:git-rebase-todo|head-name|update-refs)$/
const OTHER_REFERENCE = /^(?:\s*(?:u|update-ref)\s+)?refs\/(?!(?:heads|tags|remotes|notes|rewritten)\/)/m

/** Files of state in a git directory. */
interface StateFiles {
  readonly plain: readonly Change[]
  /** Those of an operation that runs a program, with the directory that holds it. */
  readonly withPrograms: readonly { readonly change: Change; readonly unit: string }[]
  /** All that may be the id of a commit, in whole or shortened. */
  readonly ids: readonly string[]
  /** Those that git would look for as soon as they are there. */
  readonly needed: readonly string[]
}

/** Throws GitRefused for one that is too large, or that leads where nothing can be checked. */
export async function readStateFiles(
  left: { readonly host: Tree; readonly source: Tree; readonly directory: string },
  changes: readonly Change[],
): Promise<StateFiles> {
  const [ids, needed] = [new Set<string>(), new Set<string>()]
  const { directory } = left
  let runs = false
  for (const { path, kind, type } of changes) {
    if (kind !== 'file' || type === 'removed') continue
    const rest = restIn(directory, path)
    const text = await textIn(left.source, path)
    const steps = TODO.test(rest) ? text : ''
    for (const id of [...(text.match(ID) ?? []), ...shortIds(steps)]) ids.add(id.toLowerCase())
    const old = await oldIds(left, path)
    for (const id of neededIn(rest, text)) if (!old.has(id)) needed.add(id.toLowerCase())
    runs ||= !isPlainTodo(steps)
  }
  const isOfTodo = ({ path }: Change): boolean => runs && OF_TODO.test(restIn(directory, path))
  const unitOf = (path: string): string => below(directory, OF_TODO.exec(restIn(directory, path))?.[1] ?? '')
  return {
    plain: changes.filter((change) => !isOfTodo(change)),
    withPrograms: changes.filter(isOfTodo).map((change) => ({ change, unit: unitOf(change.path) })),
    ids: [...ids],
    needed: [...needed],
  }
}

/** Git may have removed commits of which an old reflog speaks. */
async function oldIds(
  { host, directory }: { readonly host: Tree; readonly directory: string },
  path: string,
): Promise<ReadonlySet<string>> {
  const rest = restIn(directory, path)
  if (!rest.startsWith('logs/') || host.entry(path)?.kind !== 'file') return new Set()
  return new Set(neededIn(rest, await textIn(host, path)))
}

async function textIn(tree: Tree, path: string): Promise<string> {
  if ((tree.entry(path)?.size ?? 0) > MAX_STATE_BYTES) throw new GitRefused(`${path} is larger than 16 MiB`)
  return Buffer.from((await tree.read(path, { maxBytes: MAX_STATE_BYTES })).bytes).toString('latin1')
}

/** Ids that name a commit by their place in a file of state. */
function neededIn(rest: string, text: string): string[] {
  if (OF_REFERENCES.test(rest) && OTHER_REFERENCE.test(text))
    throw new GitRefused(`${rest} leads to references that git acts upon`)
  const lines = text.split('\n').filter((line) => line !== '')
  if (rest.startsWith('logs/')) return lines.flatMap((line) => line.split('\t')[0]?.match(ID) ?? [])
  if (TODO.test(rest)) return lines.flatMap(namesOf).filter((name) => LIKE_ID.test(name)).flatMap((name) => name.match(SHORT) ?? []) // oxfmt-ignore
  if (!OF_IDS.test(rest)) return rest === 'rebase-merge/update-refs' ? (text.match(ID) ?? []) : []
  return lines.map((line) => {
    const [first = ''] = line.split(/\s/)
    if (!ONLY_ID.test(first)) throw new GitRefused(`${rest} does not name its commits in full`)
    return first
  })
}

const SHORT = /[0-9a-f]{4,64}/gi
/** An id, also as git describes one, or with steps from it. A label may have one in it. */
const LIKE_ID = /^(?:.*-g)?[0-9a-f]{4,64}(?:[~^:@].*)?$/i

/** Words of a step that may name a commit. */
function namesOf(line: string): string[] {
  const [step = '', ...words] = line.trim().split(/\s+/)
  if (/^(?:#.*|l|label|u|update-ref|noop|b|break)$/.test(step)) return []
  const end = words.indexOf('#')
  if (step === 'm' || step === 'merge') return words.slice(0, end < 0 ? words.length : end)
  return words.slice(0, words.findIndex((word) => !word.startsWith('-')) + 1)
}

/** Short ids that steps may refer to. */
function shortIds(steps: string): string[] {
  return steps.split('\n').flatMap(namesOf).flatMap((name) => name.match(SHORT) ?? []) // oxfmt-ignore
}
