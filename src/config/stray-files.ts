/** stray-files: configuration files that Nexus does not read. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostic, shellWord } from '../kernel/index.ts'
import type { LoadedConfig } from './config.ts'
import { realPath } from './home.ts'
import { ancestors, isInside } from './workspace.ts'

/** Other names that people give to a nexus.yaml. */
const MISNAMED = ['nexus.yml', 'Nexus.yaml', '.nexus.yaml']

/** Looks beside the files that are read: from `cwd` up to the workspace, in its `.nexus`, and in the user's directory. */
export function findStrayFiles(
  { directory, marker }: Pick<LoadedConfig['workspace'], 'directory' | 'marker'>,
  { cwd, nexusHome, read }: { readonly cwd: string; readonly nexusHome: string; readonly read: readonly string[] },
): Diagnostic[] {
  // Where file names fold, `Nexus.yaml` is the file that was read.
  const known = new Set(read.map(realPath))
  // Without a marker, a file of another name may be why there is none.
  const between = ancestors(realPath(cwd)).filter((above) => marker === undefined || isInside(directory, above))
  const places = [...new Set([...between, join(directory, '.nexus'), nexusHome])]
  const misnamed = places.flatMap((place) => MISNAMED.map((name) => [join(place, name), join(place, 'nexus.yaml')]))
  const all = [...misnamed, [join(directory, '.nexus', 'nexus.yaml'), join(directory, 'nexus.yaml')]]
  return all.flatMap(([path = '', right = '']) =>
    isFile(path) && !known.has(realPath(path)) ? [notRead(path, right)] : [],
  )
}

function notRead(path: string, right: string): Diagnostic {
  const typed = shellWord(right)
  const fix = isFile(right) ? `Move its settings to ${typed}. Then remove it.` : `Type: mv ${shellWord(path)} ${typed}`
  const message =
    'Nexus does not read this file. A configuration is named nexus.yaml, and that of a workspace is beside .nexus.'
  return { code: 'config-not-read', severity: 'warning', path, message, fix }
}

function isFile(path: string): boolean {
  try {
    return !lstatSync(path).isDirectory()
  } catch {
    // Not there, or not for us to see.
    return false
  }
}
