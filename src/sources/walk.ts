import { type Dirent, realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Diagnostic, type RejectedSkill, shellWord, type Skill } from '../kernel/index.ts'
import { codeOf, finding, leadsTo, reasonOf, type SourceCode } from './codes.ts'
import { isSkill } from './found/last-look.ts'
import { exists, hiddenSkill, insteadOfLink, otherFileName, type Words } from './found/hints.ts'
import { inByteOrder, isLarge, list, listInBackground } from './listing.ts'
import type { Pace } from './pace.ts'
import { type CandidateContext, isInside, type Place, readCandidate, rejected } from './skill-file.ts'
import type { SourceLimits, SourceResult } from './source.ts'

/** Findings of one code that are listed one by one; the rest is counted. */
const LISTED = 20

/** Skills, some 30 µs each, between two questions to the pace. */
const STRETCH = 8

export interface WalkOptions {
  /** Go on below a directory that is a skill. */
  readonly nested: boolean
  readonly limits: SourceLimits
  readonly context: CandidateContext
  readonly pace: Pace
}

interface PlaceInTree extends Place {
  readonly depth: number
}

/** A visit that was quick, or took long enough to look at the clock, or ends the walk. */
type Visit = 'quick' | 'slow' | 'end'

/** What is below a directory and still to be looked at, in byte order. */
interface Level {
  /** The one to go on with after this one. */
  readonly above: Level | undefined
  /** The directory with a slash at its end. */
  readonly base: string
  readonly names: readonly string[]
  /** Nearly nowhere are there any. */
  readonly links: ReadonlySet<string> | undefined
  readonly depth: number
  next: number
}

interface Walk extends WalkOptions {
  readonly skills: Skill[]
  readonly rejected: RejectedSkill[]
  readonly diagnostics: Diagnostic[]
  readonly counts: Map<SourceCode, number>
  level: Level | undefined
  /** Every directory that was visited. Without links none comes twice, so they are only made a set when one is followed. */
  readonly paths: string[]
  visited: Set<string> | undefined
}

/** Searches everything below a root (a real path), in slices, without ever waiting for a file. Rejects only when the pace does: when cancelled. */
export async function walkFolder(root: string, options: WalkOptions): Promise<SourceResult> {
  const walk: Walk = {
    ...options,
    skills: [],
    rejected: [],
    diagnostics: [],
    counts: new Map(),
    level: undefined,
    paths: [],
    visited: undefined,
  }
  const pause = walk.pace()
  if (pause) await pause
  let last = await visit(walk, { path: root, name: basename(root), depth: 0 })
  while (last !== 'end') {
    const rest = walk.pace()
    if (rest) await rest
    const visits = visitSome(walk)
    last = typeof visits === 'string' ? visits : await visits
  }
  for (const [code, count] of walk.counts) {
    if (count > LISTED)
      walk.diagnostics.push(
        finding(code, root, { message: `${count - LISTED} more findings of this kind are not listed` }),
      )
  }
  const { skills, rejected: refused, diagnostics } = walk
  return { skills, rejected: refused, diagnostics }
}

/** Visits the next directories, until one took long or they are many. Apart from the loop that waits, which V8 is slow to compile. */
function visitSome(walk: Walk): Visit | Promise<Visit> {
  for (let count = 0; count < STRETCH; count++) {
    const place = nextPlace(walk)
    if (place === undefined) return 'end'
    if (place === 'nowhere') return 'slow'
    const visited = visit(walk, place)
    if (visited !== 'quick') return visited
  }
  return 'slow'
}

/** The next directory; a link becomes what it leads to. */
function nextPlace(walk: Walk): PlaceInTree | 'nowhere' | undefined {
  for (let { level } = walk; level; level = walk.level) {
    const { base, names, links, depth } = level
    const name = names[level.next++]
    if (name === undefined) {
      walk.level = level.above
      continue
    }
    const path = base + name
    if (!links?.has(name)) return { path, name, depth }
    const target = followed(walk, path)
    if (target === undefined) return 'nowhere'
    walk.visited ??= new Set(walk.paths)
    return { path: target, name: basename(target), depth }
  }
  return undefined
}

/** Reads one directory. Only a large one has to be waited for. */
function visit(walk: Walk, place: PlaceInTree): Visit | Promise<Visit> {
  if (walk.visited && isAgain(walk.visited, place)) return 'quick'
  walk.paths.push(place.path)
  if (limitReached(walk)) return 'end'
  const candidate = readCandidate(place, walk.context)
  const isLeaf = !walk.nested && place.depth > 0
  if (candidate === 'blocked') return noteUnreadable(walk, place, 'permission denied')
  if (candidate === 'absent') return goBelow(walk, place, false)
  if (isSkill(candidate)) walk.skills.push(candidate)
  else walk.rejected.push(candidate)
  return isLeaf ? 'quick' : goBelow(walk, place, true)
}

function isAgain(visited: Set<string>, { path }: Place): boolean {
  const { size } = visited
  return visited.add(path).size === size
}

function goBelow(walk: Walk, place: PlaceInTree, holdsSkill: boolean): Visit | Promise<Visit> {
  let entries: readonly Dirent[]
  try {
    if (!holdsSkill && isLarge(place.path)) return goThroughLarge(walk, place)
    entries = list(place.path)
  } catch (error) {
    return unlisted(walk, place, error)
  }
  return goThrough(walk, place, { isSkill: holdsSkill, entries })
}

