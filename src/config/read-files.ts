import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { type Diagnostic, NexusError } from '../kernel/index.ts'

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
  /** Files that are there, readable or not as text. */
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
  const paths: string[] = []
  const absent: FileToRead[] = []
  const diagnostics: Diagnostic[] = []
  for (const file of once(candidates)) {
    const read = readText(file.path)
    if (read.type === 'absent' && !file.isRequired) {
      absent.push(file)
      continue
    }
    if (read.type !== 'absent' && read.type !== 'unreadable') paths.push(file.path)
    if (read.type === 'read') {
      if (read.isOpen) diagnostics.push(openTo(file.path))
      files.push({ ...file, text: read.text, bytes: read.bytes })
      continue
    }
    const fault = describe(read)
    if (file.isRequired) throw new NexusError('CONFIG_INVALID', `${file.path}: ${fault.message}`, { fix: fault.fix })
    diagnostics.push({ severity: 'error', path: file.path, ...fault })
  }
  return { files, paths, absent, diagnostics }
}

/** The bytes of one file under the same limits; `absent`, or undefined when it cannot be read as a configuration. */
export function readBytesOf(path: string): Uint8Array | 'absent' | undefined {
  const read = readText(path)
  return read.type === 'read' ? read.bytes : read.type === 'absent' ? 'absent' : undefined
}

function once(candidates: readonly FileToRead[]): FileToRead[] {
  const byRealPath = new Map<string, FileToRead>()
  for (const file of candidates) {
    const real = realPathOf(file.path)
    byRealPath.delete(real)
    byRealPath.set(real, file)
  }
  return [...byRealPath.values()]
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // Not there: the path as written stands for itself.
    return path
  }
}

type Read =
  | { readonly type: 'absent' | 'too-large' | 'not-utf8' }
  | { readonly type: 'unreadable'; readonly why: string }
  | { readonly type: 'read'; readonly text: string; readonly bytes: Uint8Array; readonly isOpen: boolean }

/** Reads at most one byte more than the limit, and never waits on a pipe. */
function readText(path: string): Read {
  let handle: number | undefined
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = fstatSync(handle)
    if (!stat.isFile()) return { type: 'unreadable', why: 'it is not a regular file' }
    const bytes = readBytes(handle, Math.min(stat.size, MAX_BYTES) + 1)
    if (bytes.length > MAX_BYTES) return { type: 'too-large' }
    const text = decode(bytes)
    if (text === undefined) return { type: 'not-utf8' }
    return { type: 'read', text, bytes, isOpen: process.platform !== 'win32' && (stat.mode & 0o002) !== 0 }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return code === 'ENOENT' || code === 'ENOTDIR' ? { type: 'absent' } : { type: 'unreadable', why: code }
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

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // Not UTF-8: the caller says so.
    return undefined
  }
}

function describe(read: Exclude<Read, { type: 'read' }>): { code: string; message: string; fix: string } {
  switch (read.type) {
    case 'absent':
      return {
        code: 'config-unreadable',
        message: 'There is no such file.',
        fix: 'Name a file that exists with --config or NEXUS_CONFIG.',
      }
    case 'unreadable':
      return {
        code: 'config-unreadable',
        message: `The file cannot be read: ${read.why}.`,
        fix: 'Make it a regular file that you may read.',
      }
    case 'too-large':
      return {
        code: 'config-too-large',
        message: `The file is larger than ${MAX_BYTES} bytes.`,
        fix: 'Make it smaller: it is a configuration.',
      }
    case 'not-utf8':
      return { code: 'config-encoding', message: 'The file is not UTF-8 text.', fix: 'Save it as UTF-8.' }
  }
}

function openTo(path: string): Diagnostic {
  const message = 'Anyone can change this file.'
  return { code: 'config-open', severity: 'warning', message, path, fix: `chmod o-w ${path}` }
}
