import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Diagnostic, type InvalidSkill, type Skill, SKILL_FILE } from '../../kernel/index.ts'
import { finding, leadsTo, type SourceCode } from './codes.ts'
import { codeOf } from '../../machine/files/index.ts'
import { reasonOf, type Pace } from '../../machine/skill-files/index.ts'
import { isSkill } from './found/previous-search.ts'
import { archives, exists, hiddenSkill, otherFileName, singleFiles, type Words } from './found/hints.ts'
import { inByteOrder, isLeftOut, type SourceLimits, type SourceResult } from './source.ts'
import { MESSAGES } from './messages.ts'
import { type CandidateContext, isInside, type CandidateDirectory, readCandidate, invalidSkill } from './skill-file.ts'

/** Findings of one code that are listed one by one; the rest is counted. */
const LISTED = 20

export interface WalkOptions {
  /** Go on below a directory that is a skill. */
  readonly nested: boolean
  readonly limits: SourceLimits
  readonly context: CandidateContext
  readonly pace: Pace
  /** Real paths of the other roots that are searched. */
  readonly elsewhere: () => readonly string[]
}

interface TreeDirectory extends CandidateDirectory {
  readonly depth: number
  /** Still to be followed. */
  readonly isLink: boolean
}

interface Walk extends WalkOptions {
  readonly skills: Skill[]
  readonly invalid: InvalidSkill[]
  readonly diagnostics: Diagnostic[]
  readonly counts: Map<SourceCode, number>
  /** Places still to be visited, the next one last. */
  readonly ahead: TreeDirectory[]
  readonly visited: Set<string>
}

/** Searches everything below a root (a real path) with pauses, without ever waiting for a file. Rejects only when the pace does: when cancelled. */
export async function walkFolder(root: string, options: WalkOptions): Promise<SourceResult> {
  const walk: Walk = {
    ...options,
    skills: [],
    invalid: [],
    diagnostics: [],
    counts: new Map(),
    ahead: [{ path: root, name: basename(root), depth: 0, isLink: false }],
    visited: new Set(),
  }
  for (let place = walk.ahead.pop(); place; place = walk.ahead.pop()) {
    const pause = walk.pace()
    if (pause) await pause
    if (!visit(walk, place)) break
  }
  for (const [code, count] of walk.counts) {
    if (count > LISTED) walk.diagnostics.push(finding(code, root, MESSAGES.notListed(count - LISTED)))
  }
  const { skills, invalid: refused, diagnostics } = walk
  return { skills, invalid: refused, diagnostics }
}

/** Reads one directory; false when that ends the walk. */
function visit(walk: Walk, asked: TreeDirectory): boolean {
  const place = asked.isLink ? linkTarget(walk, asked) : asked
  if (place === undefined || walk.visited.has(place.path)) return true
  walk.visited.add(place.path)
  if (limitReached(walk)) return false
  const candidate = readCandidate(place, walk.context)
  if (candidate === 'blocked') {
    noteUnreadable(walk, place, 'permission denied')
    return true
  }
  const holdsSkill = candidate !== 'absent'
  if (holdsSkill && isSkill(candidate)) walk.skills.push(candidate)
  else if (holdsSkill) walk.invalid.push(candidate)
  return (holdsSkill && !walk.nested && place.depth > 0) || goBelow(walk, place, holdsSkill)
}

/** The directory that a link leads to, as a place of its own; undefined when it is not followed. */
function linkTarget(walk: Walk, link: TreeDirectory): TreeDirectory | undefined {
  const path = followed(walk, link.path)
  return path === undefined ? undefined : { ...link, path, name: basename(path) }
}

function goBelow(walk: Walk, place: TreeDirectory, holdsSkill: boolean): boolean {
  let entries: readonly Dirent[]
  try {
    entries = readdirSync(place.path, { withFileTypes: true })
  } catch (error) {
    return unlisted(walk, place, error)
  }
  if (!holdsSkill) rejectOtherFiles(walk, place, entries)
  const hidden = holdsSkill && !walk.nested ? hiddenSkill(place.path, entries) : undefined
  if (hidden) note(walk, 'root-is-skill', hidden)
  if (!holdsSkill || walk.nested) descend(walk, place, entries)
  return true
}

