import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Change, type Rewritten } from '../../../skills/format/index.ts'
import { shellWord, toSafeLine, toSafeText, utf8Text } from '../../../kernel/index.ts'
import type { Terminal } from '../terminal.ts'
import { problem, readTarget, type Target } from './targets.ts'

type FileRewrite = Pick<Rewritten, 'changes' | 'diagnostics'>

/**
 * Rewrites a target's file: whole or not at all, in its own directory, never through a link, with its mode kept, and only when the file
 * is still the one that was read. `write: false` only gives what would change.
 */
export async function rewriteFile(
  target: Target,
  rewrite: (text: string) => Rewritten,
  { write, signal }: { write: boolean; signal: AbortSignal },
): Promise<FileRewrite> {
  const { shown: path, linkedTo } = target
  const file = join(target.directory, target.file)
  const before = lstatSync(file, { throwIfNoEntry: false })
  const bytes = await readTarget(target, signal)
  // Its file may belong to another skill.
  if (linkedTo !== undefined) {
    const message = 'the file was not written, because it is a link'
    const fix = `Name the file that it refers to: ${shellWord(linkedTo)}`
    return { changes: [], diagnostics: [{ code: 'write-failed', severity: 'warning', path, message, fix }] }
  }
  if (!(bytes instanceof Uint8Array)) return { changes: [], diagnostics: bytes }
  const text = utf8Text(bytes)
  if (text === undefined || before?.isFile() !== true) {
    const message = 'the file was not changed: it is a link, or its text is not UTF-8'
    const fix = 'Save it as a file in UTF-8.'
    return { changes: [], diagnostics: [problem('encoding-invalid', { path, message, fix })] }
  }
  const { text: now, changes, diagnostics } = rewrite(text)
  const failure = changes.length === 0 || !write ? undefined : replaceFile(file, now, before)
  if (failure === undefined) return { changes, diagnostics }
  const fix = 'Check the rights of its directory, then run the command again.'
  const found = problem('write-failed', { path, message: `the file was not written: ${failure}`, fix })
  return { changes: [], diagnostics: [...diagnostics, found] }
}

/** Writes beside the file and renames; the reason when it could not be done. */
function replaceFile(path: string, text: string, before: Stats): string | undefined {
  const part = `${path}.${randomBytes(6).toString('hex')}.part`
  try {
    const mode = before.mode & 0o777
    writeFileSync(part, text, { flag: 'wx', mode, flush: true })
    // The umask may have taken rights away.
    chmodSync(part, mode)
    const now = lstatSync(path, { throwIfNoEntry: false })
    const isSame =
      now?.isFile() === true && now.ino === before.ino && now.mtimeMs === before.mtimeMs && now.size === before.size
    if (!isSame) throw new Error('another program changed it meanwhile')
    renameSync(part, path)
    return undefined
  } catch (error) {
    rmSync(part, { force: true })
    return error instanceof Error ? error.message : String(error)
  }
}

/** For `--json`. */
export function changesData(changes: readonly Change[]) {
  return changes.map(({ line, was, now, why }) => ({ line, was, now: now ?? null, why }))
}

/** The changes of a file as people read a diff: what was, what is, and why. */
export function printChanges(shown: string, changes: readonly Change[], { line: print, paint }: Terminal): void {
  print(paint('bold', toSafeLine(shown)))
  for (const { line, was, now, why } of changes) {
    for (const [index, text] of was.split('\n').entries()) print(paint('red', `  - ${line + index} | ${visible(text)}`))
    for (const [index, text] of (now?.split('\n') ?? []).entries())
      print(paint('green', `  + ${line + index} | ${visible(text)}`))
    print(paint('dim', `    ${why}`))
  }
}

/** A line with its spaces, but without characters that hide or move text. */
function visible(line: string): string {
  return toSafeText(line).replace(/[\n\t]/g, '  ')
}
