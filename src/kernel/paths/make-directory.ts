import { dirname, resolve } from 'node:path'
import { errorCode } from '../failures.ts'

/** The two functions of `node:fs` that are needed; the kernel itself touches no disk. */
export interface DirectoryMaker {
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
  const options = disk.mode === undefined ? {} : { mode: disk.mode }
  const missing: string[] = []
  let first: string | undefined
  for (let at = resolve(path); ; at = dirname(at)) {
    const made = tryMake(at, { disk, options })
    if (made === 'made') first = at
    if (made !== 'no-parent') break
    missing.push(at)
  }
  for (const at of missing.toReversed()) {
    if (tryMake(at, { disk, options, hasParent: true }) === 'made') first ??= at
  }
  return first
}

function tryMake(
  path: string,
  how: { disk: DirectoryMaker; options: { mode?: number }; hasParent?: boolean },
): 'made' | 'there' | 'no-parent' {
  try {
    how.disk.mkdirSync(path, how.options)
    return 'made'
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EEXIST' && how.disk.statSync(path).isDirectory()) return 'there'
    if (code === 'ENOENT' && how.hasParent !== true && path !== dirname(path)) return 'no-parent'
    throw error
  }
}
