/** dependencies: directories of installed packages. Commands read them where they are; they are not copied. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createGate, type Surroundings } from '../../changes/index.ts'
import type { Owner, Tree } from '../../files/index.ts'

/** Each is a mount of its own; what is more is copied. */
const MAX_BOUND = 64

/** How a workspace is read for one command. */
export interface BindOptions {
  readonly host: Tree
  readonly workspace: string
  /** Whom commands run as; undefined when that is ourselves. */
  readonly owner: Owner | undefined
  /** Names that commands may change, which are copied. */
  readonly opened: Surroundings['opened']
}

/** Says of each directory whether its content is not copied, and collects those. */
export function findDependencies({ host, workspace, owner, opened }: BindOptions): {
  readonly bound: string[]
  readonly take: (path: string) => boolean
} {
  const bound: string[] = []
  const has = (path: string): boolean => host.entry(path) !== undefined
  const judge = createGate({ before: has, after: has, never: new Set(), named: new Set(), opened })
  const isUnit = (path: string): boolean => {
    const { verdict, unit, reason } = judge({ path, type: 'changed', kind: 'directory' })
    // A cache has no reason, and stays small.
    return verdict === 'beside' && unit === path && reason !== undefined
  }
  const take = (path: string): boolean => {
    // Arguments of programs are text.
    const isBound =
      bound.length < MAX_BOUND && isUnit(path) && path.isWellFormed() && isReadable(join(workspace, path), owner)
    if (isBound) bound.push(path)
    return isBound
  }
  return { bound, take }
}

/** Whether the user of commands can list a directory where it is. Another user than we are gets only what everybody gets. */
function isReadable(path: string, owner: Owner | undefined): boolean {
  try {
    if (!owner) {
      accessSync(path, constants.R_OK | constants.X_OK)
      return true
    }
    for (let at = path; ; at = dirname(at)) {
      const needed = at === path ? 0o005 : 0o001
      if ((statSync(at).mode & needed) !== needed) return false
      if (at === '/') return true
    }
  } catch {
    // It vanished, or we may not look: then it is handled as any other directory.
    return false
  }
}
