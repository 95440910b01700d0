import type { Edit } from '../../../kernel/index.ts'
import type { FormatFound } from '../report.ts'

/** One change of a text that is not YAML, without which it was not read. Lines and columns count from 1 in the YAML text. */
export interface Repair {
  readonly found: FormatFound
  readonly key: string
  readonly line: number
  readonly column: number
  /** Writes the value as it was read; undefined where no machine should. */
  readonly edit?: Edit
}

/** A text with as many lines as before, and what was changed in it. */
export interface Repaired {
  readonly text: string
  readonly repairs: readonly Repair[]
}

/** A top-level key with the lines that belong to it. */
export interface Entry {
  readonly key: string
  /** Index of its first line. */
  readonly line: number
  /** Length of the first line up to the value. */
  readonly head: number
  readonly lines: readonly string[]
}

const KEY_LINE = /^(?:([A-Za-z_][\w.-]*)|"([^"\\]+)"|'([^']+)')[ \t]*:(?:[ \t]+|$)/

/**
 * Entries begin at column 1; indented and blank lines below belong to them, blank ones at the end do not. So do lines
 * that begin with a closing bracket, when the value begins with an opening one.
 */
export function topLevelEntries(lines: readonly string[]): Entry[] {
  const entries: Entry[] = []
  let current: { key: string; line: number; head: number; lines: string[] } | undefined
  let value = ''
  lines.forEach((line, index) => {
    const match = KEY_LINE.exec(line)
    if (match) {
      current = { key: match[1] ?? match[2] ?? match[3] ?? '', line: index, head: match[0].length, lines: [line] }
      value = line.slice(match[0].length).trim()
      entries.push(current)
    } else if (/^[ \t]|^$/.test(line) || (/^[}\]]/.test(line) && /^[{[]/.test(value))) {
      value ||= line.trim()
      current?.lines.push(line)
    } else {
      current = undefined
    }
  })
  for (const entry of entries) {
    const own = entry.lines as string[]
    while (own.length > 1 && own[own.length - 1]?.trim() === '') own.pop()
  }
  return entries
}

/** Other text for whole lines; `from` is the index of the first, `before` the text that has the old ones. */
export function lineEdit(before: readonly string[], from: number, now: readonly string[]): Edit {
  const last = from + now.length - 1
  return {
    start: { line: from + 1, column: 1 },
    end: { line: last + 1, column: (before[last] ?? '').length + 1 },
    text: now.join('\n'),
  }
}
