import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type Diagnostic, NexusError, shellWord } from '../kernel/index.ts'
import { realPath } from './home.ts'
import { FILES, type Message } from './messages.ts'

/** A file that may hold settings. */
export interface FileToRead {
  readonly path: string
  /** Named by the caller: then it must be there. */
  readonly isRequired: boolean
  readonly isTrusted: boolean
  /** A file of the workspace: some settings never apply from there. */
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

/** Reads the files in their order; one that is there under two names applies where it weighs most. Throws CONFIG_INVALID for a required one. */
export function readFiles(candidates: readonly FileToRead[]): FilesRead {
  const files: ReadFile[] = []
  const absent: FileToRead[] = []
  const paths: string[] = []
  const diagnostics: Diagnostic[] = []
  for (const file of once(candidates)) {
    const read = readText(file.path)
    if (read === 'absent' && !file.isRequired) absent.push(file)
    else if (read === 'absent' || 'code' in read) {
      const fault = read === 'absent' ? FILES.notFound() : read
      if (file.isRequired) throw new NexusError('CONFIG_INVALID', `${file.path}: ${fault.message}`, { fix: fault.fix })
      if (fault.code !== 'config-unreadable') paths.push(file.path)
      diagnostics.push({ severity: 'error', path: file.path, ...fault })
    } else {
      if (read.isOpen)
        diagnostics.push({ severity: 'warning', path: file.path, ...FILES.openToAll({ path: shellWord(file.path) }) })
      paths.push(file.path)
      files.push({ ...file, text: read.text, bytes: read.bytes })
    }
  }
  return { files, paths, absent, diagnostics }
}

/** The text of one file under the same limits; undefined when it cannot be read as a configuration. */
export function readTextOf(path: string): string | undefined {
  const read = readText(path)
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

type Read = 'absent' | Message | { readonly text: string; readonly bytes: Uint8Array; readonly isOpen: boolean }

/** Reads at most one byte more than the limit, and never waits on a pipe. */
function readText(path: string): Read {
  let handle: number | undefined
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = fstatSync(handle)
    if (!stat.isFile()) return FILES.unreadable({ why: 'it is not a regular file' })
    const bytes = readBytes(handle, Math.min(stat.size, MAX_BYTES) + 1)
    if (bytes.length > MAX_BYTES) return FILES.tooLarge(MAX_BYTES)
    if (!isUtf8(bytes)) return FILES.notUtf8()
    const text = new TextDecoder().decode(bytes)
    return { text, bytes, isOpen: process.platform !== 'win32' && (stat.mode & 0o002) !== 0 }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : FILES.unreadable({ why: code })
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

function readBytes(handle: number, most: number): Uint8Array {
  const buffer = new Uint8Array(most)
  let length = 0
  for (let read = -1; read !== 0 && length < most; length += read)
    read = readSync(handle, buffer, length, most - length, null)
  return buffer.subarray(0, length)
}
