import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, isNexusError, sha256 } from '../../kernel/index.ts'
import { openCommit, type Resolved, resolveRef } from './git-source.ts'
import { fetchLocked, findToRestore, restore } from './follow.ts'
import { applyPlan, type ApplyOptions, removeSkills } from './installer.ts'
import { nameOfPlace } from './lock-file.ts'
import { checkGitUrl, checkPath, checkRef, type Locator, type LocatorRules } from './locator.ts'
import { gitAccess, type SourceAccess } from './open-source.ts'
import { installError, MESSAGES } from './messages.ts'
import { type Asks, asksAnything, planOf, type PlannedSkill, type Wanted } from './plan.ts'
import { judge } from './policy.ts'
import { Repository } from './repository.ts'
import {
  lockOf,
  privateDirectory,
  type Scope,
  scopeOf,
  type ScopeOptions,
  statePath,
  textOf,
  writeState,
} from './scope.ts'

/** A git source of nexus.yaml. Its copies are a scope of their own in the cache, with a lock, and are searched as a folder is. */
export interface KeptSource {
  readonly url: string
  readonly branch?: string
  readonly tag?: string
  readonly commit?: string
  readonly path?: string
  /** How old the copies may become. */
  readonly refreshMs: number
  /** Take every new revision, also one that asks for more. */
  readonly follow: boolean
}

/** A revision that asks for more than the one that is served, or would get settings that this has not. */
export interface Waiting {
  readonly name: string
  readonly commit: string
  readonly widens: Asks
  /** Keys of settings that it would get. */
  readonly keys: readonly string[]
}

/** This machine's knowledge of a source. */
export interface SourceStatus {
  /** When the server last answered, as an ISO time: the copies are of then. */
  readonly seenAt?: string
  /** When it was last asked, with or without an answer. */
  readonly triedAt?: string
  readonly commit?: string
  readonly waiting: readonly Waiting[]
  readonly problem?: string
}

/** The scope of a source, the same for the same address, ref and path. Makes nothing. */
export function keptScope(
  { url, branch, tag, commit, path }: KeptSource,
  { nexusHome, stateDirectory }: Pick<ScopeOptions, 'nexusHome' | 'stateDirectory'>,
): Scope {
  const key = sha256(JSON.stringify([url, branch, tag, commit, path])).slice(0, 32)
  const directory = join(nexusHome, 'cache/git-sources', key)
  return scopeOf({ kind: 'source', directory, nexusHome, stateDirectory })
}

/** Never throws: a status that cannot be read is none, and without copies there is nothing of which it could speak. */
export function readStatus(scope: Scope): SourceStatus {
  try {
    const read: unknown = JSON.parse(textOf(statePath(scope, 'source')) ?? '{}')
    if (!isJsonObject(read) || !Array.isArray(read['waiting'])) return { waiting: [] }
    const status = read as unknown as SourceStatus
    const { triedAt, problem } = status
    return existsSync(scope.lockPath) ? status : { waiting: [], triedAt, problem }
  } catch {
    return { waiting: [] }
  }
}

async function writeStatus(scope: Scope, status: SourceStatus): Promise<SourceStatus> {
  await writeState(scope, 'source', `${JSON.stringify(status)}\n`)
  return status
}

/** Whether the copies are older than the source may become. After a failure a tenth of that time passes first. */
export function isDue(source: KeptSource, { seenAt, triedAt, problem, commit }: SourceStatus, now: Date): boolean {
  if (source.commit !== undefined && commit !== undefined) return false
  const since = (time: string | undefined): number => now.getTime() - (time === undefined ? 0 : Date.parse(time))
  if (problem !== undefined && since(triedAt) < source.refreshMs / 10) return false
  return since(seenAt) >= source.refreshMs
}

export interface RefreshAccess extends SourceAccess, Pick<LocatorRules, 'httpHosts'> {
  /** Whether settings of this key reach skills. */
  readonly hasSettings: (key: string) => boolean
  /** The program of `skills.install.policy`, and the workspace, where it must not be. */
  readonly policy?: string | undefined
  readonly workspace: string
}

/** The newest revision of a source beside what is served. */
interface Fetched {
  readonly commit: string
  readonly planned: readonly PlannedSkill[]
  /** Names of copies that the source has no longer. */
  readonly gone: readonly string[]
}

/** Fetches what is new; undefined when the server has nothing that this machine has not seen. Throws as `openSource`. */
export async function fetchKept(
  scope: Scope,
  source: KeptSource,
  { access, known }: { readonly access: RefreshAccess; readonly known?: string | undefined },
): Promise<Fetched | undefined> {
  privateDirectory(scope.nexusHome, 'git-sources')
  const url = checkGitUrl(source.url, access)
  const repository = await Repository.open(url, gitAccess(access))
  const at = await resolve(source, repository)
  if (at.commit === known) return undefined
  await using opened = await openCommit(repository, at, { likely: 'all' })
  if (opened.candidates.length === 0) throw installError('FILE_NOT_FOUND', MESSAGES.noSkills(url))
  const byPlace = Map.groupBy(opened.candidates, ({ directory }) => directory)
  const chosen = [...byPlace.values()].flatMap(([first]) => first ?? [])
  const packages = await opened.read(chosen)
  const wanted = packages.map((each) => ({ package: each, source: opened.lockedAs(each) }))
  const lock = lockOf(scope)
  const gone = [...lock.keys()].map(nameOfPlace).filter((name) => !byPlace.has(name))
  return { commit: at.commit, planned: await planOf(scope, wanted, lock), gone }
}