/** A file whose name is nearly the one that is read; in the root also skills that are no directories, which nothing else would report. */
function rejectOtherFiles(walk: Walk, { path, depth }: TreeDirectory, entries: readonly Dirent[]): void {
  const { invalid: refused, context, limits } = walk
  const diagnostic = otherFileName(path, entries, limits.maxFileBytes)
  if (diagnostic) refused.push(invalidSkill(path, diagnostic.path, { context, diagnostics: [diagnostic] }))
  if (depth > 0) return
  for (const words of singleFiles(path, entries, limits.maxFileBytes))
    if (words.path !== diagnostic?.path) note(walk, 'skill-single-file', words)
  for (const words of archives(path, entries)) note(walk, 'skill-archive', words)
}

/** Ends the walk when the root is gone as well. */
function unlisted(walk: Walk, place: TreeDirectory, error: unknown): boolean {
  const vanished = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
  if (vanished) note(walk, 'directory-vanished', { path: place.path, ...MESSAGES['directory-vanished']() })
  else noteUnreadable(walk, place, reasonOf(error))
  return rootIsThere(walk)
}

function noteUnreadable(walk: Walk, { path, depth }: TreeDirectory, reason: string): void {
  const code = depth === 0 ? 'root-unreadable' : 'directory-unreadable'
  note(walk, code, { path, ...MESSAGES['directory-unreadable'](reason, path) })
}

function rootIsThere(walk: Walk): boolean {
  const { root } = walk.context
  if (exists(root)) return true
  note(walk, 'root-vanished', { path: root, ...MESSAGES['root-vanished']() })
  return false
}

/** Goes below a directory. Hidden directories and node_modules are left out. */
function descend(walk: Walk, { path, depth }: TreeDirectory, entries: readonly Dirent[]): void {
  const base = path === '/' ? '/' : `${path}/`
  const names: string[] = []
  const links = new Set<string>()
  for (const entry of entries) {
    const { name } = entry
    const isLink = !entry.isDirectory()
    if ((isLink && !entry.isSymbolicLink()) || isLeftOut(name)) continue
    if (!isLink && name.includes('\ufffd')) {
      note(walk, 'name-encoding', { path: base + name, ...MESSAGES['name-encoding']() })
      continue
    }
    names.push(name)
    if (isLink) links.add(name)
  }
  const below = inByteOrder(names).map((name) => ({
    path: base + name,
    name,
    depth: depth + 1,
    isLink: links.has(name),
  }))
  if (depth >= walk.limits.maxDepth) noteDepth(walk, below)
  else for (const place of below.toReversed()) walk.ahead.push(place)
}

/** Reports directories that are too deep; a link to something else is none. */
function noteDepth(walk: Walk, below: readonly TreeDirectory[]): void {
  const first = below.find(({ path, isLink }) => !isLink || followed(walk, path) !== undefined)
  if (first === undefined) return
  note(walk, 'depth-limit', { path: first.path, ...MESSAGES['depth-limit'](walk.limits.maxDepth, dirname(first.path)) })
}

/** The directory a link leads to, when it stays inside the root. */
function followed(walk: Walk, path: string): string | undefined {
  const { root } = walk.context
  try {
    const real = realpathSync.native(path)
    if (!statSync(real).isDirectory()) return undefined
    if (isInside(real, root)) return real
    // It is found there.
    if (walk.elsewhere().some((other) => isInside(real, other))) return undefined
    note(walk, 'link-outside', { path, ...MESSAGES['link-outside'].directory(real, exists(`${real}/${SKILL_FILE}`)) })
  } catch (error) {
    note(walk, 'link-broken', { path, ...MESSAGES['link-broken'].directory(leadsTo(path), reasonOf(error)) })
  }
  return undefined
}

function limitReached(walk: Walk): boolean {
  const { maxDirectories, maxSkills } = walk.limits
  const { root } = walk.context
  if (walk.skills.length >= maxSkills) {
    note(walk, 'skill-limit', { path: root, ...MESSAGES['skill-limit'](maxSkills) })
    return true
  }
  if (walk.visited.size <= maxDirectories) return false
  note(walk, 'directory-limit', { path: root, ...MESSAGES['directory-limit'](maxDirectories) })
  return true
}

function note(walk: Walk, code: SourceCode, { path, ...words }: Words): void {
  const count = (walk.counts.get(code) ?? 0) + 1
  walk.counts.set(code, count)
  if (count <= LISTED) walk.diagnostics.push(finding(code, path, words))
}
