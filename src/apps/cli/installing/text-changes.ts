/** text-changes: the changed lines of a copy that a plan replaces. */
import { join } from 'node:path'
import { toSafeLine } from '../../../kernel/index.ts'
import { Tree } from '../../../machine/files/index.ts'
import type { PlannedSkill, Scope } from '../../../skills/install/index.ts'
import type { Invocation } from '../command.ts'
import { INSTALL_WORDS } from './words.ts'

/** Lines of one skill; `--dry-run` has no limit. */
const MAX_LINES = 120
const MAX_BYTES = 256 * 1024

/** Prints the diff of every changed text, by the copy that is there, edits too. */
export async function showChanges(
  { place, changes, package: packed }: PlannedSkill,
  { root }: Pick<Scope, 'root'>,
  { terminal, flags }: Invocation,
): Promise<void> {
  const { printDiff } = await import('../show/diff.ts')
  const room = flags['dry-run'] === true ? Number.POSITIVE_INFINITY : MAX_LINES
  let lines = 0
  const line = (text = ''): void => {
    lines += 1
    if (lines <= room) terminal.note(`      ${text}`)
  }
  const tree = new Tree(join(root, place))
  try {
    for (const { path, change } of changes) {
      const after = textOf(packed.files.find((file) => file.path === path)?.bytes)
      if (change !== 'changed' || after === undefined) continue
      if ((tree.entry(path)?.size ?? 0) > MAX_BYTES) continue
      const before = textOf((await tree.read(path, { maxBytes: MAX_BYTES })).bytes)
      if (before !== undefined && before !== after)
        printDiff({ before, after }, toSafeLine(path), { line, paint: terminal.paintNote })
    }
  } finally {
    tree.close()
  }
  if (lines > room) terminal.note(INSTALL_WORDS.moreLines(lines - room))
}

/** Undefined for large files and those that are no text. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes || bytes.length > MAX_BYTES || bytes.includes(0)) return undefined
  return new TextDecoder().decode(bytes)
}
