import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { shellWord } from '../../kernel/index.ts'

/** Where and how this process was started. */
export interface Start {
  /** The script that Node runs. */
  readonly script: string
  /** The Node that runs it. */
  readonly node: string
  readonly cwd: string
  /** The variable PATH. */
  readonly path: string
}

/**
 * What a person types in this directory to start this program: `nexus` where PATH leads to it, `npx nexus` in a project that has it
 * and in a checkout, else `node` with its path. Every command that is printed begins with it.
 */
export function programName({ script, node, cwd, path }: Start): string {
  const own = realPath(script)
  // npm adds these directories for its scripts; the person's shell does not have them.
  const directories = path.split(delimiter).filter((each) => isAbsolute(each) && !each.endsWith('node_modules/.bin'))
  if (directories.some((directory) => realPath(join(directory, 'nexus')) === own)) return 'nexus'
  if (foundByNpx(cwd, own)) return 'npx nexus'
  const first = directories.map((directory) => join(directory, 'node')).find((file) => existsSync(file))
  const isFirst = first !== undefined && realPath(first) === realPath(node)
  return `${isFirst ? 'node' : shellWord(node)} ${shellWord(own)}`
}

/** True in the package itself, and where a package above the directory has it among its dependencies. */
function foundByNpx(directory: string, own: string): boolean {
  if (realPath(join(directory, 'node_modules/.bin/nexus')) === own) return true
  if (existsSync(join(directory, 'package.json'))) return own === join(realPath(directory), 'dist/cli/bin.cjs')
  const above = dirname(directory)
  return above !== directory && foundByNpx(above, own)
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // Not there: it leads to no program.
    return path
  }
}
