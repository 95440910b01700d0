/** packages: a directory of installed packages in a copy of a workspace. Its files are the workspace's own, under names that commands may change. */
import { join } from 'node:path'
import type { Stats } from 'node:fs'
import { below, codeOf, type Met, type Owner, type Pace, Tree } from '../../files/index.ts'
import { type MirrorLimits, removeWhole } from './scan.ts'

/** A directory of packages, and the copy. */
interface Laying {
  readonly workspace: string
  readonly path: string
  readonly mirror: Tree
  /** Whom commands run as, another user than ours. */
  readonly owner: Owner
  /** Bounds of what cannot be linked. */
  readonly limits: MirrorLimits
  readonly pace: Pace
}

/** False when it is too large to be copied; nothing of it is there then. */
export async function layPackages({ workspace, path, mirror, owner, limits, pace }: Laying): Promise<boolean> {
  await removeWhole(mirror, path)
  const source = new Tree(join(workspace, path), { isReal: true })
  let [files, bytes] = [0, 0]
  const copy = async ({ path: from, name, directory }: Met, mode: number): Promise<void> => {
    files += 1
    bytes += directory.look(name)?.size ?? 0
    if (files > limits.maxFiles || bytes > limits.maxBytes) throw new TooLarge()
    await mirror.copyFrom(source, from, { to: below(path, from), mode: mode | 0o400, owner, pace, isStaged: true })
  }
  const lay = (met: Met): Promise<void> | void => {
    const { name, directory } = met
    const stats = directory.look(name)
    const to = below(path, met.path)
    if (stats?.isDirectory()) mirror.makeDirectory(to, { mode: (stats.mode & 0o777) | 0o700, owner })
    else if (stats?.isSymbolicLink()) mirror.makeLink(to, directory.linkText(name))
    else if (stats?.isFile()) {
      if (!isOthers(stats, owner)) return copy(met, stats.mode & 0o777)
      try {
        mirror.linkFrom(directory, name, to)
      } catch (error) {
        if (!['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP'].includes(codeOf(error))) throw error
        return copy(met, stats.mode & 0o777)
      }
    }
  }
  try {
    mirror.makeDirectory(path, { mode: 0o755, owner })
    await source.walk({ pace, visit: lay })
    return true
  } catch (error) {
    await removeWhole(mirror, path)
    if (error instanceof TooLarge) return false
    throw error
  } finally {
    source.close()
  }
}

class TooLarge extends Error {}

/** Whether the user of commands can read a file as its owner can, and change neither its bytes nor its mode. */
function isOthers({ mode, uid, gid }: Stats, owner: Owner): boolean {
  const reads = (mode & 0o004) !== 0 && (mode & 0o007) === ((mode >> 6) & 0o005)
  return reads && uid !== owner.uid && (gid !== owner.gid || (mode & 0o020) === 0)
}

/** Says of a directory whether it is another one, or has other names, than before. */
export function stateOf(tree: Tree, path: string): string {
  const found = tree.changeOf(path)
  return found ? `${found.inode}:${found.atNs}` : ''
}
