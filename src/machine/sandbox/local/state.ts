/** state: the directories of the sandbox on the host, whom they belong to, and the uid of each project. */
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isOwnerGone, ownerToken, readSmall } from '../../files/index.ts'
import { errorCode, makeDirectory, randomHex, sha256 } from '../../../kernel/index.ts'
import type { CacheLevel } from '../sandbox.ts'
import type { LocalSettings } from './options.ts'
import { sandboxError, UNAVAILABLE } from '../messages.ts'
import { cannotDrop } from './unavailable.ts'

/** Projects that one machine can hold; also keeps the uids inside a known range. */
const MAX_PROJECTS = 10_000

/** Where package managers look for their caches in a home. */
export const CACHE_NAMES = ['.cache', '.npm'] as const

/** Uid and gid of commands; our own unless we are root. */
export interface Identity {
  readonly uid: number
  readonly gid: number
}

/** Where one project's things lie. */
export interface ProjectState {
  readonly identity: Identity
  /** Staged node, runner and library; shared by all projects. */
  readonly stages: string
  /** Placed skills; written by us, read by commands. */
  readonly revisions: string
  /** Directories of running sandboxes; belongs to the identity. */
  readonly live: string
  /** Working directory of runners: empty and not writable for them. */
  readonly empty: string
  /** An empty directory over which root mounts the places of programs. */
  readonly mounts: string
  /** Caches of package managers, by trust; they belong to the identity. */
  readonly caches: Readonly<Record<CacheLevel, string>>
  /** Scripts that start the programs of the person, and copies of these; written by us, read by commands. */
  readonly programs: string
}

/** Where placed skills are; nothing is made. */
export function revisionsOf(settings: LocalSettings): string {
  return join(projectDirectoryOf(settings), 'revisions')
}

/** All of a project; nothing is made. */
export function projectDirectoryOf({ stateDir, projectId }: Pick<LocalSettings, 'stateDir' | 'projectId'>): string {
  return join(stateDir, 'projects', projectDirectory(projectId))
}

/** Makes what is missing and checks that no other user could have put it there. Throws SANDBOX_UNAVAILABLE. */
export function openState(settings: LocalSettings): ProjectState {
  const { stateDir, isRoot } = settings
  return explained(settings, () => {
    ownDirectory(stateDir, 0o755)
    if (isRoot) checkEntry(stateDir, settings.uidBase)
    const projects = ownDirectory(join(stateDir, 'projects'), 0o755)
    const project = ownDirectory(join(projects, projectDirectory(settings.projectId)), 0o755)
    const identity = identityOf(settings, project)
    if (isRoot) {
      give(project, { uid: 0, gid: identity.gid })
      chmodSync(project, 0o750)
    }
    return {
      identity,
      stages: ownDirectory(join(stateDir, 'stages'), 0o755),
      revisions: ownDirectory(revisionsOf(settings), 0o755),
      live: identityDirectory(join(project, 'live'), identity),
      empty: ownDirectory(join(stateDir, 'empty'), 0o555),
      mounts: ownDirectory(join(stateDir, 'mounts'), 0o755),
      programs: ownDirectory(join(project, 'programs'), 0o755),
      caches: cachesOf(ownDirectory(join(project, 'caches'), 0o755), identity),
    }
  })
}

function cachesOf(directory: string, identity: Identity): ProjectState['caches'] {
  const of = (level: CacheLevel): string => {
    const cache = identityDirectory(join(directory, level), identity)
    // Each is mounted in the home of commands.
    for (const name of CACHE_NAMES) identityDirectory(join(cache, name), identity)
    return cache
  }
  return { setup: of('setup'), trusted: of('trusted'), untrusted: of('untrusted') }
}

/** Throws SANDBOX_UNAVAILABLE for what the system refuses. */
function explained<T>({ stateDir, isRoot }: LocalSettings, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = errorCode(error) ?? ''
    if (!/^E[A-Z]+$/.test(code)) throw error
    const { path = stateDir } = error as NodeJS.ErrnoException
    throw sandboxError(UNAVAILABLE.state({ code, path, stateDir }, isRoot), error)
  }
}

/** A workspace by what it is: another one may get its path, or its device and inode. `name` is that of its directories of ours. */
export function workspaceIdentity(workspace: string): { readonly name: string; readonly identity: string } {
  const { dev, ino, birthtimeNs } = statSync(workspace, { bigint: true })
  return { name: `${dev}-${ino}`, identity: `${dev}:${ino}:${birthtimeNs}:${workspace}` }
}

/** The file whose lock belongs to whoever changes a directory now. It stays, as removing it would give two owners a lock each. */
export function lockFile(settings: LocalSettings, directory: string): string {
  const { name } = workspaceIdentity(directory)
  return explained(settings, () => {
    ownDirectory(settings.stateDir, 0o755)
    return join(ownDirectory(join(settings.stateDir, 'locks'), 0o700), name)
  })
}

