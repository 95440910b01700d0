import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Change, type Rewritten } from '../../../skills/format/index.ts'
import { type Diagnostic, shellWord, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import type { Terminal } from '../terminal.ts'
import { readTarget, type Target } from './targets.ts'

/** What a rewrite did to one file. */
export interface FileRewrite {
  readonly changes: readonly Change[]
  readonly diagnostics: readonly Diagnostic[]
  /** The text that is in the file now, or would be. */
  readonly text: string
}

/**
 * Rewrites a target's file: whole or not at all, in its own directory, never through a link, with its mode kept, and only when the file
 * is still the one that was read. `write: false` only says what would change. Undefined when the file cannot be read as UTF-8 text.
 */
export async function rewriteFile(
  target: Target,
  rewrite: (text: string) => Rewritten,
  { write, signal }: { write: boolean; signal: AbortSignal },
): Promise<FileRewrite | undefined> {
  const path = join(target.directory, target.file)
  const before = lstatSync(path, { throwIfNoEntry: false })
  const bytes = await readTarget(target, signal)
  const text = bytes instanceof Uint8Array ? asText(bytes) : undefined
  if (text === undefined || before?.isFile() !== true) return undefined
  const { text: now, changes, diagnostics } = rewrite(text)
  if (changes.length === 0 || !write) return { text: now, changes, diagnostics }
  const failure = replaceFile(path, now, before)
  if (failure === undefined) return { text: now, changes, diagnostics }
  const problem: Diagnostic = {
    code: 'write-failed',
    severity: 'error',
    path: target.shown,
    message: `the file was not written: ${failure}`,
    fix: 'Check the rights of its directory, then run the command again.',
  }
  return { text, changes: [], diagnostics: [...diagnostics, problem] }
}

/** A link is left as it is: its file may belong to another skill. */
export function notWritten(target: Target): readonly Diagnostic[] {
  const { linkedTo, shown } = target
  if (linkedTo === undefined) return []
  return [
    {
      code: 'write-failed',
      severity: 'warning',
      path: shown,
      message: 'the file was not written, because it is a link',
      fix: `Name the file that it refers to: ${shellWord(linkedTo)}`,
    },
  ]
}

/** UTF-8 text with its byte order mark, or undefined: other bytes would not survive being written. */
function asText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Not UTF-8; the check reports it.
    return undefined
  }
}

/** Writes beside the file and renames; the reason when it could not be done. */
function replaceFile(path: string, text: string, before: Stats): string | undefined {
  const part = `${path}.${randomBytes(6).toString('hex')}.part`
  try {
    const mode = before.mode & 0o777
    writeFileSync(part, text, { flag: 'wx', mode, flush: true })
    // What the umask took away.
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

/** The changes of a file as people read a diff: what was, what is, and why. */
export function printChanges(shown: string, changes: readonly Change[], terminal: Terminal): void {
  terminal.line(terminal.paint('bold', toSafeLine(shown)))
  for (const { line, was, now, why } of changes) {
    was
      .split('\n')
      .forEach((text, index) => terminal.line(terminal.paint('red', `  - ${line + index} | ${visible(text)}`)))
    now
      ?.split('\n')
      .forEach((text, index) => terminal.line(terminal.paint('green', `  + ${line + index} | ${visible(text)}`)))
    terminal.line(terminal.paint('dim', `    ${why}`))
  }
}

/** A line with its spaces, but without characters that hide or move text. */
function visible(line: string): string {
  return toSafeText(line).replace(/[\n\t]/g, '  ')
}
