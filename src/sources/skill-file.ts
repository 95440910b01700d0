import { closeSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { FORMAT_LIMITS, parseSkill, type QuickHead } from '../format/index.ts'
import { type Diagnostic, shellWord } from '../kernel/index.ts'
import { codeOf, finding, leadsTo, reasonOf, type SourceCode } from './codes.ts'
import { kindOf, type OpenedFile, openWithoutWaiting, readInto, stampOf } from './files/open.ts'
import { type FoundAt, type FoundIn, FoundSkill } from './found/found-skill.ts'
import type { HeadBuffer } from './found/head-buffer.ts'
import type { Read, Recall } from './found/last-look.ts'

/** The exact name; on a file system that ignores case the true name is compared. */
export const SKILL_FILE = 'SKILL.md'

/** What every candidate of one look shares. The buffers are reused: nothing may be awaited between reading and parsing. */
export interface CandidateContext {
  /** Shared by the skills of all looks, which outlive the look: so it holds none of the buffers. */
  readonly shared: FoundIn
  /** Real path of the root; a link may not leave it. */
  readonly root: string
  /** What the last look read. */
  readonly recall: Recall
  readonly heads: HeadBuffer
  /** For files that must be read whole. */
  readonly buffer: { bytes: Uint8Array }
}

/** What a directory turned out to be. `absent`: it has no SKILL.md; `blocked`: nobody may look into it; `other`: a skill that nobody asked for. */
export type Candidate = Read | { readonly type: 'absent' | 'blocked' | 'other' }

/** Least room for a file that is read whole. */
const WHOLE_BYTES = 65_536

const NO_NOTES: readonly Diagnostic[] = Object.freeze([])

interface Found extends OpenedFile {
  readonly path: string
  readonly notes: readonly Diagnostic[]
}

/** Looks for SKILL.md in a directory (a real path) and reads it, unless it was read before. Never throws for what the directory holds. */
export function readCandidate(directory: string, context: CandidateContext): Candidate {
  return context.recall.find(directory) ?? openCandidate(directory, context)
}

function openCandidate(directory: string, context: CandidateContext): Candidate {
  const path = `${directory}/${SKILL_FILE}`
  const found = openSkillFile(path, context.root)
  if (found === 'absent' || found === 'blocked') return { type: found }
  if ('code' in found) return rejected(directory, path, { context, diagnostics: [found] })
  try {
    const { stats, notes } = found
    if (!stats.isFile()) {
      return rejected(directory, path, { context, diagnostics: [notRegular(path, kindOf(stats))] })
    }
    const read = readFound(directory, found, context)
    // What a link leads to is looked at each time.
    context.recall.note(directory, read, notes === NO_NOTES ? stats : undefined)
    return read
  } catch (error) {
    const message = `${SKILL_FILE} cannot be read: ${reasonOf(error)}`
    return rejected(directory, path, { context, diagnostics: [finding('skill-file-unreadable', path, { message })] })
  } finally {
    closeSync(found.fd)
  }
}

/** A directory whose skill could not be read, under the directory's name. */
export function rejected(
  directory: string,
  file: string,
  { context, diagnostics }: { context: CandidateContext; diagnostics: readonly Diagnostic[] },
): Read {
  const errorsFirst = [...diagnostics.filter(isError), ...diagnostics.filter((diagnostic) => !isError(diagnostic))]
  return {
    type: 'rejected',
    rejected: { name: basename(directory), file, origin: context.shared.origin, diagnostics: errorsFirst },
  }
}

function isError(diagnostic: Diagnostic): boolean {
  return diagnostic.severity === 'error'
}

function openSkillFile(path: string, root: string): Found | Diagnostic | 'absent' | 'blocked' {
  try {
    if (!hasExactName(path)) return 'absent'
    const { fd, stats } = openWithoutWaiting(path)
    return { fd, stats, path, notes: NO_NOTES }
  } catch (error) {
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
}

/** False when the directory itself is closed to us, so that nobody knows what is in it. */
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
  return finding('skill-file-unreadable', path, {
    message: `${SKILL_FILE} cannot be opened: ${reasonOf(error)}`,
    fix: `make the file readable for the user that runs Nexus, for example: chmod a+r ${shellWord(path)}`,
  })
}

function notRegular(path: string, kind: string): Diagnostic {
  return finding('skill-file-kind', path, {
    message: `${SKILL_FILE} is ${kind}, not a regular file`,
    fix: 'replace it by a text file',
  })
}

/** Only Linux is known to tell SKILL.md from skill.md everywhere. */
function hasExactName(path: string): boolean {
  return process.platform === 'linux' || basename(realpathSync.native(path)) === SKILL_FILE
}

/** A link is followed inside the root, and only to where it pointed when it was checked. */
function openLink(path: string, root: string): Found | Diagnostic {
  const fix = `replace the link by the file itself: cp ${shellWord(path)} ${shellWord(`${path}.new`)} && mv ${shellWord(`${path}.new`)} ${shellWord(path)}`
  try {
    const real = realpathSync.native(path)
    const outside = (): Diagnostic =>
      finding('link-outside', path, {
        message: `${SKILL_FILE} is a link that leaves the root ${JSON.stringify(root)}${leadsTo(path)}; it is not read`,
        fix,
      })
    if (!isInside(real, root)) return outside()
    const opened = openWithoutWaiting(real)
    if (truePath(opened, real) !== real) {
      closeSync(opened.fd)
      return outside()
    }
    const message = `${SKILL_FILE} is a link to ${JSON.stringify(real)}: that file is read, and whoever changes it changes this skill`
    return { ...opened, path: real, notes: [finding('link-followed', path, { message, fix })] }
  } catch (error) {
    const code: SourceCode =
      codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP' ? 'skill-file-unreadable' : 'skill-file-kind'
    const message = `${SKILL_FILE} is a link that cannot be followed${leadsTo(path)}: ${reasonOf(error)}`
    return finding(code, path, { message, fix: 'remove the link and put the file itself there' })
  }
}

/** Where an open file really is; the given path where the system does not tell. */
function truePath({ fd }: OpenedFile, path: string): string {
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

/** `found` is a regular file. */
function readFound(directory: string, found: Found, context: CandidateContext): Read {
  const { stats, path, notes } = found
  const at: FoundAt = {
    directory,
    label: directory.slice(directory.lastIndexOf('/') + 1),
    stamp: stampOf(stats),
    ...(notes === NO_NOTES ? undefined : { link: { file: path, notes } }),
    ...(directory === context.root ? { isRoot: true } : undefined),
  }
  const quick = glance(at.label, found, context)
  if (!quick) return readWhole(at, found, context)
  const kept = context.heads.keep(quick.to)
  return { type: 'skill', skill: new FoundSkill(context.shared, at, { quick, kept }) }
}

/** What the first bytes of the file say, when they are enough and hold nothing odd. */
function glance(label: string, { fd, stats }: Found, context: CandidateContext): QuickHead | undefined {
  const { heads, shared } = context
  if (stats.size > shared.maxFileBytes || stats.size > FORMAT_LIMITS.largeFileBytes) return undefined
  const { bytes } = heads
  const end = heads.read(fd)
  const isWhole = end === stats.size
  const quick = shared.reader.glance(bytes, { start: 0, end, isWhole }, label)
  if (quick === undefined) return undefined
  // Of a file that is here as a whole all is checked, else only what is used: loading reads and checks the rest.
  if ((isWhole || quick.isWide) && !heads.isText(isWhole ? end : quick.to)) return undefined
  return quick
}

/** The file from its first to its last byte, through the parser that reports. */
function readWhole(at: FoundAt, found: Found, context: CandidateContext): Read {
  const { directory, label } = at
  const { stats, notes } = found
  const { maxFileBytes } = context.shared
  const path = `${directory}/${SKILL_FILE}`
  const bytes = stats.size > maxFileBytes ? undefined : readBytes(found, context)
  if (bytes === undefined) {
    const message = `${SKILL_FILE} has ${stats.size} bytes, the limit is ${maxFileBytes}`
    const fix = 'move long material into files under references/'
    const tooLarge = { ...finding('file-too-large', path, { message, fix }), line: 1, column: 1 }
    return rejected(directory, path, { context, diagnostics: [tooLarge] })
  }
  const { document, diagnostics } = parseSkill(bytes, { path, directoryName: label, maxBytes: maxFileBytes })
  if (document === undefined) return rejected(directory, path, { context, diagnostics: [...notes, ...diagnostics] })
  const { body: _, ...head } = document
  return { type: 'skill', skill: new FoundSkill(context.shared, at, { head, diagnostics }) }
}

/** The whole file in the shared buffer, or undefined when it is larger than the limit. */
function readBytes({ fd, stats }: Found, { buffer, shared }: CandidateContext): Uint8Array | undefined {
  const { maxFileBytes } = shared
  const wanted = Math.min(stats.size, maxFileBytes) + 1
  if (buffer.bytes.length < wanted) {
    buffer.bytes = new Uint8Array(Math.max(wanted, buffer.bytes.length * 2, WHOLE_BYTES))
  }
  let length = readInto(fd, buffer.bytes)
  while (length === buffer.bytes.length && length <= maxFileBytes) {
    // It grew while it was read.
    const larger = new Uint8Array(length * 2)
    larger.set(buffer.bytes)
    buffer.bytes = larger
    length += readInto(fd, larger.subarray(length), length)
  }
  return length > maxFileBytes ? undefined : buffer.bytes.subarray(0, length)
}
