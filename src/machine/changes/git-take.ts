/** git-take: what a command left in one git directory, taken over by git of the host: as one unit, or held as one. */
import { below, forEachPaced, type Pace } from '../files/index.ts'
import type { Change, Judgement } from './gate.ts'
import { type Brought, broughtBy, checkWhole, knownIn, resolve, SUBMODULE, trackedIn } from './git-checks.ts'
import { takeObject } from './git-objects.ts'
import { type GitRole, gitRole, PLAIN_REFERENCE, restIn } from './git-paths.ts'
import { git, GitRefused, type Repository, repositoryAt } from './git-run.ts'
import { fillScratch, type GitChanges, type Scratch, settingsWith, withScratch } from './git-scratch.ts'
import { type GitState, INDEX, isId, isOfIndex, type Move, movesBetween, readState } from './git-state.ts'
import { type BroughtRules, heldOf, readStateFiles } from './git-rules.ts'
import type { SetEntry } from './records.ts'

/** One git directory, and the rest of its workspace. */
export interface GitTaking extends GitChanges {
  /** Real path. */
  readonly workspace: string
  /** Judges paths that a commit or an index would bring, besides which others come too. */
  readonly judgeWith: (others: ReadonlySet<string>) => (change: Change) => Judgement
  readonly isStale: (path: string) => boolean
  readonly pace: Pace
}

/** A change of one file. */
export interface Judged {
  readonly change: Change
  readonly judgement: Pick<SetEntry, 'verdict' | 'unit' | 'reason'>
  readonly git?: 'state'
}

/** A file of a set whose bytes are not those of the command. */
export interface MadeFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Default: it comes back. */
  readonly held?: { readonly unit: string; readonly reason: string }
}

/** The end of the changes in one git directory. */
export interface GitTaken {
  readonly repository: Repository
  /** Values that git of the host moves. */
  readonly moves: readonly Move[]
  /** Why they are held, with all files of state; undefined for moves that are made. */
  readonly fault?: { readonly verdict: 'held' | 'conflict'; readonly reason: string } | undefined
  /** Files as the command left them. */
  readonly files: readonly Judged[]
  readonly made: readonly MadeFile[]
  /** Which paths of its worktree, relative to that, git has as they are. */
  readonly known: (brought: readonly Brought[]) => Promise<ReadonlySet<Brought>>
}

/** Brings new objects, and finds out about the rest; nothing else of the workspace is changed. */
export async function takeGit(taking: GitTaking): Promise<GitTaken> {
  const { directory, host, workspace, changes } = taking
  const repository = repositoryAt(host, workspace, directory)
  try {
    return await withScratch(repository, (scratch) => new Unit(taking, repository, scratch).take())
  } catch (error) {
    if (!(error instanceof GitRefused)) throw error
    const judgement: Judgement = { verdict: 'held', unit: directory, reason: error.message }
    const files = changes.map((change) => ({ change, judgement }))
    return { repository, moves: [], files, made: [], known: () => Promise.resolve(new Set()) }
  }
}

/** Those that git of the host has in a worktree, of a repository in which a command changed nothing. */
export async function knownToGit(repository: Repository, brought: readonly Brought[]): Promise<ReadonlySet<Brought>> {
  const there = brought.filter(({ id }) => id !== undefined)
  return knownBy(repository, await readState(repository, true), there)
}

async function knownBy(repository: Repository, state: GitState, brought: readonly Brought[]): Promise<Set<Brought>> {
  const tips = [
    ...new Set([...state].filter(([key, value]) => !key.startsWith(INDEX) && isId(value)).map(([, id]) => id)),
  ]
  const staged = brought.filter(
    ({ path, id }) => id !== undefined && state.get(INDEX + path)?.includes(` ${id} `) === true,
  )
  return new Set([...staged, ...(await knownIn(repository, tips, brought))])
}

class Unit {
  readonly #taking: GitTaking
  readonly #repository: Repository
  readonly #scratch: Scratch
  readonly #files: Judged[] = []
  readonly #made: MadeFile[] = []

  constructor(taking: GitTaking, repository: Repository, scratch: Scratch) {
    this.#taking = taking
    this.#repository = repository
    this.#scratch = scratch
  }

