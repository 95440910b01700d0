import { isAscii } from 'node:buffer'
import { type Diagnostic, hasErrors, type SkillDocument } from '../../kernel/index.ts'
import { readHead } from './document.ts'
import type { Frontmatter } from './front.ts'
import { readFrontmatter } from './frontmatter.ts'
import { FORMAT_LIMITS } from './limits.ts'
import { createReport, type Report } from './report.ts'
import { splitFrontmatter } from './split.ts'
import { asBuffer, readText } from './text.ts'

export interface ParseOptions {
  /** The path that diagnostics name; never opened. */
  readonly path: string
  /** Name of the skill's directory, to compare with the name; without it the two are not compared. */
  readonly directoryName?: string
  /** Default 1 MiB. */
  readonly maxBytes?: number
}

/** `document` is undefined exactly when a diagnostic is an error. */
export interface ParsedSkill {
  readonly document: SkillDocument | undefined
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Reads a SKILL.md leniently: whatever can be understood loads, and every deviation is a coded diagnostic with its line and fix.
 * Never throws, on any input. A document without description is still returned; the gate holds it. Source: decisions, "strictness".
 */
export function parseSkill(input: string | Uint8Array, options: ParseOptions): ParsedSkill {
  const { document, diagnostics } = readSkill(input, options)
  return { document, diagnostics }
}

/** A parsed skill with the places of its parts; `source` is there when `document` is. */
export interface SkillReading extends ParsedSkill {
  readonly source?: { readonly text: string; readonly front: Frontmatter }
}

/** Never throws, like `parseSkill`. */
export function readSkill(input: string | Uint8Array, options: ParseOptions): SkillReading {
  const report = createReport(options.path)
  const { diagnostics } = report
  try {
    const read = parse(input, options, report)
    if (read === undefined || hasErrors(diagnostics)) return { document: undefined, diagnostics }
    const { document, ...source } = read
    return { document, diagnostics, source }
  } catch (error) {
    // The promise "never throws" holds even for a fault of ours or of the YAML library.
    report.add('parser-failed', {}, error instanceof Error ? error.message : String(error))
    return { document: undefined, diagnostics }
  }
}

/** The bytes of the frontmatter with line ends of \n. Nearly all are ASCII and the same as in the file. */
function frontmatterBytes(
  input: string | Uint8Array,
  { text, yaml, start }: { readonly text: string; readonly yaml: string; readonly start: number },
): Buffer {
  const isInInput = typeof input !== 'string' && isAscii(input) && text.startsWith(yaml, start)
  return isInInput ? asBuffer(input).subarray(start, start + yaml.length) : Buffer.from(yaml, 'utf8')
}

interface Read {
  readonly document: SkillDocument
  readonly text: string
  readonly front: Frontmatter
}

function parse(input: string | Uint8Array, options: ParseOptions, report: Report): Read | undefined {
  const text = readText(input, report, options.maxBytes ?? FORMAT_LIMITS.maxFileBytes)
  if (text === undefined) return undefined
  const split = splitFrontmatter(text, options.directoryName)
  if (split.kind !== 'found') {
    report.addFound(split.found, split)
    return undefined
  }
  const { yaml, firstLine, body } = split
  if (split.blankLines > 0) {
    const start = { line: 1, column: 1 }
    const edit = { start, end: { line: split.blankLines + 1, column: 1 }, text: '' }
    report.add('leading-blank-lines', { ...start, edit })
  }
  if (split.closedByDots) {
    const line = firstLine + yaml.split('\n').length - 1
    const edit = { start: { line, column: 1 }, end: { line, column: 4 }, text: '---' }
    report.add('frontmatter-closed-by-dots', { ...edit.start, edit })
  }
  if (split.loneCr) report.add('line-ends-cr', { line: 1, column: 1 })
  const bytes = frontmatterBytes(input, { text, ...split })
  if (bytes.length > FORMAT_LIMITS.maxFrontmatterBytes) {
    report.add('frontmatter-too-large', { line: firstLine, column: 1 }, bytes.length, FORMAT_LIMITS.maxFrontmatterBytes)
    return undefined
  }
  // A copy: substrings of the whole text would keep the body in memory for as long as a name lives.
  const front = readFrontmatter(bytes.toString(bytes.length === yaml.length ? 'latin1' : 'utf8'), firstLine, report)
  if (front === undefined) return undefined
  const document = { ...readHead(front, options.directoryName, report), body }
  return { document, text, front }
}
