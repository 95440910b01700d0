import type { SkillMetadata } from '../../kernel/index.ts'
import { type DocumentHead, readHead } from '../document.ts'
import { mayHide } from '../fields/description.ts'
import { readMetadata } from '../fields/metadata.ts'
import { isCleanName } from '../fields/name.ts'
import { trimText } from '../fields/text.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { parseSkill } from '../parse.ts'
import { createReport, type Report } from '../report.ts'
import type { Diagnostic } from '../../kernel/index.ts'
import { CR, DASH, LF, SPACE } from './bytes.ts'
import { Glance } from '../glance/glance.ts'
import { GatesGlance, GlancedMetadata } from '../glance/metadata.ts'
import { Roles } from '../glance/roles.ts'
import { scannedFrontmatter } from './front.ts'
import { hasOnlyText, influenceOf, INFLUENCE } from './influence.ts'
import { readPlainMetadata } from './metadata.ts'
import { KIND } from './nodes.ts'
import { Scanner } from './scan.ts'
import { folded, literal, textOf } from './values.ts'

/** The first line of a file, before any frontmatter that is read quickly. */
const LINES_BEFORE = 2

/** Most frontmatters end within so many bytes. Keys of more are faults, which a glance does not see. */
const GLANCED_BYTES = 1_024
/** The closing line with its blanks and its end; with more blanks it is left to the scanner. */
const CLOSE_BYTES = 64

/** For a reading whose findings are told by another. */
const UNHEARD: Report = Object.freeze({ add: () => undefined, diagnostics: [] })

/** The beginning of a file in a larger buffer. */
export interface HeadRange {
  readonly start: number
  readonly end: number
  /** False when the file goes on after `end`. */
  readonly isWhole: boolean
}

/** What can be said at a glance; offsets count in the bytes, which must be kept from `from` to the byte after `to`. */
export interface QuickHead {
  /** The frontmatter between its markers. */
  readonly from: number
  readonly to: number
  /** The first line below `metadata` that may gate, when all that may was understood at a glance; `to` when there is none; -1 when it may be elsewhere. */
  readonly gatesFrom: number
  readonly name: string
  /** Undefined when it must be read from where it stands: most descriptions are never shown. See `HeadReader.describe`. */
  readonly description: string | undefined
  /** ASCII text, or lines of a block scalar. */
  readonly describedFrom: number
  readonly describedTo: number
  readonly form: Form
  /** True when nothing in it gates the skill. */
  readonly isUngated: boolean
  /** True when nothing says who may start it. */
  readonly isForBoth: boolean
  /** True when there is nothing to report about it, but perhaps for its metadata: `HeadReader.isSound` tells of that. */
  readonly isClean: boolean
  /** False when the frontmatter is ASCII; else whoever made the bytes must see to it that they are UTF-8. */
  readonly isWide: boolean
}

type Form = 'plain' | 'literal' | 'folded'

/** The description of a frontmatter that was glanced at. */
function describe(head: QuickHead, bytes: Buffer): string {
  const { description, describedFrom, describedTo, form } = head
  return description ?? unfolded(bytes.toString('latin1', describedFrom, describedTo), form)
}

function unfolded(raw: string, form: Form): string {
  return trimmed(form === 'plain' ? raw : form === 'literal' ? literal(raw) : folded(raw))
}

/** Which bytes hold a frontmatter, and what diagnostics call the file. */
export interface HeadSource {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
  readonly gatesFrom: number
  readonly path: string
  readonly directoryName: string
}

/**
 * Reads frontmatters in raw bytes without the YAML library. What `glance` accepts, `parseSkill` reads as the same document, and reports
 * no error about; everything else is undefined and must go to `parseSkill`. Not for two readings at once.
 */
export interface HeadReader {
  glance(bytes: Buffer, range: HeadRange, directoryName: string): QuickHead | undefined
  /** The description of what was accepted before. */
  describe(head: QuickHead, bytes: Buffer): string
  /** The whole reading of it. */
  read(source: HeadSource): { readonly head: DocumentHead; readonly diagnostics: readonly Diagnostic[] }
  /** Only its metadata; what does not gate is read when it is asked for. */
  readMetadata(source: HeadSource): SkillMetadata
  /** True when there is nothing to report about its metadata either. */
  isSound(source: HeadSource): boolean
}

