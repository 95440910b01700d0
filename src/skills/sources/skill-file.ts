import { closeSync, fstatSync, lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, extname } from 'node:path'
import { kindOf, openUnseen, readInto, codeOf } from '../../machine/files/index.ts'
import { parseSkill } from '../format/index.ts'
import { type Diagnostic, type InvalidSkill, SKILL_FILE, type SkillOrigin } from '../../kernel/index.ts'
import { finding, leadsTo } from './codes.ts'
import { reasonOf, stampOf } from '../../machine/skill-files/index.ts'
import { MESSAGES } from './messages.ts'
import type { Read, Recall } from './found/previous-search.ts'

/** Only Linux is known to distinguish SKILL.md from skill.md everywhere. */
const IS_NAME_EXACT = process.platform === 'linux'

/** Shared by every candidate of one search. The buffer is reused: nothing may be awaited between reading and parsing. */
export interface CandidateContext {
  readonly origin: SkillOrigin
  /** Real path of the root; a link may not leave it. */
  readonly root: string
  readonly maxFileBytes: number
  readonly recall: Recall
  readonly buffer: { bytes: Uint8Array }
}

/** A directory that may hold a skill. */
export interface CandidateDirectory {
  readonly path: string
  readonly name: string
}

/** `absent`: the directory has no SKILL.md; `blocked`: it cannot be searched. */
export type Candidate = Read | 'absent' | 'blocked'

const BUFFER_BYTES = 65_536

const NO_NOTES: readonly Diagnostic[] = Object.freeze([])

/** A file that is open; what kind of file is not known yet. */
interface Opened {
  readonly fd: number
  /** Its real path. */
  readonly file: string
  /** Findings about the link that led to it. */
  readonly notes: readonly Diagnostic[]
}

/** Looks for SKILL.md in a directory and reads it, unless it was read before. Never throws for what the directory holds. */
export function readCandidate(place: CandidateDirectory, context: CandidateContext): Candidate {
  const known = context.recall.find(place.path)
  if (known) return known
  const file = `${place.path}/${SKILL_FILE}`
  let fd: number
  try {
    if (!IS_NAME_EXACT && basename(realpathSync.native(file)) !== SKILL_FILE) return 'absent'
    fd = openUnseen(file)
  } catch (error) {
    const opened = openOtherwise(file, error, context.root)
    if (typeof opened === 'string') return opened
    if ('code' in opened) return invalidSkill(place.path, file, { context, diagnostics: [opened] })
    return readOpened(place, opened, context)
  }
  return readOpened(place, { fd, file, notes: NO_NOTES }, context)
}

/** Closes the file. */
function readOpened(place: CandidateDirectory, { fd, file, notes }: Opened, context: CandidateContext): Read {
  const { path: directory } = place
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) {
      const kind = notRegular(`${directory}/${SKILL_FILE}`, kindOf(stats))
      return invalidSkill(directory, kind.path, { context, diagnostics: [kind] })
    }
    const read = readWhole(place, { fd, file, notes, stats }, context)
    // The target of a link is read each time.
    if (notes === NO_NOTES) context.recall.remember(directory, read, stats)
    return read
  } catch (error) {
    const path = `${directory}/${SKILL_FILE}`
    const words = MESSAGES['skill-file-unreadable'].failed(reasonOf(error))
    return invalidSkill(directory, path, { context, diagnostics: [finding('skill-file-unreadable', path, words)] })
  } finally {
    closeSync(fd)
  }
}

/** A directory whose skill could not be read, under the directory's name. */
export function invalidSkill(
  directory: string,
  file: string,
  { context, diagnostics }: { context: CandidateContext; diagnostics: readonly Diagnostic[] },
): InvalidSkill {
  const errorsFirst = [...diagnostics.filter(isError), ...diagnostics.filter((diagnostic) => !isError(diagnostic))]
  return { name: basename(directory), file, origin: context.origin, diagnostics: errorsFirst }
}

function isError(diagnostic: Diagnostic): boolean {
  return diagnostic.severity === 'error'
}

function openOtherwise(path: string, error: unknown, root: string): Opened | Diagnostic | 'absent' | 'blocked' {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'absent'
    case 'ELOOP':
    case 'EMLINK':
      return openLink(path, root)
    case 'ENXIO':
      return notRegular(path, 'a socket or device')
    default:
      return canLookAt(path) ? unreadable(path, error) : 'blocked'
  }
}

/** False when the directory itself is closed to us, so that its contents are not known. */
function canLookAt(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    // The caller reports the directory.
    return false
  }
}

function unreadable(path: string, error: unknown): Diagnostic {
  return finding('skill-file-unreadable', path, MESSAGES['skill-file-unreadable'].closed(path, reasonOf(error)))
}

function notRegular(path: string, kind: string): Diagnostic {
  return finding('skill-file-kind', path, MESSAGES['skill-file-kind'](kind))
}

/** A link is followed inside the root, and only to where it pointed when it was checked. */
function openLink(path: string, root: string): Opened | Diagnostic {
  try {
    const real = realpathSync.native(path)
    if (!isInside(real, root)) return linkOutside(path)
    const fd = openUnseen(real)
    if (truePath(fd, real) !== real) {
      closeSync(fd)
      return linkOutside(path)
    }
    return { fd, file: real, notes: [linkFollowed(path, real)] }
  } catch (error) {
    return linkBroken(path, error)
  }
}

