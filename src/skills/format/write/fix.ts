import type { Diagnostic, Edit } from '../../../kernel/index.ts'
import { type ParsedSkill, parseSkill } from '../parse.ts'
import { applyEdit, type Change, isSameBut, type Rewritten, type RewriteOptions } from './edits.ts'

/** A finding that a machine can fix. */
type Fixable = Diagnostic & { readonly edit: Edit }

export interface FixOptions extends RewriteOptions {
  /** Also remove a byte order mark and turn lone CR line ends into LF, in the body too. Default false. */
  readonly encoding?: boolean
}

/** Edits of one file at most. */
const MOST_EDITS = 100

/**
 * Makes the edits of the findings of reading, one by one: quotes around repaired values, the spelling of known keys, a missing
 * name (the directory's), no empty lines before the frontmatter, --- at its end. Every other byte stays, and an
 * edit is kept only when the result reads as promised. Twice does nothing more. Never throws. In a text that cannot be read only the
 * encoding changes, when asked for.
 */
export function fixSkill(given: string, options: FixOptions): Rewritten {
  const start =
    options.encoding === true && given.isWellFormed() ? withPlainEncoding(given) : { text: given, changes: [] }
  const first = parseSkill(start.text, options)
  const unfixed = { ...start, diagnostics: first.diagnostics }
  if (!given.isWellFormed()) return unfixed
  let { text } = start
  let read = first
  const changes: Change[] = [...start.changes]
  const tried = new Set<string>([text])
  for (let made = 0; made < MOST_EDITS;) {
    const next = read.diagnostics
      .filter(isFixable)
      .map((finding) => ({ finding, why: reasonOfChange(finding.code, isRename(finding)) }))
      .map(({ finding, why }) => ({ finding, ...applyEdit(text, finding.edit, { original: given, why }) }))
      .find((edited) => !tried.has(edited.text))
    if (next === undefined) break
    tried.add(next.text)
    const after = parseSkill(next.text, options)
    if (!isAsPromised(next.finding, read, after)) continue
    text = next.text
    read = after
    changes.push(...next.changes)
    made++
  }
  return read.document === undefined ? unfixed : { text, changes, diagnostics: read.diagnostics }
}

function isFixable(diagnostic: Diagnostic): diagnostic is Fixable {
  return diagnostic.edit !== undefined
}

/** True when the edit gives a key its right name: `edit.text`. */
function isRename({ code }: Diagnostic): boolean {
  return code === 'key-spelling' || code === 'key-similar'
}

/** True when reading gives the key that the edit writes, and everything else as before. */
function isAsPromised(finding: Fixable, { document }: ParsedSkill, after: ParsedSkill): boolean {
  const { code, subject = '', edit } = finding
  if (document === undefined) return false
  if (!isRename(finding) && code !== 'name-missing') return isSameBut(undefined, document, after.document)
  const key = isRename(finding) ? edit.text : 'name'
  const { [subject]: _, ...frontmatter } = document.frontmatter
  const read = key === 'name' || key === 'description' ? { [key]: after.document?.[key] } : {}
  return isSameBut(key, { ...document, ...read, frontmatter }, after.document)
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

/** Why `validate --fix` changes a line, by the code of the finding. */
const REASONS: Readonly<Record<string, string>> = {
  'yaml-repaired': 'The value is not valid YAML. This is how Nexus read it.',
  'leading-blank-lines': 'Other clients find the frontmatter in the first line only.',
  'frontmatter-closed-by-dots': 'Other clients expect --- at the end.',
  'name-missing': "The specification requires a name. Nexus uses the directory's name.",
}

function reasonOfChange(code: string, isRename: boolean): string {
  return isRename ? 'This is the right spelling of the key.' : (REASONS[code] ?? 'Nexus reads it this way.')
}
