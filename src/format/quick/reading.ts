import { type Diagnostic, hasErrors } from '../../kernel/index.ts'
import { type DocumentHead, readHead } from '../document.ts'
import type { Frontmatter } from '../front.ts'
import { createReport } from '../report.ts'
import type { FileText } from '../text.ts'
import { scannedFrontmatter } from './front.ts'
import { Scanner } from './scan.ts'

/** Larger frontmatters are read by the full parser. */
const MAX_BYTES = 16_384
const OPENER = /^---[ \t]*\r?\n/
/** The line that ends a frontmatter, from the line end before it. */
const CLOSER = /^\n---[ \t]*(?:\r?\n|$)/

/** What reading a file gives, without its body. */
export interface QuickReading {
  readonly head: DocumentHead
  readonly diagnostics: readonly Diagnostic[]
  /** Where things are. Good until the next file is read. */
  readonly front: Frontmatter
  /** The start of the body, in bytes. */
  readonly bodyFrom: number
}

/** The reading of `parseSkill` for frontmatters that the scanner takes, that give a description and no error; undefined for others. */
export type QuickReader = (
  file: FileText,
  options: { readonly path: string; readonly directoryName?: string },
) => QuickReading | undefined

/** Not for two readings at once. */
export function createQuickReader(): QuickReader {
  const scanner = new Scanner()
  // The scanner writes a NUL after the text, so it gets a copy.
  const copy = Buffer.alloc(MAX_BYTES + 1)
  return ({ bytes, latin1 }, { path, directoryName }) => {
    const from = OPENER.exec(latin1)?.[0].length ?? 0
    const close = from === 0 ? -1 : latin1.indexOf('\n---', from - 1)
    const size = close + 1 - from
    if (close < 0 || size > MAX_BYTES) return undefined
    const closer = CLOSER.exec(latin1.slice(close))
    if (closer === null) return undefined
    bytes.copy(copy, 0, from, close + 1)
    if (!scanner.scan(copy, { start: 0, end: size, until: 'end', isWhole: true })) return undefined
    const front = scannedFrontmatter(scanner, { start: 0, firstLine: 2 })
    const report = createReport(path)
    const head = readHead(front, { directoryName, report })
    // What to say about a missing one depends on the body.
    if (head.description === undefined || hasErrors(report.diagnostics)) return undefined
    return { head, diagnostics: report.diagnostics, front, bodyFrom: close + closer[0].length }
  }
}
