/** package-root: where this package is installed. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The directory that holds this package's package.json, whether run from source, from `dist` or from a bundle. */
export function packageRoot(): string {
  let directory = import.meta.dirname
  while (!existsSync(join(directory, 'package.json')) && dirname(directory) !== directory)
    directory = dirname(directory)
  return directory
}
