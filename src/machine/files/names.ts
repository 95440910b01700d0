import { Buffer, isUtf8 } from 'node:buffer'
import { isAbsolute } from 'node:path'
import { FileError } from './errors.ts'

const MAX_PATH_BYTES = 4_096
/** A byte that is not UTF-8 is this plus the byte: a lone surrogate, which no UTF-8 gives (as Python's `surrogateescape`). */
const ESCAPE = 0xdc00

/** A name as text that keeps every byte: `nameOf` and `bytesOf` are each other's inverse. */
export function nameOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const length = [1, 2, 3, 4].find((count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)))
    text +=
      length === undefined ? String.fromCharCode(ESCAPE + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length)
    at += length ?? 1
  }
  return text
}

/** A name or path as the system takes it. Throws EINVAL for text without bytes of its own. */
export function bytesOf(name: string): string | Buffer {
  if (name.isWellFormed()) return name
  const bytes = Buffer.concat(
    [...name].map((character) => {
      const code = character.charCodeAt(0)
      return character.length === 1 && code >= ESCAPE + 0x80 && code <= ESCAPE + 0xff
        ? Buffer.from([code - ESCAPE])
        : Buffer.from(character)
    }),
  )
  // One name has one text: what was escaped without need, or is another surrogate, does not come back.
  if (nameOf(bytes) !== name) throw new FileError('EINVAL', name, { detail: 'is not valid Unicode' })
  return bytes
}

/** Throws EINVAL for what cannot be the name of an entry of a directory. */
export function checkName(name: string): void {
  const isName = name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
  if (!isName) throw new FileError('EINVAL', name, { detail: 'is not a name in a directory' })
}

/** `below('a', 'b')` is `a/b`; below the root itself, `''`, it is `b`. */
export function below(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Why a text cannot be a relative path at all; undefined when it can. */
function unusable(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.includes('\0')) return 'contains a NUL character'
  if (isAbsolute(path)) return 'is absolute'
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`
  return undefined
}

/**
 * The parts of a relative path, `.` and `..` resolved by text; none for the root itself.
 * Throws EINVAL (empty, absolute, NUL, not Unicode, longer than 4,096 bytes) and EXDEV (leaves the root).
 */
export function pathParts(path: string): string[] {
  const why = unusable(path)
  if (why !== undefined) throw new FileError('EINVAL', path, { detail: why })
  bytesOf(path)
  const parts: string[] = []
  for (const part of path.split(process.platform === 'win32' ? /[\\/]/ : '/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) throw new FileError('EXDEV', path)
  }
  return parts
}
