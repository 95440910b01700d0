import type { SkillMetadata } from '../../kernel/index.ts'
import { type DocumentHead, readHead } from '../document.ts'
import { mayHide } from '../fields/description.ts'
import { readMetadata } from '../fields/metadata.ts'
import { isCleanName } from '../fields/name.ts'
import { trimText } from '../fields/text.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { createReport } from '../report.ts'
import type { Diagnostic } from '../../kernel/index.ts'
import { CR, DASH, LF, SPACE } from './bytes.ts'
import { scannedFrontmatter } from './front.ts'
import { hasOnlyText, influenceOf, INFLUENCE } from './influence.ts'
import { KIND } from './nodes.ts'
import { Scanner } from './scan.ts'
import { textOf } from './values.ts'

/** The first line of a file, before any frontmatter that is read quickly. */
const LINES_BEFORE = 2

/** The beginning of a file in a larger buffer. */
export interface HeadRange {
  readonly start: number
  readonly end: number
  /** False when the file goes on after `end`. */
  readonly isWhole: boolean
}

/** What can be said at a glance. `from` and `to` are the bytes of the frontmatter between its markers. */
export interface QuickHead {
  readonly name: string
  readonly description: string
  readonly from: number
  readonly to: number
  /** True when nothing in it gates the skill, and nothing changes how it is invoked. */
  readonly isUngated: boolean
  /** True when there is nothing to report about it. */
  readonly isClean: boolean
}

/** Which bytes hold a frontmatter, and what diagnostics call the file. */
export interface HeadSource {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
  readonly path: string
  readonly directoryName: string
}

/**
 * Reads frontmatters in raw bytes without the YAML library. What `glance` accepts, `parseSkill` reads as the same document, and reports
 * no error about; everything else is undefined and must go to `parseSkill`. Not for two readings at once.
 */
export interface HeadReader {
  glance(bytes: Buffer, range: HeadRange, directoryName: string): QuickHead | undefined
  /** The whole reading of what was accepted before. */
  read(source: HeadSource): { readonly head: DocumentHead; readonly diagnostics: readonly Diagnostic[] }
  /** Only the gating part of it. */
  readMetadata(source: HeadSource): SkillMetadata
}

export function createHeadReader(): HeadReader {
  const scanner = new Scanner()
  const again = ({ bytes, from, to }: HeadSource): ReturnType<typeof scannedFrontmatter> => {
    if (!scanner.scan(bytes, { start: from, end: to, until: 'end', isWhole: true }))
      throw new Error('the bytes have changed')
    return scannedFrontmatter(scanner, { start: from, firstLine: LINES_BEFORE })
  }
  return {
    glance: (bytes, range, directoryName) => glance(scanner, bytes, { ...range, directoryName }),
    read(source) {
      const report = createReport(source.path)
      const head = readHead(again(source), { directoryName: source.directoryName, report })
      return { head, diagnostics: report.diagnostics }
    },
    readMetadata: (source) => readMetadata(again(source), createReport(source.path)),
  }
}

function glance(
  scanner: Scanner,
  bytes: Buffer,
  { start, end, isWhole, directoryName }: HeadRange & { readonly directoryName: string },
): QuickHead | undefined {
  const from = afterOpener(bytes, start, end)
  if (from < 0 || !scanner.scan(bytes, { start: from, end, until: 'line', isWhole })) return undefined
  const { nodes } = scanner
  let name: string | undefined
  let description: string | undefined
  let influence = 0
  for (let node = 1; node < nodes.count; node = nodes.next(node)) {
    const found = influenceOf(scanner, node)
    influence |= found
    if (found & INFLUENCE.name) name = plainText(scanner, node)
    if (found & INFLUENCE.description) description = plainText(scanner, node)
  }
  // A missing name or description has findings and fallbacks of its own.
  if (!name || !description) return undefined
  const isUngated = (influence & INFLUENCE.gates) === 0
  const isClean = (influence & INFLUENCE.findings) === 0 && name === directoryName && isCleanName(name)
  return {
    name,
    description,
    from,
    to: scanner.end,
    isUngated,
    isClean: isClean && isPlain(description, scanner.isWide),
  }
}

/** True for a description that nothing can be said about. */
function isPlain(description: string, isWide: boolean): boolean {
  return description.length <= FORMAT_LIMITS.maxDescriptionLength && !(isWide && mayHide(description))
}

/** The offset after a first line of three dashes, or -1. */
function afterOpener(bytes: Buffer, start: number, end: number): number {
  if (end - start < 8 || bytes[start] !== DASH || bytes[start + 1] !== DASH || bytes[start + 2] !== DASH) return -1
  let at = start + 3
  while (bytes[at] === SPACE && at < end) at++
  if (bytes[at] === LF) return at + 1
  return bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : -1
}

/** The trimmed text of a scalar that is text; else undefined. */
function plainText(scanner: Scanner, node: number): string | undefined {
  const kind = scanner.nodes.kind(node)
  if (kind === KIND.plain) return textOf(scanner, node)
  return hasOnlyText(kind) ? trimText(textOf(scanner, node)) : undefined
}