/** A directory of ours: made when absent, refused when another user owns it or may write to it. */
export function ownDirectory(path: string, mode: number): string {
  if (makeDirectory(path, { mkdirSync, statSync, mode: 0o755 }) !== undefined) chmodSync(path, mode)
  const found = lstatSync(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw sandboxError(UNAVAILABLE.foreignState({ path, uid: String(process.getuid?.()) }))
  }
  return path
}

/** A directory that only the dropped uid may enter. */
export function identityDirectory(path: string, identity: Identity): string {
  makeDirectory(path, { mkdirSync, statSync, mode: 0o700 })
  if (!lstatSync(path).isDirectory()) throw sandboxError(UNAVAILABLE.notADirectory({ path }))
  if (process.getuid?.() === 0) give(path, identity)
  return path
}

/** Makes the dropped uid the owner; for root only. Throws SANDBOX_UNAVAILABLE. */
export function give(path: string, { uid, gid }: Identity): void {
  try {
    chownSync(path, uid, gid)
  } catch (cause) {
    throw cannotDrop(`chown of ${path} to ${uid}:${gid}`, cause)
  }
}

/** Every directory above the state must let the dropped uid through. */
function checkEntry(stateDir: string, uid: number): void {
  for (let path = dirname(stateDir); ; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) {
      throw sandboxError(UNAVAILABLE.closedAbove({ uid: String(uid), path, stateDir }))
    }
    if (path === '/') return
  }
}

function projectDirectory(projectId: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(projectId)) return projectId
  return `_${sha256(projectId).slice(0, 32)}`
}

function identityOf(settings: LocalSettings, project: string): Identity {
  if (!settings.isRoot) return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
  const file = join(project, 'uid-index')
  const index = readIndex(file) ?? takeIndex(settings, file)
  return { uid: settings.uidBase + index, gid: settings.uidBase + index }
}

/** Takes the first free index. Both steps are link(2), which exactly one of several processes wins. */
function takeIndex({ stateDir, projectId }: LocalSettings, file: string): number {
  const taken = ownDirectory(join(stateDir, 'uids'), 0o755)
  for (let index = 0; index < MAX_PROJECTS; index++) {
    const claim = join(taken, String(index))
    if (!createWhole(claim, projectId)) continue
    if (createWhole(file, String(index))) return index
    rmSync(claim)
    return readIndex(file) ?? index
  }
  throw sandboxError(UNAVAILABLE.noUidLeft({ path: taken }, MAX_PROJECTS))
}

function createWhole(path: string, text: string): boolean {
  const part = `${path}.${randomHex(8)}`
  writeFileSync(part, text, { flag: 'wx', mode: 0o644 })
  try {
    linkSync(part, path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(part)
  }
}

function readIndex(file: string): number | undefined {
  try {
    const index = Number(new TextDecoder().decode(readSmall(file, { maxBytes: 64 }).bytes))
    if (Number.isSafeInteger(index) && index >= 0 && index < MAX_PROJECTS) return index
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  throw sandboxError(UNAVAILABLE.notANumber({ path: file }))
}

/** A new directory for one sandbox, named so that a later process can check whether its owner still runs. */
export function createLive(state: ProjectState): string {
  const name = `${ownerToken()}-${randomHex(4)}`
  return identityDirectory(join(state.live, name), state.identity)
}

/** Directories of sandboxes whose owner is gone. Makes nothing and reads no further; empty where there is no state yet. */
export function listDead({ stateDir, projectId }: Pick<LocalSettings, 'stateDir' | 'projectId'>): string[] {
  const live = join(projectDirectoryOf({ stateDir, projectId }), 'live')
  return namesIn(live)
    .filter(isOwnerGone)
    .map((name) => join(live, name))
}

/** Layers and mirrors whose workspace is gone, and what commands of dead owners left in the others. */
export function deadLayers({ stateDir, projectId }: Pick<LocalSettings, 'stateDir' | 'projectId'>): string[] {
  const mirrors = join(projectDirectoryOf({ stateDir, projectId }), 'mirrors')
  return [...deadIn(join(stateDir, 'layers')), ...deadIn(mirrors)]
}

function deadIn(layers: string): string[] {
  return namesIn(layers).flatMap((name) => {
    const owner = PART.exec(name)?.[1]
    if (owner !== undefined) return isOwnerGone(owner) ? [join(layers, name)] : []
    const layer = join(layers, name)
    const found = statSync(join(layer, 'workspace'), { bigint: true, throwIfNoEntry: false })
    if (found === undefined || `${found.dev}-${found.ino}` !== name) return [layer]
    return namesIn(layer)
      .filter((each) => {
        const owner = UPPER.exec(each)?.[1]
        return owner !== undefined && isOwnerGone(owner)
      })
      .map((each) => join(layer, each))
  })
}

/** A mirror that is being kept or taken. */
const PART = /^\.part-(\d+-\d+-\d+)-/
const UPPER = /^up-(\d+-\d+-\d+)-/

/** Empty where there is none. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Not there, or not ours to read: then there is nothing of ours in it.
    return []
  }
}