async function resolve({ url, branch, tag, commit, path }: KeptSource, repository: Repository): Promise<Resolved> {
  const below = path === undefined ? {} : { path: checkPath(path) }
  const ref = commit ?? tag ?? branch
  if (commit !== undefined && /^[0-9a-f]{40}$/.test(commit)) return { commit, follows: 'commit', ...below }
  const locator: Omit<Extract<Locator, { type: 'git' }>, 'type'> = { url, ...below }
  return resolveRef(ref === undefined ? locator : { ...locator, ref: checkRef(ref) }, await repository.refs())
}

/** Takes each new revision that asks for nothing more, and notes those that wait. The status says what failed: the copies go on serving. */
export async function refreshKept(
  scope: Scope,
  source: KeptSource,
  { access, ...options }: ApplyOptions & { readonly access: RefreshAccess },
): Promise<SourceStatus> {
  const before = readStatus(scope)
  const triedAt = options.now.toISOString()
  try {
    const { commit: known } = before
    const isWhole = await mend(scope, access, options)
    const fetched = await fetchKept(scope, source, { access, known: isWhole ? known : undefined })
    if (!fetched) {
      // Read again: a person may have taken meanwhile what waited.
      const { problem: _, ...status } = readStatus(scope)
      return await writeStatus(scope, { ...status, seenAt: triedAt, triedAt })
    }
    const { commit, planned, gone } = fetched
    const isFirst = known === undefined && lockOf(scope).size === 0
    const waiting = source.follow ? [] : planned.flatMap((plan) => waitingOf(plan, { commit, isFirst, access }))
    const news = planned.filter(({ action }) => action !== 'same')
    const denied = await deniedBy(access, scope, { wanted: news, kind: 'update' })
    for (const { name, widens } of news)
      if (denied.has(name) && !waiting.some((each) => each.name === name))
        waiting.push({ name, commit, widens, keys: [] })
    const held = new Set(waiting.map(({ name }) => name))
    await takeKept(scope, { planned: planned.filter(({ name }) => !held.has(name)), gone }, options)
    return await writeStatus(scope, { seenAt: triedAt, triedAt, commit, waiting })
  } catch (error) {
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    return writeStatus(scope, { ...before, triedAt, problem: error.message })
  }
}

/** Names of skills that the install policy of the user does not allow; a warning has nobody here to accept it. */
async function deniedBy(
  { policy: program, workspace, signal }: RefreshAccess,
  scope: Scope,
  { wanted, kind }: { readonly wanted: readonly Wanted[]; readonly kind: 'update' | 'restore' },
): Promise<ReadonlySet<string>> {
  const judged = await judge(scope, wanted, { program, workspace, signal, kind })
  return new Set(judged.filter(({ decision }) => decision !== 'allow').map(({ name }) => name))
}

/** Copies that somebody changed or removed come back as they were accepted. False when one does not: the server may have another. */
async function mend(
  scope: Scope,
  access: RefreshAccess,
  options: Pick<ApplyOptions, 'alone' | 'now'>,
): Promise<boolean> {
  try {
    const all = await findToRestore(scope, lockOf(scope))
    if (all.length === 0) return true
    const wanted = await fetchLocked(scope, all, access)
    const denied = await deniedBy(access, scope, { wanted, kind: 'restore' })
    const due = all.filter(({ name }) => !denied.has(name))
    await restore(scope, { due, wanted }, { ...options, overwrite: new Set(due.map(({ name }) => name)) })
    return denied.size === 0
  } catch (error) {
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    return false
  }
}

/** Copies of the cache are nobody's to edit: edited ones are replaced, with a copy of the edits kept. */
async function takeKept(
  scope: Scope,
  { planned, gone }: Pick<Fetched, 'planned' | 'gone'>,
  options: ApplyOptions,
): Promise<void> {
  const overwrite = new Set([...planned.map(({ name }) => name), ...gone])
  await applyPlan(scope, planned, { ...options, overwrite })
  if (gone.length > 0) await removeSkills(scope, gone, { ...options, overwrite })
}

/** The first revision is what the person asked for, but its settings are not. */
function waitingOf(
  { name, action, before, package: packed, widens, keys, keysBefore }: PlannedSkill,
  { commit, isFirst, access }: { readonly commit: string; readonly isFirst: boolean; readonly access: RefreshAccess },
): Waiting[] {
  if (action === 'same' || before?.digest === packed.digest) return []
  const more = keys.filter((key) => access.hasSettings(key) && !keysBefore.includes(key))
  return (!isFirst && asksAnything(widens)) || more.length > 0 ? [{ name, commit, widens, keys: more }] : []
}

/** After a person took them, these wait no more. */
export async function endWaiting(scope: Scope, names: readonly string[]): Promise<void> {
  const status = readStatus(scope)
  await writeStatus(scope, { ...status, waiting: status.waiting.filter(({ name }) => !names.includes(name)) })
}
