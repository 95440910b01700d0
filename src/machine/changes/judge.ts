/** judge: the verdict on each change of a command, with what git of the host knows. */
import { below, bytesOf, forEachPaced, type Pace, type Tree } from '../files/index.ts'
import { type Change, createGate, type Judgement, type Surroundings } from './gate.ts'
import type { Brought } from './git-checks.ts'
import { isRepository } from './git-paths.ts'
import { GitRefused, repositoryAt } from './git-run.ts'
import { type GitTaken, type Judged, knownToGit, takeGit } from './git-take.ts'

/** The changes in one git directory. */
export interface JudgedGit {
  readonly directory: string
  readonly changes: readonly Change[]
  readonly taken: GitTaken
}

/** Both, a directory before what is in it. */
export interface AllJudged {
  readonly files: readonly Judged[]
  readonly git: readonly JudgedGit[]
}

/** The changes of a command, and where they are. */
export interface Judging {
  /** The workspace. */
  readonly host: Tree
  /** Where the command worked. */
  readonly source: Tree
  readonly changes: readonly Change[]
  readonly around: Surroundings
  /** Whether somebody else changed a path of the workspace since the command began. */
  readonly isStale: (path: string) => boolean
  /** Real path of the workspace. */
  readonly workspace: string
  readonly pace: Pace
}

export async function judgeAll(judging: Judging): Promise<AllJudged> {
  const { changes, around, pace } = judging
  const judge = createGate(around)
  const first: { readonly change: Change; readonly judgement: Judgement }[] = []
  await forEachPaced(changes, pace, (change) => void first.push({ change, judgement: judge(change) }))
  const units = new Map<string, Change[]>()
  for (const { change, judgement } of first) {
    if (judgement.verdict !== 'git') continue
    const unit = units.get(judgement.unit)
    if (unit) unit.push(change)
    else units.set(judgement.unit, [change])
  }
  const judgeWith = (others: ReadonlySet<string>): ((change: Change) => Judgement) =>
    createGate({ ...around, after: (path) => others.has(path) || around.after(path) })
  const git: JudgedGit[] = []
  for (const [directory, ofUnit] of units)
    git.push({
      directory,
      changes: ofUnit,
      taken: await takeGit({ ...judging, directory, changes: ofUnit, judgeWith }),
    })
  const rest = first.filter(({ judgement: { verdict } }) => verdict !== 'git' && verdict !== 'dropped')
  const known = await knownOf(judging, rest, git)
  const files = rest.map(({ change, judgement }): Judged => {
    return { change, judgement: known.has(change) ? { verdict: 'applied', unit: change.path } : judgement }
  })
  const inOrder = [...files, ...git.flatMap(({ taken }) => taken.files)].toSorted((a, b) =>
    a.change.path < b.change.path ? -1 : 1,
  )
  return { files: inOrder, git: git.filter(({ taken }) => taken.moves.length + taken.made.length > 0) }
}

/** Held files whose bytes git of the host has at their path: a person let them in before. */
async function knownOf(
  { host, source, workspace }: Judging,
  judged: readonly Judged[],
  git: readonly JudgedGit[],
): Promise<ReadonlySet<Change>> {
  const held = judged.flatMap(({ change, judgement: { verdict } }) => (verdict === 'held' ? [change] : []))
  const groups = await byWorktree(host, source, held)
  const known = new Set<Change>()
  for (const [top, group] of groups) {
    const directory = below(top, '.git')
    const taken = git.find((unit) => unit.directory === directory)?.taken
    const ask = taken?.known ?? ((brought) => knownToGit(repositoryAt(host, workspace, directory), brought))
    for (const each of await nothingIfRefused(ask([...group.keys()]))) known.add(group.get(each) as Change)
  }
  // A directory goes with what is in it.
  const isAbove = ({ path, kind }: Change): boolean =>
    kind === 'directory' && [...known].some((each) => each.path.startsWith(`${path}/`))
  return new Set([...known, ...held.filter(isAbove)])
}

/** Files by the top of their worktree, as git would name them. */
async function byWorktree(
  host: Tree,
  source: Tree,
  changes: readonly Change[],
): Promise<Map<string, Map<Brought, Change>>> {
  const groups = new Map<string, Map<Brought, Change>>()
  for (const change of changes) {
    const top = change.kind === 'directory' ? undefined : topOf(host, change.path)
    if (top === undefined) continue
    const path = change.path.slice(top === '' ? 0 : top.length + 1)
    const id = change.type === 'removed' ? undefined : await blobId(source, change)
    const group = groups.get(top) ?? new Map<Brought, Change>()
    groups.set(top, group.set({ path, mode: '', id }, change))
  }
  return groups
}

function nothingIfRefused(found: Promise<ReadonlySet<Brought>>): Promise<ReadonlySet<Brought>> {
  return found.catch((error: unknown) => {
    if (error instanceof GitRefused) return new Set()
    throw error
  })
}

/** The top of the worktree that a path is in, where its repository is in the workspace too. */
function topOf(host: Tree, path: string): string | undefined {
  for (let at = path; at !== '';) {
    at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
    const directory = below(at, '.git')
    if (path.startsWith(`${directory}/`)) return undefined
    if (isRepository(directory, (each) => host.entry(each) !== undefined)) return at
  }
  return undefined
}

async function blobId(source: Tree, { path, kind }: Change): Promise<string> {
  const { createHash } = await import('node:crypto')
  const { size = 0, target = '' } = source.entry(path) ?? {}
  const text = Buffer.from(bytesOf(target))
  const hash = createHash('sha1').update(`blob ${kind === 'link' ? text.length : size}\0`)
  if (kind === 'link') hash.update(text)
  else await source.readParts(path, (part) => void hash.update(part))
  return hash.digest('hex')
}
