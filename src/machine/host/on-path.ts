import { realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { findProgram, SYSTEM_PATH } from './find-program.ts'

/** The directories of a PATH by which a program may be found: absolute, and not below a directory that agents write to. The system's come last. */
export function safePath(path: string, without: string): string {
  const directories = path.split(':').filter((directory) => isAbsolute(directory) && !isBelow(directory, without))
  return [...new Set([...directories, ...SYSTEM_PATH])].join(':')
}

function isBelow(directory: string, above: string): boolean {
  try {
    return `${realpathSync(directory)}/`.startsWith(`${above}/`)
  } catch {
    // Nothing is there.
    return true
  }
}

/** The path of a program by its name on such a PATH, or why none is used. */
export function findOnPath(name: string, path: string): { readonly path: string } | { readonly why: string } {
  for (const directory of path.split(':')) {
    const found = findProgram(join(directory, name))
    if ('path' in found) return found
  }
  return { why: `${name} is not on the PATH` }
}
