/** write: a file that a tool writes, as a change set of its own: the bytes before and after are on the disk before the file changes. */
import type { Tree } from '../files/index.ts'
import { directoriesAbove } from './gate.ts'
import type { Records, SetEntry, Side } from './records.ts'
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
  const { records, host, workspace, limits } = at
  const { path, bytes } = content
  const set = newSet(workspace, limits, maker)
  const pack = records.pack(set.id)
  let before: Side | undefined
  let after: Side
  try {
    const isKept = (host.entry(path)?.size ?? 0) <= limits.maxBytes
    before = await sideAt(host, path, isKept ? { pack } : {})
    after = await sideOfBytes(bytes, { pack, mode: before?.mode ?? 0o666 & ~process.umask() })
  } finally {
    await pack.finish()
  }
  const entry = { path, unit: path, verdict: 'applied', after } as const
  const change: SetEntry = before ? { ...entry, type: 'changed', before } : { ...entry, type: 'added' }
  await records.write(set, { entries: [...missingAbove(host, path), change], pack })
  try {
    await write(before ? undefined : after.mode)
  } catch (error) {
    records.remove(set.id)
    throw error
  }
  records.end(set)
}

/** Directories that are made for a file, the outermost first. */
function missingAbove(host: Tree, path: string): SetEntry[] {
  const after = { kind: 'directory', mode: 0o755, size: 0, digest: '' } as const
  return directoriesAbove(path)
    .filter((directory) => host.entry(directory) === undefined)
    .map((directory) => ({ path: directory, unit: directory, type: 'added', verdict: 'applied', after }))
}
