import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type Diagnostic, NexusError } from '../kernel/index.ts'
import { realPath } from './home.ts'

/** A file that may hold settings. */
export interface FileToRead {
  readonly path: string
  /** Named by the caller: then it must be there. */
  readonly isRequired: boolean
  readonly isTrusted: boolean
  /** The workspace's own file: some settings never count from there. */
  readonly isWorkspace: boolean
}

export interface ReadFile extends FileToRead {
  readonly text: string
  readonly bytes: Uint8Array
}

/** What was read, and what was wrong with it. */
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

/** Reads the files in their order; one that is there under two names counts where it weighs most. Throws CONFIG_INVALID for a required one. */
export function readFiles(candidates: readonly FileToRead[]): FilesRead {
  const files: ReadFile[] = []
  const absent: FileToRead[] = []
  const paths: string[] = []
  const diagnostics: Diagnostic[] = []
  for (const file of once(candidates)) {
    const read = readText(file.path)
    if (read === 'absent' && !file.isRequired) absent.push(file)
    else if (read === 'absent' || 'code' in read) {
      const fault = read === 'absent' ? MISSING : read
      if (file.isRequired) throw new NexusError('CONFIG_INVALID', `${file.path}: ${fault.message}`, { fix: fault.fix })
      if (fault.code !== MISSING.code) paths.push(file.path)
      diagnostics.push({ severity: 'error', path: file.path, ...fault })
    } else {
      if (read.isOpen) diagnostics.push(openTo(file.path))
      paths.push(file.path)
      files.push({ ...file, text: read.text, bytes: read.bytes })
    }
  }
  return { files, paths, absent, diagnostics }
}

/** The bytes of one file under the same limits; `absent`, or undefined when it cannot be read as a configuration. */
export function readBytesOf(path: string): Uint8Array | 'absent' | undefined {
  const read = readText(path)
  return read === 'absent' ? read : 'bytes' in read ? read.bytes : undefined
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

interface Fault {
  readonly code: string
  readonly message: string
  readonly fix: string
}

const MISSING = {
  code: 'config-unreadable',
  message: 'There is no such file.',
  fix: 'Name a file that exists with --config or NEXUS_CONFIG.',
}

type Read = 'absent' | Fault | { readonly text: string; readonly bytes: Uint8Array; readonly isOpen: boolean }

const TOO_LARGE = {
  code: 'config-too-large',
  message: `The file is larger than ${MAX_BYTES} bytes.`,
  fix: 'Make it smaller: it is a configuration.',
}
const NOT_TEXT = { code: 'config-encoding', message: 'The file is not UTF-8 text.', fix: 'Save it as UTF-8.' }

/** Reads at most one byte more than the limit, and never waits on a pipe. */
function readText(path: string): Read {
  let handle: number | undefined
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = fstatSync(handle)
    if (!stat.isFile()) return unreadable('it is not a regular file')
    const bytes = readBytes(handle, Math.min(stat.size, MAX_BYTES) + 1)
    if (bytes.length > MAX_BYTES) return TOO_LARGE
    if (!isUtf8(bytes)) return NOT_TEXT
    const text = new TextDecoder().decode(bytes)
    return { text, bytes, isOpen: process.platform !== 'win32' && (stat.mode & 0o002) !== 0 }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : unreadable(code)
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

function unreadable(why: string): Fault {
  const message = `The file cannot be read: ${why}.`
  return { code: 'config-unreadable', message, fix: 'Make it a regular file that you may read.' }
}

function readBytes(handle: number, most: number): Uint8Array {
  const buffer = new Uint8Array(most)
  let length = 0
  for (let read = -1; read !== 0 && length < most; length += read)
    read = readSync(handle, buffer, length, most - length, null)
  return buffer.subarray(0, length)
}

function openTo(path: string): Diagnostic {
  const message = 'Anyone can change this file.'
  return { code: 'config-open', severity: 'warning', message, path, fix: `chmod o-w ${path}` }
}
