import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { compareUtf8 } from '../format/index.ts'
import type { Diagnostic, RejectedSkill, Skill } from '../kernel/index.ts'
import { codeOf, finding, reasonOf, type SourceCode } from './codes.ts'
import { createPace } from './pace.ts'
import { type CandidateContext, isInside, readCandidate, rejected, SKILL_FILE } from './skill-file.ts'
import type { SourceLimits, SourceResult } from './source.ts'

/** Findings of one code that are listed one by one; the rest is counted. */
const LISTED = 20

export interface WalkOptions {
  /** Go on below a directory that is a skill. */
  readonly nested: boolean
  readonly limits: SourceLimits
  readonly context: CandidateContext
  readonly signal?: AbortSignal
}

interface Place {
  readonly path: string
  readonly depth: number
}

interface Walk extends WalkOptions {
  readonly skills: Skill[]
  readonly rejected: RejectedSkill[]
  readonly diagnostics: Diagnostic[]
  readonly counts: Map<SourceCode, number>
  readonly visited: Set<string>
  /** The next place is at the end. */
  readonly ahead: Place[]
}

/** Searches everything below a root (a real path), in slices, without ever waiting for a file. Rejects only when cancelled. */
export async function walkFolder(root: string, options: WalkOptions): Promise<SourceResult> {
  const walk: Walk = {
    ...options,
    skills: [],
    rejected: [],
    diagnostics: [],
    counts: new Map(),
    visited: new Set(),
    ahead: [{ path: root, depth: 0 }],
  }
  const pace = createPace(options.signal)
  for (let place = walk.ahead.pop(); place; place = walk.ahead.pop()) {
    const pause = pace()
    if (pause) await pause
    if (walk.visited.has(place.path)) continue
    walk.visited.add(place.path)
    if (limitReached(walk, root) || !visit(walk, place)) break
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

/** Reads one directory; false ends the walk. */
function visit(walk: Walk, place: Place): boolean {
  const candidate = readCandidate(place.path, walk.context)
  if (candidate.type === 'blocked') {
    noteUnreadable(walk, place, 'permission denied')
    return true
  }
  if (candidate.type === 'skill') walk.skills.push(candidate.skill)
  if (candidate.type === 'rejected') walk.rejected.push(candidate.rejected)
  const isSkill = candidate.type !== 'absent'
  if (isSkill && !walk.nested && place.depth > 0) return true
  const entries = list(walk, place)
  if (entries === undefined) return rootIsThere(walk)
  if (!isSkill) hintAtFileName(walk, place.path, entries)
  if (isSkill && !walk.nested) hintAtHiddenSkills(walk, place.path, entries)
  else descend(walk, place, entries)
  return true
}

function list(walk: Walk, { path, depth }: Place): Dirent[] | undefined {
  try {
    return inByteOrder(readdirSync(path, { withFileTypes: true }))
  } catch (error) {
    const vanished = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
    if (vanished) note(walk, 'directory-vanished', { path, message: 'the directory disappeared while it was searched' })
    else noteUnreadable(walk, { path, depth }, reasonOf(error))
    return undefined
  }
}

const SURROGATE = /[\ud800-\udfff]/

/** Only names with characters above U+FFFF sort otherwise as UTF-16 than as bytes. */
function inByteOrder(entries: Dirent[]): Dirent[] {
  if (entries.some(({ name }) => SURROGATE.test(name))) return entries.sort((a, b) => compareUtf8(a.name, b.name))
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function noteUnreadable(walk: Walk, { path, depth }: Place, reason: string): void {
  note(walk, depth === 0 ? 'root-unreadable' : 'directory-unreadable', {
    path,
    message: `the directory cannot be read: ${reason}`,
    fix: 'make it readable for the user that runs Nexus',
  })
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

interface Words {
  readonly path: string
  readonly message: string
  readonly fix?: string
}

/** Adds the directories below a place, the first in byte order on top. Hidden ones and node_modules are no places for skills. */
function descend(walk: Walk, place: Place, entries: readonly Dirent[]): void {
  const below: Place[] = []
  for (const entry of entries) {
    const path = `${place.path === '/' ? '' : place.path}/${entry.name}`
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    if (entry.name.includes('\ufffd') && entry.isDirectory()) {
      note(walk, 'name-encoding', { path, message: 'the name of the directory is not UTF-8', fix: 'rename it' })
      continue
    }
    const target = entry.isSymbolicLink() ? followed(walk, path) : entry.isDirectory() ? path : undefined
    if (target !== undefined) below.push({ path: target, depth: place.depth + 1 })
  }
  const first = below[0]
  if (first === undefined) return
  if (place.depth >= walk.limits.maxDepth) {
    note(walk, 'depth-limit', {
      path: first.path,
      message: `directories more than ${walk.limits.maxDepth} levels below the root are not searched`,
      fix: 'name a deeper directory as a source of its own',
    })
    return
  }
  for (const next of below.reverse()) walk.ahead.push(next)
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
      fix: 'name the real directory as a source of its own',
    })
  } catch (error) {
    note(walk, 'link-broken', {
      path,
      message: `the link cannot be followed: ${reasonOf(error)}`,
      fix: 'remove or repair it',
    })
  }
  return undefined
}

function hintAtFileName(walk: Walk, path: string, entries: readonly Dirent[]): void {
  const other = entries.find(({ name }) => name !== SKILL_FILE && name.toLowerCase() === 'skill.md')
  if (other === undefined) return
  const file = `${path}/${other.name}`
  const diagnostic = finding('skill-file-name', file, {
    message: `the file is named ${other.name}; only ${SKILL_FILE} is read`,
    fix: `rename it to ${SKILL_FILE}`,
  })
  const candidate = rejected(path, file, { context: walk.context, diagnostics: [diagnostic] })
  if (candidate.type === 'rejected') walk.rejected.push(candidate.rejected)
}

/** The root is a skill, so the search ends there; say so when that hides others. */
function hintAtHiddenSkills(walk: Walk, root: string, entries: readonly Dirent[]): void {
  const hidden = entries.find((entry) => entry.isDirectory() && exists(`${root}/${entry.name}/${SKILL_FILE}`))
  if (hidden === undefined) return
  note(walk, 'root-is-skill', {
    path: root,
    message: `the root has a ${SKILL_FILE} of its own, so ${JSON.stringify(hidden.name)} and other skills below it are not searched`,
    fix: `move ${SKILL_FILE} into a directory of its own, or set nested: true`,
  })
}

function limitReached(walk: Walk, root: string): boolean {
  const { maxDirectories, maxSkills } = walk.limits
  if (walk.skills.length >= maxSkills) {
    const message = `more than ${maxSkills} skills; the rest was not searched`
    note(walk, 'skill-limit', { path: root, message, fix: 'split the directory into several sources' })
    return true
  }
  if (walk.visited.size <= maxDirectories) return false
  const message = `more than ${maxDirectories} directories; the rest was not searched`
  note(walk, 'directory-limit', { path: root, message, fix: 'name the directories that hold skills' })
  return true
}

function note(walk: Walk, code: SourceCode, { path, ...words }: Words): void {
  const count = (walk.counts.get(code) ?? 0) + 1
  walk.counts.set(code, count)
  if (count <= LISTED) walk.diagnostics.push(finding(code, path, words))
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Not ours to look at, which for our questions is the same as not there.
    return false
  }
}
