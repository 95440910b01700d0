import { type Dirent, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Diagnostic, type RejectedSkill, shellWord, type Skill } from '../kernel/index.ts'
import { codeOf, finding, leadsTo, reasonOf, type SourceCode } from './codes.ts'
import { inByteOrder, isLarge, list, listInBackground } from './listing.ts'
import type { Pace } from './pace.ts'
import { type Candidate, type CandidateContext, isInside, readCandidate, rejected, SKILL_FILE } from './skill-file.ts'
import type { SourceLimits, SourceResult } from './source.ts'

/** Findings of one code that are listed one by one; the rest is counted. */
const LISTED = 20

export interface WalkOptions {
  /** Go on below a directory that is a skill. */
  readonly nested: boolean
  readonly limits: SourceLimits
  readonly context: CandidateContext
  readonly pace: Pace
  /** What is in a directory (a real path); default `readCandidate`. */
  readonly read?: (directory: string, context: CandidateContext) => Candidate
}

interface Place {
  readonly path: string
  readonly depth: number
}

/** What is below a directory and still to be looked at, in byte order. */
interface Level {
  /** The directory with a slash at its end. */
  readonly base: string
  readonly names: readonly string[]
  readonly links: ReadonlySet<string>
  readonly depth: number
  next: number
}

interface Walk extends WalkOptions {
  readonly skills: Skill[]
  readonly rejected: RejectedSkill[]
  readonly diagnostics: Diagnostic[]
  readonly counts: Map<SourceCode, number>
  readonly levels: Level[]
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
    levels: [],
    paths: [],
    visited: undefined,
  }
  for (let place: Place | undefined = { path: root, depth: 0 }; place; place = nextPlace(walk)) {
    const pause = walk.pace()
    if (pause) await pause
    if (walk.visited?.has(place.path)) continue
    walk.paths.push(place.path)
    walk.visited?.add(place.path)
    if (limitReached(walk, root)) break
    const goesOn = visit(walk, place)
    if (!(typeof goesOn === 'boolean' ? goesOn : await goesOn)) break
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

/** The next directory; a link becomes what it leads to, or nothing. */
function nextPlace(walk: Walk): Place | undefined {
  for (let level = walk.levels.at(-1); level; level = walk.levels.at(-1)) {
    const name = level.names[level.next++]
    if (name === undefined) {
      walk.levels.pop()
      continue
    }
    const path = level.base + name
    if (!level.links.has(name)) return { path, depth: level.depth }
    const target = followed(walk, path)
    if (target === undefined) continue
    walk.visited ??= new Set(walk.paths)
    return { path: target, depth: level.depth }
  }
  return undefined
}

/** Reads one directory; false ends the walk. Only a large one has to be waited for. */
function visit(walk: Walk, place: Place): boolean | Promise<boolean> {
  const { read = readCandidate, context } = walk
  const candidate = read(place.path, context)
  if (candidate.type === 'blocked') {
    noteUnreadable(walk, place, 'permission denied')
    return true
  }
  if (candidate.type === 'skill') walk.skills.push(candidate.skill)
  if (candidate.type === 'rejected') walk.rejected.push(candidate.rejected)
  const isSkill = candidate.type !== 'absent'
  if (isSkill && !walk.nested && place.depth > 0) return true
  let entries: readonly Dirent[]
  try {
    if (!isSkill && isLarge(place.path)) return goThroughLarge(walk, place)
    entries = list(place.path)
  } catch (error) {
    return unlisted(walk, place, error)
  }
  goThrough(walk, place, { isSkill, entries })
  return true
}

async function goThroughLarge(walk: Walk, place: Place): Promise<boolean> {
  let entries: readonly Dirent[]
  try {
    entries = await listInBackground(place.path)
  } catch (error) {
    return unlisted(walk, place, error)
  }
  const pause = walk.pace()
  if (pause) await pause
  goThrough(walk, place, { isSkill: false, entries })
  return true
}

interface Listed {
  readonly isSkill: boolean
  readonly entries: readonly Dirent[]
}

function goThrough(walk: Walk, place: Place, { isSkill, entries }: Listed): void {
  if (!isSkill) hintAtFileName(walk, place.path, entries)
  if (isSkill && !walk.nested) hintAtHiddenSkills(walk, place.path, entries)
  else descend(walk, place, entries)
}

/** False when that ends the walk. */
function unlisted(walk: Walk, place: Place, error: unknown): boolean {
  const vanished = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
  const message = 'the directory disappeared while it was searched'
  if (vanished) note(walk, 'directory-vanished', { path: place.path, message })
  else noteUnreadable(walk, place, reasonOf(error))
  return rootIsThere(walk)
}

function noteUnreadable(walk: Walk, { path, depth }: Place, reason: string): void {
  note(walk, depth === 0 ? 'root-unreadable' : 'directory-unreadable', {
    path,
    message: `the directory cannot be read: ${reason}`,
    fix: `make it readable for the user that runs Nexus, for example: chmod a+rx ${shellWord(path)}`,
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

/** Goes below a place. Hidden directories and node_modules are no places for skills. */
function descend(walk: Walk, place: Place, entries: readonly Dirent[]): void {
  const base = place.path === '/' ? '/' : `${place.path}/`
  const names: string[] = []
  const links = new Set<string>()
  for (const entry of entries) {
    const { name } = entry
    const isLink = entry.isSymbolicLink()
    if ((!isLink && !entry.isDirectory()) || name.startsWith('.') || name === 'node_modules') continue
    if (name.includes('\ufffd') && !isLink) {
      const message = 'the name of the directory is not UTF-8'
      note(walk, 'name-encoding', { path: base + name, message, fix: 'rename it' })
      continue
    }
    names.push(name)
    if (isLink) links.add(name)
  }
  const level: Level = { base, names: inByteOrder(names), links, depth: place.depth + 1, next: 0 }
  if (place.depth < walk.limits.maxDepth) walk.levels.push(level)
  else noteDepth(walk, level)
}

/** Tells of directories that are too deep; links that lead to none are no directories. */
function noteDepth(walk: Walk, { base, names, links }: Level): void {
  const first = names.find((name) => !links.has(name) || followed(walk, base + name) !== undefined)
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
      fix: elsewhere(real),
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

/** A skill outside may be searched where it is; of any other directory nobody should be told to. */
function elsewhere(directory: string): string {
  const inPlace = 'put the directory itself in its place'
  if (!exists(`${directory}/${SKILL_FILE}`)) return `${inPlace}, or remove the link`
  const place = `--skills-dir ${shellWord(dirname(directory))}, or skills.load.extraDirs in your own nexus.yaml`
  return `${inPlace}, or have its own place searched: ${place}`
}

function hintAtFileName(walk: Walk, path: string, entries: readonly Dirent[]): void {
  const alike = entries.filter(({ name }) => name.length === SKILL_FILE.length && isAlike(name))
  const [other] = inByteOrder(alike.map(({ name }) => name))
  if (other === undefined) return
  const file = `${path}/${other}`
  const diagnostic = finding('skill-file-name', file, {
    message: `the file is named ${other}; only ${SKILL_FILE} is read`,
    fix: `rename it to ${SKILL_FILE}: mv ${shellWord(file)} ${shellWord(`${path}/${SKILL_FILE}`)}`,
  })
  const candidate = rejected(path, file, { context: walk.context, diagnostics: [diagnostic] })
  if (candidate.type === 'rejected') walk.rejected.push(candidate.rejected)
}

function isAlike(name: string): boolean {
  return name !== SKILL_FILE && name.toLowerCase() === 'skill.md'
}

/** The root is a skill, so the search ends there; say so when that hides others. */
function hintAtHiddenSkills(walk: Walk, root: string, entries: readonly Dirent[]): void {
  const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const hidden = inByteOrder(directories).find((name) => exists(`${root}/${name}/${SKILL_FILE}`))
  if (hidden === undefined) return
  note(walk, 'root-is-skill', {
    path: root,
    message: `the root has a ${SKILL_FILE} of its own, so ${JSON.stringify(hidden)} and other skills below it are not searched`,
    fix: `give that file a directory of its own: mkdir ${shellWord(`${root}/my-skill`)} && mv ${shellWord(`${root}/${SKILL_FILE}`)} ${shellWord(`${root}/my-skill/`)}`,
  })
}

function limitReached(walk: Walk, root: string): boolean {
  const { maxDirectories, maxSkills } = walk.limits
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

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Not ours to look at, which for our questions is the same as not there.
    return false
  }
}
