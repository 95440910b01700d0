/** write: a file that a tool writes, as a change set of its own: the bytes before and after are on the disk before the file changes. */
import type { Tree } from '../files/index.ts'
import type { PackWriter } from './durable.ts'
import { directoriesAbove } from './gate.ts'
import type { Records, SetEntry } from './records.ts'
import { sideAt, sideOfBytes } from './sides.ts'
import { type Maker, newSet, type SetLimits } from './take.ts'

/** The sets of a workspace, for who has its lock. */
export interface SetsAt {
  readonly records: Records
  readonly host: Tree
  /** Real path. */
  readonly workspace: string
  readonly limits: SetLimits
}

/** The whole content that a file is to have. */
export interface NewContent {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Writes by `write`, which gets the mode of a new file, and ends with the whole content there or throws. A set that a kill leaves half is undone. */
export async function recordWrite(
  at: SetsAt,
  content: NewContent,
  { maker, write }: { readonly maker: Maker; readonly write: (mode: number | undefined) => Promise<void> },
): Promise<void> {
  const { records, workspace, limits } = at
  const set = newSet(workspace, limits, maker)
  const { entry, pack } = await writeDown(at, set.id, content)
  await records.write(set, { entries: [...missingAbove(at.host, content.path), entry], pack })
  try {
    await write(entry.before ? undefined : entry.after?.mode)
  } catch (error) {
    records.remove(set.id)
    throw error
  }
  records.end(set)
}

/** The change, with both sides on the disk when this returns. */
async function writeDown(
  { records, host, limits }: SetsAt,
  id: string,
  { path, bytes }: NewContent,
): Promise<{ readonly entry: SetEntry; readonly pack: PackWriter }> {
  const pack = records.pack(id)
  try {
    const isKept = (host.entry(path)?.size ?? 0) <= limits.maxBytes
    const before = await sideAt(host, path, isKept ? { pack } : {})
    const after = await sideOfBytes(bytes, { pack, mode: before?.mode ?? 0o666 & ~process.umask() })
    const entry = { path, unit: path, verdict: 'applied', after } as const
    return { entry: before ? { ...entry, type: 'changed', before } : { ...entry, type: 'added' }, pack }
  } finally {
    await pack.finish()
  }
}

/** Directories that are made for a file, the outermost first. */
function missingAbove(host: Tree, path: string): SetEntry[] {
  const after = { kind: 'directory', mode: 0o755, size: 0, digest: '' } as const
  return directoriesAbove(path)
    .filter((directory) => host.entry(directory) === undefined)
    .map((directory) => ({ path: directory, unit: directory, type: 'added', verdict: 'applied', after }))
}