  async take(): Promise<GitTaken> {
    await forEachPaced(this.#of('objects'), this.#taking.pace, (change) => this.#takeObject(change))
    const left = await fillScratch(this.#scratch, this.#repository, this.#taking)
    for (const change of this.#of('config')) await this.#takeSettings(change, left)
    const [before, after] = await this.#states(left)
    const state = await readStateFiles(this.#taking, this.#of('state'))
    for (const { change, unit } of state.withPrograms) this.#hold(change, 'a step of the rebase runs a program', unit)
    // A name of another reference moves with that; the default branch of a remote is one.
    const all = movesBetween(before, after).filter(
      ({ key, from, to }) => !DEFAULT_OF_REMOTE.test(key) || isId(to ?? from),
    )
    this.#holdForeign(all)
    const references = all.filter(({ key }) => key === 'HEAD' || PLAIN_REFERENCE.test(key))
    const known = (brought: readonly Brought[]): Promise<Set<Brought>> => knownBy(this.#repository, before, brought)
    const refused =
      (await this.#lossOf(left, references, [before, after])) ??
      (await this.#missingOf(state.needed)) ??
      (await this.#faultOf(references, { ids: state.ids, known }))
    const ofIndex = all.filter(isOfIndex)
    const index: IndexMoves =
      refused === undefined ? await this.#indexMoves(ofIndex, { known, head: headOf(after) }) : { moves: ofIndex }
    const moves = [...references, ...index.moves]
    const fault = this.#unitFault(moves, refused ?? index.reason)
    const judgement = { verdict: 'applied', unit: this.#taking.directory || '.', ...fault } as const
    for (const change of state.plain) this.#files.push({ change, judgement, git: 'state' })
    const [old, now] = [headOf(before), headOf(after)]
    const removedIn = fault === undefined && old !== now ? now : undefined
    return {
      repository: this.#repository,
      moves,
      fault,
      files: this.#files,
      // Settings of branches go with the branches.
      made: this.#made.map((file) =>
        fault && !file.held ? { ...file, held: { unit: judgement.unit, reason: fault.reason } } : file,
      ),
      known: async (brought) => {
        const there = await known(brought.filter(({ id }) => id !== undefined))
        const removed = brought.filter(({ id }) => id === undefined)
        // A commit removes only files that the commit before had.
        const tracked = await trackedIn(this.#repository, removedIn && old, removed)
        return new Set([...there, ...(await this.#removedBy(removedIn, tracked))])
      },
    }
  }

  #of(role: GitRole): Change[] {
    const { directory, changes } = this.#taking
    return changes.filter(({ path }) => gitRole(restIn(directory, path)) === role)
  }

  #unitFault(moves: readonly Move[], reason: string | undefined): GitTaken['fault'] {
    const isStale = ({ path, kind }: Change): boolean => kind === 'file' && this.#taking.isStale(path)
    if (moves.length > 0 && this.#of('by-git').some(isStale)) return { verdict: 'conflict', reason: STALE }
    return reason === undefined ? undefined : { verdict: 'held', reason }
  }

  async #takeObject(change: Change): Promise<void> {
    if (change.kind !== 'file') return
    const { source, host } = this.#taking
    const object = { source, host, path: change.path, repository: this.#repository, scratch: this.#scratch }
    const reason = await takeObject(object)
    if (reason !== undefined) this.#hold(change, reason)
  }

  #hold(change: Change, reason: string, unit = change.path): void {
    this.#files.push({ change, judgement: { verdict: 'held', unit, reason } })
  }

  async #takeSettings(change: Change, left: Repository): Promise<void> {
    const made = await settingsWith(this.#scratch, left, this.#taking)
    if (made) this.#made.push({ path: change.path, bytes: made.bytes })
    if (made?.isAll !== true) this.#hold(change, 'it is not data of git')
  }

  /** The index only where the command changed it. */
  async #states(left: Repository): Promise<[GitState, GitState]> {
    const hasIndex = this.#scratch.tree.entry('index') !== undefined
    const after = await readState({ ...left, index: `${left.directory}/index` }, hasIndex)
    return [await readState(this.#repository, hasIndex), after]
  }

  /** References that git acts upon by itself wait, as files of their own. */
  #holdForeign(moves: readonly Move[]): void {
    const { directory } = this.#taking
    for (const { key, to } of moves)
      if (key.startsWith('refs/') && !PLAIN_REFERENCE.test(key) && to !== undefined) {
        const held = { unit: below(directory, key.split('/', 2).join('/')), reason: 'git acts upon it by itself' }
        this.#made.push({ path: below(directory, key), bytes: Buffer.from(`${to}\n`), held })
      }
  }

  /** Why references cannot move: what they name is no commit, is not whole, or brings what would be held. */
  async #faultOf(
    moves: readonly Move[],
    { ids, known }: { readonly ids: readonly string[]; readonly known: GitTaken['known'] },
  ): Promise<string | undefined> {
    const wrong = moves.find(({ key, to = '' }) => key === 'HEAD' && !isId(to) && !/^ref: refs\/heads\/./.test(to))
    if (wrong) return 'HEAD names no branch'
    const named = moves.filter(({ to }) => isId(to))
    const values = named.map(({ to = '' }) => to)
    const commitsOf = (names: readonly string[]): Promise<(string | undefined)[]> =>
      resolve(this.#repository, names.map((name) => `${name}^{commit}`)) // oxfmt-ignore
    try {
      const commits = await commitsOf(values)
      const other = named[commits.indexOf(undefined)]
      if (other) return `${other.key} names no commit`
      await checkWhole(this.#repository, values)
      const all = new Set([...commits, ...(await commitsOf(ids))].flatMap((id) => id ?? []))
      const brought = await broughtBy(this.#repository, [...all])
      return reasonOf(await heldOf(this.#rules(known, [...all]), brought))
    } catch (error) {
      if (error instanceof GitRefused) return error.message
      throw error
    }
  }

  /** Why references of the host would be lost: one that leads to another, one that git skips, or a repository made anew. */
  async #lossOf(
    left: Repository,
    moves: readonly Move[],
    [before, after]: readonly GitState[],
  ): Promise<string | undefined> {
    const { tree } = this.#scratch
    const isSymbolic = async (key: string): Promise<boolean> =>
      tree.entry('reftable') !== undefined &&
      (await git(left, ['symbolic-ref', '-q', key], { codes: [0, 1, 128] })).length > 0
    for (const { key, from, to } of moves.filter((move) => move.key !== 'HEAD')) {
      if ([from, to].some((value) => value !== undefined && !isId(value))) return `${key} leads to another reference`
      if (to !== undefined) continue
      if (before?.get('HEAD') === `ref: ${key}` && after && headOf(after) === undefined)
        return `it removes ${key} and leaves HEAD without a commit`
      if (tree.entry(key)?.kind === 'file' || (await isSymbolic(key))) return `git cannot read ${key}`
    }
    return undefined
  }

  /** Ids that name nothing yet would lead, unchecked, to what a later command brings. */
  async #missingOf(ids: readonly string[]): Promise<string | undefined> {
    const named = ids.filter((id) => !/^0+$/.test(id))
    const found = await resolve(this.#repository, named.map((id) => `${id}^{commit}`)) // oxfmt-ignore
    const first = named[found.indexOf(undefined)]
    return first === undefined ? undefined : `its files of state name ${first}, which is not there`
  }

  #rules(known: GitTaken['known'], tips: readonly string[]): BroughtRules {
    const { directory, judgeWith, pace } = this.#taking
    return { repository: this.#repository, directory, judgeWith, pace, known, tips }
  }

  /** Entries of the index that come: those of held paths stay as the host has them. */
  async #indexMoves(
    moves: readonly Move[],
    { known, head }: { readonly known: GitTaken['known']; readonly head: string | undefined },
  ): Promise<IndexMoves> {
    const entries = moves.flatMap((move) => {
      const path = move.key.slice(INDEX.length)
      const stages = move.to?.split(',').map((stage) => stage.split(' ')) ?? [[]]
      return stages.map(([mode = '', id]): [Move, Brought] => [move, { path, mode, id }])
    })
    const brought = entries.map(([, each]) => each)
    const ids = brought.flatMap(({ id, mode }) => (id === undefined || mode === SUBMODULE ? [] : [id]))
    if ((await resolve(this.#repository, ids)).includes(undefined))
      return { moves, reason: 'its index names objects that are not there' }
    const held = await heldOf(this.#rules(known, []), brought)
    const removed = await this.#removedBy(head, [...held])
    const stays = new Set(entries.filter(([, each]) => held.has(each) && !removed.has(each)).map(([move]) => move))
    return { moves: moves.filter((move) => !stays.has(move)) }
  }

  /** Removals that follow from a move to a commit without these paths. */
  async #removedBy(commit: string | undefined, brought: readonly Brought[]): Promise<ReadonlySet<Brought>> {
    const removed = brought.filter(({ id }) => id === undefined)
    return commit === undefined ? new Set() : knownIn(this.#repository, [commit], removed)
  }
}

interface IndexMoves {
  readonly moves: readonly Move[]
  /** Why all of them are held. */
  readonly reason?: string
}

const STALE = 'another program changed it meanwhile'

const DEFAULT_OF_REMOTE = /^refs\/remotes\/[^/]+\/HEAD$/

function headOf(state: GitState): string | undefined {
  const head = state.get('HEAD')
  return head?.startsWith('ref: ') === true ? state.get(head.slice('ref: '.length)) : head
}

function reasonOf(held: ReadonlySet<Brought>): string | undefined {
  const [first] = held
  if (first === undefined) return undefined
  const more = held.size > 1 ? ` and ${held.size - 1} more` : ''
  return `a commit ${first.id === undefined ? 'removes' : 'brings'} ${first.path}${more}`
}
