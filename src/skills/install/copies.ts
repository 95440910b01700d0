import { join } from 'node:path'
import type { Manifest } from '../../kernel/index.ts'
import { Tree } from '../../machine/files/index.ts'
import { readManifest, type ReadManifest } from '../../machine/skill-files/index.ts'
import type { PackedFile } from './found.ts'
import { type LockedSkill, lockedFiles } from './lock-file.ts'
import type { Scope } from './scope.ts'

/** The files at a place; undefined when nothing is there. Throws as `readManifest`. */
export async function copyAt({ root }: Pick<Scope, 'root'>, place: string): Promise<ReadManifest | undefined> {
  try {
    return await readManifest(join(root, place))
  } catch (error) {
    if ((error as { code?: string }).code === 'FILE_NOT_FOUND') return undefined
    throw error
  }
}

/** One file that is not as the lock has it. */
export interface Drift {
  readonly path: string
  readonly change: 'changed' | 'missing' | 'added'
}

/** How a copy differs from its entry in the lock, by path. All files of a copy that is not there are missing. */
export function driftOf(
  { files }: Pick<LockedSkill, 'files'>,
  there: Pick<Manifest, 'files'> = { files: [] },
): readonly Drift[] {
  const now = lockedFiles(there)
  const drift = Object.keys(files).flatMap((path): Drift[] => {
    if (!Object.hasOwn(now, path)) return [{ path, change: 'missing' }]
    return now[path] === files[path] ? [] : [{ path, change: 'changed' }]
  })
  const added = Object.keys(now).filter((path) => !Object.hasOwn(files, path))
  return [...drift, ...added.map((path): Drift => ({ path, change: 'added' }))]
}

/** The files of a copy, whole. */
export async function filesAt(scope: Pick<Scope, 'root'>, place: string): Promise<PackedFile[]> {
  using tree = new Tree(scope.root)
  const files: PackedFile[] = []
  for (const { path, executable, size } of (await copyAt(scope, place))?.files ?? [])
    files.push({ path, executable, bytes: (await tree.read(`${place}/${path}`, { maxBytes: size + 1 })).bytes })
  return files
}

/** Writes the files of a skill into a directory that is not there yet. */
export async function writeFiles(tree: Tree, directory: string, files: readonly PackedFile[]): Promise<void> {
  tree.makeDirectory(directory, { mode: 0o755 })
  const made = new Set([directory])
  for (const { path, bytes, executable } of files) {
    const file = `${directory}/${path}`
    const parent = file.slice(0, file.lastIndexOf('/'))
    // To look for parents costs as much as to write a small file.
    const makesParents = !made.has(parent)
    await tree.write(file, { bytes, mode: executable ? 0o755 : 0o644, isStaged: true, makesParents })
    made.add(parent)
  }
}
