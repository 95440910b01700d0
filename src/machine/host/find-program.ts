import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** Not the caller's PATH: a directory that a user can write to must not decide which program gets our rights. */
export const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The path of a program, or why none is used: by absolute path, or by a name in the system's directories. */
export function findProgram(name: string): { readonly path: string } | { readonly why: string } {
  const directories = name.includes('/') ? [] : SYSTEM_PATH
  for (const path of isAbsolute(name) ? [name] : directories.map((directory) => join(directory, name))) {
    try {
      accessSync(path, constants.X_OK)
      const stats = statSync(path)
      if (!stats.isFile()) continue
      // It must not be given our rights.
      return (stats.mode & 0o002) === 0 ? { path } : { why: 'is a program that anyone can change' }
    } catch {
      // Not there, or not executable: the next directory may have it.
    }
  }
  return { why: isAbsolute(name) ? 'is not an executable file' : `is not in ${SYSTEM_PATH.join(', ')}` }
}

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