function linkBroken(path: string, error: unknown): Diagnostic {
  const code = codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP' ? 'skill-file-unreadable' : 'skill-file-kind'
  return finding(code, path, MESSAGES['link-broken'].file(path, leadsTo(path), reasonOf(error)))
}

/** A SKILL.md that is not read. */
function linkOutside(path: string): Diagnostic {
  return finding('link-outside', path, MESSAGES['link-outside'].file(path, leadsTo(path)))
}

/** A SKILL.md that is read where its link leads. The copy is of that file, wherever the link leads by then. */
function linkFollowed(path: string, real: string): Diagnostic {
  return finding('link-followed', path, MESSAGES['link-followed'](path, real))
}

/** Where an open file really is; the given path where the system does not report it. */
function truePath(fd: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    // No /proc: realpath and O_NOFOLLOW at the end are the check that is left.
    return path
  }
}

/** True for a real path below a real root, or the root itself. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)
}

interface OpenFile extends Opened {
  readonly stats: Stats
}

/** The file from its first to its last byte as a skill. */
function readWhole(place: CandidateDirectory, { fd, file, notes, stats }: OpenFile, context: CandidateContext): Read {
  const { path: directory, name: label } = place
  const { maxFileBytes, origin } = context
  const path = `${directory}/${SKILL_FILE}`
  const bytes = stats.size > maxFileBytes ? undefined : readBytes(fd, stats.size, context)
  if (bytes === undefined) {
    const words = MESSAGES['file-too-large'](stats.size, maxFileBytes)
    const tooLarge = { ...finding('file-too-large', path, words), line: 1, column: 1 }
    return invalidSkill(directory, path, { context, diagnostics: [tooLarge] })
  }
  const { document, diagnostics } = parseSkill(bytes, { path, directoryName: label, maxBytes: maxFileBytes })
  if (document === undefined) return invalidSkill(directory, path, { context, diagnostics: [...notes, ...diagnostics] })
  const isRoot = directory === context.root
  const found = diagnostics.map((each) => withFixOfPlace(each, { isRoot, notes, label }))
  // One property after the other: of thousands of skills each copy of an object costs.
  return {
    name: document.name ?? label,
    description: document.description ?? '',
    license: document.license,
    compatibility: document.compatibility,
    allowedTools: document.allowedTools,
    arguments: document.arguments,
    invocation: document.invocation,
    metadata: document.metadata,
    frontmatter: document.frontmatter,
    origin,
    directory,
    file: path,
    linkedTo: notes.length > 0 ? file : undefined,
    stamp: stampOf(stats),
    diagnostics: notes.length + found.length > 0 ? [...notes, ...found] : NO_NOTES,
  }
}

/** A difference of names is fixed otherwise where the directory is a root, and where the text belongs to another place as well. */
function withFixOfPlace(
  found: Diagnostic,
  { isRoot, notes, label }: { isRoot: boolean; notes: readonly Diagnostic[]; label: string },
): Diagnostic {
  if (found.code !== 'name-differs' || (!isRoot && notes.length === 0)) return found
  const fix = isRoot ? MESSAGES['name-differs'].root() : MESSAGES['name-differs'].linked(label)
  return { ...found, fix }
}

/** The whole file in the shared buffer, or undefined when it is larger than the limit. */
function readBytes(fd: number, size: number, { buffer, maxFileBytes }: CandidateContext): Uint8Array | undefined {
  const wanted = Math.min(size, maxFileBytes) + 1
  if (buffer.bytes.length < wanted) {
    buffer.bytes = new Uint8Array(Math.max(wanted, buffer.bytes.length * 2, BUFFER_BYTES))
  }
  let length = readInto(fd, buffer.bytes, { size })
  while (length === buffer.bytes.length && length <= maxFileBytes) {
    // It grew while it was read.
    const larger = new Uint8Array(length * 2)
    larger.set(buffer.bytes)
    buffer.bytes = larger
    length += readInto(fd, larger.subarray(length), { position: length })
  }
  return length > maxFileBytes ? undefined : buffer.bytes.subarray(0, length)
}

/**
 * The file that the SKILL.md of one directory (a real path) leads to; undefined when it is no link. As where the directory around it
 * is searched: a text (.md) below that one counts, with a warning, all else is an error. The user did not name that directory, so its other files
 * (keys, settings) are not for reading. The reader of `linkedTo` opens it without following links.
 */
export function linkAsSkillFile(directory: string): { linkedTo?: string; finding: Diagnostic } | undefined {
  const path = `${directory === '/' ? '' : directory}/${SKILL_FILE}`
  if (!isLink(path)) return undefined
  const root = dirname(directory)
  try {
    const real = realpathSync.native(path)
    if (!isInside(real, root)) return { finding: linkOutside(path) }
    if (extname(real) !== '.md' || !statSync(real).isFile()) {
      return { finding: finding('link-outside', path, MESSAGES['link-not-markdown'](path, leadsTo(path))) }
    }
    return { linkedTo: real, finding: linkFollowed(path, real) }
  } catch (error) {
    return { finding: linkBroken(path, error) }
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    // Absent, or in a directory that is closed to us: the search says so.
    return false
  }
}
