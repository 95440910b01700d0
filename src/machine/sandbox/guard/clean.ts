/** clean: takes away what a command made under protected names. Runs in the runner, so that it happens even when Nexus was killed. */
import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync } from 'node:fs'
import { posix } from 'node:path'
import { isClosed, Tree } from '../../files/index.ts'
import { listProtected, MAX_PATH } from './find-protected.ts'
import { takeLock } from './lock.ts'
import { isGitMark, type ProtectedPlaces, Protection } from './protected.ts'

/** Entries that are looked at afterwards: more than a command can make in the time it has, and still an end. */
const MAX_LOOKED_AT = 2_000_000
/** Looks, when directories that were closed had to be opened; each level that was closed takes one. */
const MAX_ROUNDS = 64

/** The time for removing; the rest has lost its name, which is enough. */
const MAX_REMOVAL_MS = 60_000
const MAX_NAME_BYTES = 255
/** A file tool has the lock for milliseconds, and the runner must end soon. */
const WAIT = { maxWaitMs: 5_000 }

/** State of a workspace before the command, which is restored after it. */
export interface Guarded {
  /** Real path. */
  readonly workspace: string
  /** Permission bits of the workspace itself. */
  readonly mode: number
  /** Protected places that were there, and directories that could not be looked into. */
  readonly found: readonly string[]
  readonly closed: readonly string[]
  /** Directories that were repositories without being called `.git`. */
  readonly repositories: readonly string[]
  /** Protected links, with their texts. A mount cannot protect a link, so it is put back. */
  readonly links: readonly (readonly [path: string, text: string])[]
  readonly places: ProtectedPlaces
  /** The file whose lock whoever changes the workspace takes. */
  readonly lock?: string
}

/** How to clean. */
export interface CleanOptions {
  /** Rename instead of remove: for a look that comes so late that the places may be the user's own by now. */
  readonly keepsAside?: boolean
  readonly maxEntries?: number
}

/** Takes away every protected place that was not there before. Returns one note for each thing that was done or is left. */
export async function removeAppeared(before: Guarded, options: CleanOptions = {}): Promise<string[]> {
  // Without it the places are taken away all the same.
  const release = before.lock === undefined ? undefined : await takeLock(before.lock, WAIT).catch(() => undefined)
  try {
    return await removeNow(before, options)
  } finally {
    release?.()
  }
}

async function removeNow(before: Guarded, options: CleanOptions): Promise<string[]> {
  const notes: string[] = []
  openWorkspace(before, notes)
  const tree = new Tree(before.workspace)
  try {
    await removeAll(tree, before, { options, notes })
    for (const [path, text] of before.links) await putBack(tree, { path, text }, notes)
    return notes
  } finally {
    tree.close()
  }
}

interface How {
  readonly options: CleanOptions
  readonly notes: string[]
}

async function removeAll(tree: Tree, before: Guarded, { options, notes }: How): Promise<void> {
  const known = new Set(before.found)
  const opened = new Set(before.closed)
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const { closed, isComplete } = await listProtected(tree, {
      protection: new Protection(before.places),
      repositories: before.repositories,
      maxEntries: options.maxEntries ?? MAX_LOOKED_AT,
      onFound: async (path) => {
        // A file in a directory that was closed before may be the user's own.
        // A file that completes a repository may have been there under the same name.
        const mayBeOld = before.closed.some((directory) => path.startsWith(`${directory}/`)) || isGitMark(path)
        const old = mayBeOld ? PERHAPS_OLD : undefined
        const kept = options.keepsAside ? CUT_OFF : old
        if (!known.has(path)) notes.push(await takeAway(tree, path, kept))
        known.add(path)
      },
    })
    if (!isComplete) break
    // A command must not hide a protected place in a directory that it closes.
    const hidden = closed.filter((path) => !opened.has(path))
    if (hidden.length === 0) return
    for (const path of hidden) {
      opened.add(path)
      notes.push(openUp(tree, path))
    }
  }
  notes.push(INCOMPLETE)
}

/** Makes a protected link what it was, in its old place. What the command put there is kept beside it. */
async function putBack(tree: Tree, { path, text }: { path: string; text: string }, notes: string[]): Promise<void> {
  try {
    const now = tree.entry(path)
    if (now?.target === text) return
    if (now) notes.push(await takeAway(tree, path, PERHAPS_OLD))
    tree.makeLink(path, text)
    notes.push(`${path}: Nexus made this link again, because the command had removed it.`)
  } catch (error) {
    notes.push(notPutRight(path, error))
  }
}

const INCOMPLETE =
  'ATTENTION: Nexus did not inspect all that the command made: there is too much of it. It removed protected files at the top of the workspace. Below it there may be others (.git/hooks, .claude, .vscode …). Inspect the workspace before you use it.'

/** Why a place is kept under another name instead of removed. */
const CUT_OFF = ', and it appeared under a command that was cut off'
const PERHAPS_OLD = '. Nexus cannot know whether it was there before'

/** A command that closes the workspace itself must not keep us out. */
function openWorkspace({ workspace, mode }: Guarded, notes: string[]): void {
  const found = lstatSync(workspace)
  if ((found.mode & 0o700) === 0o700 || (found.mode & 0o777) === mode) return
  chmodSync(workspace, mode)
  notes.push(`.: Nexus set its mode to ${mode.toString(8)} again, because the command had closed it.`)
}

/** Renames it first, so that what cannot be removed is harmless under its new name. */
async function takeAway(tree: Tree, path: string, kept: string | undefined): Promise<string> {
  let aside: string
  const shown = path.length > MAX_PATH ? `${path.slice(0, 100)}…, a path longer than programs can open` : path
  try {
    aside = moveAside(tree, path)
  } catch (error) {
    return notPutRight(path, error)
  }
  if (kept !== undefined)
    return `${shown}: moved to ${aside}. Commands may not create it${kept}. If it is yours, type: mv ${aside} ${path}`
  const { isGone } = await tree.removeAll(aside, { maxMs: MAX_REMOVAL_MS })
  if (isGone) return `${shown}: removed. Commands may not create it. Create it outside the sandbox.`
  return `${shown}: moved to ${aside}, because removing it failed. Commands may not create it. Remove it outside the sandbox.`
}

function moveAside(tree: Tree, path: string): string {
  const end = `.nexus-removed-${randomBytes(4).toString('hex')}`
  // A command chose the name: with the end it may be longer than a name may be.
  const isLong = Buffer.byteLength(posix.basename(path)) + end.length > MAX_NAME_BYTES
  const aside = isLong ? posix.join(posix.dirname(path), end) : `${path}${end}`
  try {
    tree.rename(path, posix.basename(aside))
  } catch (error) {
    if (!isClosed(error)) throw error
    const directory = posix.dirname(path)
    if (directory === '.') throw error
    // The command took its own right to write to the directory.
    tree.openUp(directory)
    tree.rename(path, posix.basename(aside))
  }
  return aside
}

function openUp(tree: Tree, path: string): string {
  try {
    tree.openUp(path)
    return `${path}: Nexus set its mode to 700, because the command had closed it.`
  } catch (error) {
    return notPutRight(path, error)
  }
}

function notPutRight(path: string, error: unknown): string {
  return `${path}: the command changed it although it is protected, and undoing that failed (${(error as Error).message}). Inspect it before you use it.`
}
