import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { SYSTEM_PATH } from './system-path.ts'

export type FoundProgram =
  | { readonly type: 'found'; readonly path: string }
  | { readonly type: 'refused'; readonly why: string }

/** By absolute path, or by a name in the system's directories. A program that anyone can change must not be given our rights. */
export async function findProgram(name: string): Promise<FoundProgram> {
  const directories = name.includes('/') ? [] : SYSTEM_PATH
  for (const path of isAbsolute(name) ? [name] : directories.map((directory) => join(directory, name))) {
    try {
      await access(path, constants.X_OK)
      const real = await realpath(path)
      const { mode } = await stat(real)
      if ((mode & 0o170000) !== 0o100000) continue
      if ((mode & 0o002) !== 0) return { type: 'refused', why: 'is a program that anyone can change' }
      return { type: 'found', path }
    } catch {
      // Not there, or not executable: the next directory may have it.
    }
  }
  const where = isAbsolute(name) ? 'is not an executable file' : `is not in ${SYSTEM_PATH.join(', ')}`
  return { type: 'refused', why: where }
}
