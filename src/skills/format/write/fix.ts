import type { JsonValue, SkillDocument } from '../../../kernel/index.ts'
import { type ParsedSkill, parseSkill } from '../parse.ts'
import { AS_WRITTEN } from '../yaml/values.ts'
import { applyEdit, type Fixable, isFixable, isRename } from './edits.ts'
import type { Change } from './layout.ts'
import { isReadAlike, type Rewritten, type RewriteOptions, unchanged } from './rewritten.ts'

export interface FixOptions extends RewriteOptions {
  /** Also remove a byte order mark and turn lone CR line ends into LF, in the body too. Default false. */
  readonly encoding?: boolean
}

/** Edits of one file at most. */
const MOST_EDITS = 100

/**
 * Makes the edits of the findings of reading, one by one: quotes around repaired values, indentation, the spelling of known keys, a missing
 * name (the directory's), no empty lines and invisible characters before the frontmatter, --- at its end. Every other byte stays, and an
 * edit is kept only when the result reads as promised. Twice does nothing more. Never throws. In a text that cannot be read only the
 * encoding changes, when asked for.
 */
export function fixSkill(given: string, options: FixOptions): Rewritten {
  const first = parseSkill(given, options)
  if (!given.isWellFormed()) return unchanged(given, first.diagnostics)
  const start = options.encoding === true ? withPlainEncoding(given) : { text: given, changes: [] }
  let { text } = start
  let read = parseSkill(text, options)
  const changes: Change[] = [...start.changes]
  const refused = new Set<string>()
  const seen = new Set<string>([text])
  for (let made = 0; made < MOST_EDITS;) {
    const finding = read.diagnostics.filter(isFixable).find((each) => !refused.has(JSON.stringify(each)))
    if (finding === undefined) break
    const edited = applyEdit(text, finding, given)
    const after = parseSkill(edited.text, options)
    if (seen.has(edited.text) || !isAsPromised(finding, { before: read, after }, options)) {
      refused.add(JSON.stringify(finding))
      continue
    }
    text = edited.text
    seen.add(text)
    read = after
    changes.push(...edited.changes)
    refused.clear()
    made++
  }
  if (read.document !== undefined) return { text, changes, diagnostics: read.diagnostics }
  // The encoding asks nothing of the frontmatter, so its change stays.
  if (start.changes.length > 0) return { ...start, diagnostics: parseSkill(start.text, options).diagnostics }
  return unchanged(given, first.diagnostics)
}

/** True when reading gives exactly what the finding promised, and everything else as before. */
function isAsPromised(
  finding: Fixable,
  { before, after }: { readonly before: ParsedSkill; readonly after: ParsedSkill },
  { directoryName }: FixOptions,
): boolean {
  if (before.document === undefined) {
    // Nothing was read yet: the line of the marker is the promise.
    const isMarker = finding.code === 'frontmatter-missing' || finding.code === 'frontmatter-unterminated'
    return isMarker && !after.diagnostics.some((each) => JSON.stringify(each) === JSON.stringify(finding))
  }
  if (after.document === undefined) return false
  const promised = promisedBy(finding, before.document, directoryName)
  return isReadAlike(promised, after.document, { except: [], free: isRename(finding) ? [finding.edit.text] : [] })
}

function promisedBy(finding: Fixable, document: SkillDocument, directoryName: string | undefined): SkillDocument {
  const { subject = '', edit } = finding
  if (isRename(finding)) {
    const entries = Object.entries(document.frontmatter).map(([key, value]) =>
      key === subject ? [edit.text, valueUnder(edit.text, value)] : [key, value],
    )
    return { ...document, frontmatter: Object.fromEntries(entries) as SkillDocument['frontmatter'] }
  }
  if (finding.code !== 'name-missing' || directoryName === undefined) return document
  return { ...document, name: directoryName, frontmatter: { ...document.frontmatter, name: directoryName } }
}

/** Some keys have text as written, also when it looks like a number. */
function valueUnder(key: string, value: JsonValue): JsonValue {
  return AS_WRITTEN.has(key) && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : value
}

function withPlainEncoding(given: string): { readonly text: string; readonly changes: readonly Change[] } {
  const changes: Change[] = []
  let text = given
  // Not text, whatever it begins with.
  if (text.includes('\0')) return { text, changes }
  if (text.startsWith('\uFEFF')) {
    text = text.replace(/^\uFEFF+/, '')
    changes.push({ line: 1, was: 'a byte order mark', now: undefined, why: 'Other clients do not skip it.' })
  }
  if (/\r(?!\n)/.test(text)) {
    text = text.replace(/\r(?!\n)/g, '\n')
    changes.push({ line: 1, was: 'line ends CR', now: 'line ends LF', why: 'Most programs do not accept CR alone.' })
  }
  return { text, changes }
}
