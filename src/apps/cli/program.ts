import { existsSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { realPath } from '../../config/index.ts'

export interface Start {
  /** The script that Node runs. */
  readonly script: string
  readonly cwd: string
  readonly path: string
}

/**
 * The name before every command that is printed: `npx nexus` in a project that has it and in a checkout, else `nexus`, which is easier to
 * read than the paths of Node and the script, and works once the package is installed.
 */
export function programName({ script, cwd, path }: Start): string {
  const own = realPath(script)
  // npm adds these directories for its scripts; the person's shell does not have them.
  const directories = path.split(delimiter).filter((each) => isAbsolute(each) && !each.endsWith('node_modules/.bin'))
  if (directories.some((directory) => realPath(join(directory, 'nexus')) === own)) return 'nexus'
  return foundByNpx(cwd, own) ? 'npx nexus' : 'nexus'
}

/** True in the package itself, and where a package above the directory has it among its dependencies. */
function foundByNpx(directory: string, own: string): boolean {
  if (realPath(join(directory, 'node_modules/.bin/nexus')) === own) return true
  if (existsSync(join(directory, 'package.json'))) return own === join(realPath(directory), 'dist/cli/bin.cjs')
  const above = dirname(directory)
  return above !== directory && foundByNpx(above, own)
}
