import { dirname, resolve } from 'node:path'
import { errorCode } from './failures.ts'

/** The two functions of `node:fs` that are needed; the kernel itself touches no disk. */
interface DirectoryMaker {
  mkdirSync(path: string, options: { readonly mode?: number }): unknown
  statSync(path: string): { isDirectory(): boolean }
  /** Mode of new directories; default 777 without the process' umask. */
  readonly mode?: number
}

/**
 * Makes a directory and those above it that are missing; returns the uppermost new one, or undefined when all were there.
 * Throws the file system's own error. Node's `recursive: true` is not used: Node 24 never returns from it for `/proc/x`.
 */
export function makeDirectory(path: string, disk: DirectoryMaker): string | undefined {
  const at = resolve(path)
  try {
    return makeOne(at, disk) ? at : undefined
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || at === dirname(at)) throw error
  }
  const first = makeDirectory(dirname(at), disk)
  return makeOne(at, disk) ? (first ?? at) : first
}

/** False when it is there. */
function makeOne(path: string, disk: DirectoryMaker): boolean {
  try {
    disk.mkdirSync(path, { mode: disk.mode })
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && disk.statSync(path).isDirectory()) return false
    throw error
  }
}
