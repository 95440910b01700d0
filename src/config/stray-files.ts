/** stray-files: configuration files that Nexus does not read. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostic, shellWord } from '../kernel/index.ts'
import type { LoadedConfig } from './config.ts'
import { realPath } from './home.ts'
import { FILES, type Message } from './messages.ts'
import { ancestors, isInside } from './workspace.ts'

/** Other names that people give to a nexus.yaml. */
const MISNAMED = ['nexus.yml', 'Nexus.yaml', '.nexus.yaml']

/** Looks beside the files that are read: from `cwd` up to the workspace, in its `.nexus`, and in the user's directory. */
export function findStrayFiles(
  { directory, marker }: Pick<LoadedConfig['workspace'], 'directory' | 'marker'>,
  { cwd, nexusHome, read }: { readonly cwd: string; readonly nexusHome: string; readonly read: readonly string[] },
): Diagnostic[] {
  const known = new Set(read.map(realPath))
  // Without a marker, a file of another name may be why there is none.
  const between = ancestors(realPath(cwd)).filter((above) => marker === undefined || isInside(directory, above))
  const places = [...new Set([...between, join(directory, '.nexus'), nexusHome])]
  const misnamed = places.flatMap((place) => MISNAMED.map((name) => ({ path: join(place, name), place })))
  const second = join(directory, '.nexus', 'nexus.yaml')
  return [
    ...misnamed
      .filter(({ path }) => isFile(path) && !isRead(path, known))
      .map(({ path, place }) => notRead(FILES.misnamed, path, join(place, 'nexus.yaml'))),
    ...(isFile(second) && !isRead(second, known)
      ? [notRead(FILES.misplaced, second, join(directory, 'nexus.yaml'))]
      : []),
  ]
}

/** Where file names fold, `Nexus.yaml` is the file that was read. */
function isRead(path: string, known: ReadonlySet<string>): boolean {
  return known.has(realPath(path))
}

function notRead(message: typeof FILES.misnamed, path: string, right: string): Diagnostic {
  const words: Message = message({ path: shellWord(path), right: shellWord(right), hasRight: isFile(right) })
  return { severity: 'warning', path, ...words }
}

function isFile(path: string): boolean {
  try {
    return !lstatSync(path).isDirectory()
  } catch {
    // Not there, or not for us to see.
    return false
  }
}