async function goThroughLarge(walk: Walk, place: PlaceInTree): Promise<Visit> {
  let entries: readonly Dirent[]
  try {
    entries = await listInBackground(place.path)
  } catch (error) {
    return unlisted(walk, place, error)
  }
  const pause = walk.pace()
  if (pause) await pause
  return goThrough(walk, place, { isSkill: false, entries })
}

interface Listed {
  readonly isSkill: boolean
  readonly entries: readonly Dirent[]
}

function goThrough(walk: Walk, place: PlaceInTree, { isSkill: holdsSkill, entries }: Listed): 'slow' {
  if (!holdsSkill) rejectOtherName(walk, place.path, entries)
  const hidden = holdsSkill && !walk.nested ? hiddenSkill(place.path, entries) : undefined
  if (hidden) note(walk, 'root-is-skill', hidden)
  if (!holdsSkill || walk.nested) descend(walk, place, entries)
  return 'slow'
}

/** A file whose name is nearly the one that is read. */
function rejectOtherName({ rejected: refused, context }: Walk, path: string, entries: readonly Dirent[]): void {
  const diagnostic = otherFileName(path, entries)
  if (diagnostic) refused.push(rejected(path, diagnostic.path, { context, diagnostics: [diagnostic] }))
}

/** Ends the walk when the root is gone as well. */
function unlisted(walk: Walk, place: PlaceInTree, error: unknown): Visit {
  const vanished = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
  const message = 'the directory disappeared while it was searched'
  if (vanished) note(walk, 'directory-vanished', { path: place.path, message })
  else noteUnreadable(walk, place, reasonOf(error))
  return rootIsThere(walk) ? 'slow' : 'end'
}

function noteUnreadable(walk: Walk, { path, depth }: PlaceInTree, reason: string): 'slow' {
  note(walk, depth === 0 ? 'root-unreadable' : 'directory-unreadable', {
    path,
    message: `the directory cannot be read: ${reason}`,
    fix: `make it readable for the user that runs Nexus, for example: chmod a+rx ${shellWord(path)}`,
  })
  return 'slow'
}

function rootIsThere(walk: Walk): boolean {
  const { root } = walk.context
  if (exists(root)) return true
  note(walk, 'root-vanished', {
    path: root,
    message: 'the directory disappeared while it was searched',
    fix: 'list again when it is back',
  })
  return false
}

/** Goes below a place. Hidden directories and node_modules are no places for skills. */
function descend(walk: Walk, place: PlaceInTree, entries: readonly Dirent[]): void {
  const base = place.path === '/' ? '/' : `${place.path}/`
  const names: string[] = []
  let links: Set<string> | undefined
  for (const entry of entries) {
    const { name } = entry
    const isLink = !entry.isDirectory()
    if ((isLink && !entry.isSymbolicLink()) || name.startsWith('.') || name === 'node_modules') continue
    if (!isLink && name.includes('\ufffd')) {
      const message = 'the name of the directory is not UTF-8'
      note(walk, 'name-encoding', { path: base + name, message, fix: 'rename it' })
      continue
    }
    names.push(name)
    if (isLink) (links ??= new Set()).add(name)
  }
  const level: Level = { above: walk.level, base, names: inByteOrder(names), links, depth: place.depth + 1, next: 0 }
  if (place.depth < walk.limits.maxDepth) walk.level = level
  else noteDepth(walk, level)
}

/** Tells of directories that are too deep; links that lead to none are no directories. */
function noteDepth(walk: Walk, { base, names, links }: Level): void {
  const first = names.find((name) => !links?.has(name) || followed(walk, base + name) !== undefined)
  if (first === undefined) return
  note(walk, 'depth-limit', {
    path: base + first,
    message: `directories more than ${walk.limits.maxDepth} levels below the root are not searched`,
    fix: `move the skills up, or name ${shellWord(dirname(base + first))} in skills.load.extraDirs`,
  })
}

/** The directory a link leads to, when it stays inside the root. */
function followed(walk: Walk, path: string): string | undefined {
  const { root } = walk.context
  try {
    const real = realpathSync.native(path)
    if (!statSync(real).isDirectory()) return undefined
    if (isInside(real, root)) return real
    note(walk, 'link-outside', {
      path,
      message: `the link leads out of the root, to ${JSON.stringify(real)}; it is not followed`,
      fix: insteadOfLink(real),
    })
  } catch (error) {
    note(walk, 'link-broken', {
      path,
      message: `the link cannot be followed${leadsTo(path)}: ${reasonOf(error)}`,
      fix: 'put the directory itself in its place, or remove the link',
    })
  }
  return undefined
}

function limitReached(walk: Walk): boolean {
  const { maxDirectories, maxSkills } = walk.limits
  const { root } = walk.context
  if (walk.skills.length >= maxSkills) {
    const message = `more than ${maxSkills} skills; the rest was not searched`
    note(walk, 'skill-limit', { path: root, message, fix: 'split the directory into several sources' })
    return true
  }
  if (walk.paths.length <= maxDirectories) return false
  const message = `more than ${maxDirectories} directories; the rest was not searched`
  note(walk, 'directory-limit', { path: root, message, fix: 'name the directories that hold skills' })
  return true
}

function note(walk: Walk, code: SourceCode, { path, ...words }: Words): void {
  const count = (walk.counts.get(code) ?? 0) + 1
  walk.counts.set(code, count)
  if (count <= LISTED) walk.diagnostics.push(finding(code, path, words))
}