/** `isForFew`: fewer files will be read than it takes for patterns to pay, so none are made. */
export function createHeadReader({ isForFew = false }: { readonly isForFew?: boolean } = {}): HeadReader {
  const scanner = new Scanner()
  const quickest = isForFew ? undefined : new FirstGlance()
  const gates = new GatesGlance()
  /** Undefined for what the patterns take and the scanner does not: keys and lists of hundreds of bytes or items. */
  const again = ({ bytes, from, to }: HeadSource): ReturnType<typeof scannedFrontmatter> | undefined =>
    scanner.scan(bytes, { start: from, end: to, until: 'end', isWhole: true })
      ? scannedFrontmatter(scanner, { start: from, firstLine: LINES_BEFORE })
      : undefined
  const wholeMetadata = (source: HeadSource): SkillMetadata => {
    const front = again(source)
    if (!front) return parsedHead(source).head.metadata
    return readPlainMetadata(scanner) ?? readMetadata(front, UNHEARD)
  }
  return {
    glance: (bytes, range, directoryName) =>
      quickest?.read(bytes, range, directoryName) ?? glance(scanner, bytes, { ...range, directoryName }),
    describe,
    read(source) {
      const front = again(source)
      if (!front) return parsedHead(source)
      const report = createReport(source.path)
      const head = readHead(front, { directoryName: source.directoryName, report })
      return { head, diagnostics: report.diagnostics }
    },
    readMetadata(source) {
      const { bytes, gatesFrom, to } = source
      if (gatesFrom < 0) return wholeMetadata(source)
      return gates.read(bytes.toString('latin1', gatesFrom, to))
        ? new GlancedMetadata(gates, () => wholeMetadata(source))
        : wholeMetadata(source)
    },
    isSound: ({ bytes, gatesFrom, to }) => gatesFrom >= 0 && gates.isSound(bytes.toString('latin1', gatesFrom, to)),
  }
}

const OPENER = Buffer.from('---\n')
const CLOSER = Buffer.from('---\nBody.\n')

/** By the parser that reports, which knows no file that a glance accepts and it does not. */
function parsedHead({ bytes, from, to, path, directoryName }: HeadSource): ReturnType<HeadReader['read']> {
  const file = Buffer.concat([OPENER, bytes.subarray(from, to), CLOSER])
  const { document, diagnostics } = parseSkill(file, { path, directoryName })
  if (!document) throw new Error(`${path} was accepted at a glance, but not by the parser`)
  const { body: _, ...head } = document
  return { head, diagnostics }
}

/** Only for skills that are named as their directory, and whose name keeps the rule: nearly all. */
class FirstGlance {
  private readonly look = new Glance()
  private readonly roles = new Roles()

  /** Most heads are read here and nowhere else, so few calls are made. */
  read(bytes: Buffer, { start, end }: HeadRange, name: string): QuickHead | undefined {
    if (!isCleanName(name)) return undefined
    const { look, roles } = this
    const text = bytes.toString('latin1', start, Math.min(end, start + GLANCED_BYTES + CLOSE_BYTES))
    const from = text.startsWith('---\n') ? 4 : text.startsWith('---\r\n') ? 5 : 0
    if (from === 0 || !look.look(text, from) || look.end > GLANCED_BYTES) return undefined
    if (!roles.read(text, look, name)) return undefined
    const { form, gatesFrom } = roles
    const describedFrom = start + roles.start
    const describedTo = start + roles.end
    const description = look.isWide ? unfolded(bytes.toString('utf8', describedFrom, describedTo), form) : undefined
    return {
      from: start + from,
      to: start + look.end,
      gatesFrom: gatesFrom < 0 ? -1 : start + gatesFrom,
      name,
      description,
      describedFrom,
      describedTo,
      form,
      isUngated: !roles.hasGates,
      isForBoth: !roles.hasFlags,
      isClean: !roles.hasFindings && (description === undefined || !mayHide(description)),
      isWide: look.isWide,
    }
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
    if (found & INFLUENCE.text) return undefined
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
    describedFrom: from,
    describedTo: from,
    form: 'plain',
    from,
    to: scanner.end,
    gatesFrom: -1,
    isUngated,
    isForBoth: (influence & INFLUENCE.flags) === 0,
    isClean: isClean && isPlain(description, scanner.isWide),
    isWide: scanner.isWide,
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
  while (at < end && bytes[at] === SPACE) at++
  const from = bytes[at] === CR ? at + 2 : at + 1
  // Behind the end may be what another file left there.
  return from < end && bytes[from - 1] === LF ? from : -1
}

/** The trimmed text of a scalar that is text; else undefined. */
function plainText(scanner: Scanner, node: number): string | undefined {
  const kind = scanner.nodes.kind(node)
  if (kind === KIND.plain) return textOf(scanner, node)
  return hasOnlyText(kind) ? trimText(textOf(scanner, node)) : undefined
}

/** Most texts have nothing to trim, and are not searched for it. */
function trimmed(text: string): string {
  return text.charCodeAt(0) > SPACE && text.charCodeAt(text.length - 1) > SPACE ? text : trimText(text)
}
