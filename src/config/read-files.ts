import { isUtf8 } from 'node:buffer'
import { codeOf, readSmall } from '../machine/files/index.ts'
import { type Diagnostic, NexusError, shellWord } from '../kernel/index.ts'
import { realPath } from './home.ts'
import { type Message, unreadableFile } from './messages.ts'
import { isInside } from './workspace.ts'

/** A file that may hold settings. */
export interface FileToRead {
  readonly path: string
  /** Named by the caller: then it must be there. */
  readonly isRequired: boolean
  readonly isTrusted: boolean
  /** A file of the workspace: some settings never apply from there. */
  readonly isWorkspace: boolean
  /** It is one agent: `agents/<id>.yaml`. */
  readonly isProfile?: boolean
  /** The directory that it must be in, without links. */
  readonly within?: string
}

export interface ReadFile extends FileToRead {
  readonly text: string
  /** Owner of the file that was read. */
  readonly uid: number
}

export interface FilesRead {
  readonly files: readonly ReadFile[]
  /** Files that could be read, be it as text or not. */
  readonly paths: readonly string[]
  /** Those that are not there. */
  readonly absent: readonly FileToRead[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The size limit of one file. */
const MAX_BYTES = 256 * 1024

const NOT_FOUND: Message = {
  code: 'config-unreadable',
  message: 'The file does not exist.',
  fix: 'Name a file that exists with --config or NEXUS_CONFIG.',
}
const LINK_OUT: Message = {
  code: 'config-unreadable',
  message: 'Nexus does not read this file: it is a link to a file outside the workspace.',
  fix: 'Copy the file into the workspace, or name it with --config.',
}
const TOO_LARGE: Message = {
  code: 'config-too-large',
  message: `Nexus did not read this file. It is larger than ${MAX_BYTES} bytes.`,
  fix: 'Remove what is not a setting.',
}
const NOT_UTF8: Message = {
  code: 'config-encoding',
  message: 'Nexus did not read this file. It is not UTF-8 text.',
  fix: 'Save it as UTF-8.',
}

function openToAll(path: string): Diagnostic {
  const message = 'Every user of this machine can change this file.'
  return { code: 'config-open', severity: 'warning', path, message, fix: `Type: chmod o-w ${shellWord(path)}` }
}

/** Reads the files in their order; one that is there under two names applies where it weighs most. Throws CONFIG_INVALID for a required one. */
export function readFiles(candidates: readonly FileToRead[]): FilesRead {
  const files: ReadFile[] = []
  const absent: FileToRead[] = []
  const paths: string[] = []
  const diagnostics: Diagnostic[] = []
  for (const file of once(candidates)) {
    const read = readText(file.path, file.within)
    if (read === 'absent' && !file.isRequired) absent.push(file)
    else if (read === 'absent' || 'code' in read) {
      const fault = read === 'absent' ? NOT_FOUND : read
      if (file.isRequired) throw new NexusError('CONFIG_INVALID', `${file.path}: ${fault.message}`, { fix: fault.fix })
      if (fault.code !== 'config-unreadable') paths.push(file.path)
      diagnostics.push({ severity: 'error', path: file.path, ...fault })
    } else {
      if (read.isOpen) diagnostics.push(openToAll(file.path))
      paths.push(file.path)
      files.push({ ...file, text: read.text, uid: read.uid })
    }
  }
  return { files, paths, absent, diagnostics }
}

/** The text of one file of that directory under the same limits; undefined when it cannot be read as its configuration. */
export function readTextOf(path: string, within: string): string | undefined {
  const read = readText(path, within)
  return read !== 'absent' && 'text' in read ? read.text : undefined
}

function once(candidates: readonly FileToRead[]): FileToRead[] {
  const byRealPath = new Map<string, FileToRead>()
  for (const file of candidates) {
    const real = realPath(file.path)
    byRealPath.delete(real)
    byRealPath.set(real, file)
  }
  return [...byRealPath.values()]
}

type Read = 'absent' | Message | (Omit<ReadFile, keyof FileToRead> & { readonly isOpen: boolean })

/** Reads a file within its limit, by what it is when it is read. */
function readText(path: string, within?: string): Read {
  try {
    const { bytes, stats, realPath: real } = readSmall(path, { maxBytes: MAX_BYTES })
    if (within !== undefined && !isInside(within, real ?? realPath(path))) return LINK_OUT
    if (!isUtf8(bytes)) return NOT_UTF8
    const text = new TextDecoder().decode(bytes)
    return { text, uid: stats.uid, isOpen: process.platform !== 'win32' && (stats.mode & 0o002) !== 0 }
  } catch (error) {
    const code = codeOf(error) || 'unknown'
    if (code === 'EFBIG') return TOO_LARGE
    if (code === 'ENXIO') return unreadableFile('it is not a regular file')
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : unreadableFile(code)
  }
}
