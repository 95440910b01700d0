import {
  type Diagnostic,
  type Edit,
  type JsonObject,
  type SkillDocument,
  unseenIn,
  withoutUnseen,
} from '../../../kernel/index.ts'

export interface RewriteOptions {
  /** The path that diagnostics name; never opened. */
  readonly path: string
  /** Name of the skill's directory. */
  readonly directoryName?: string
}

/** A text after a rewrite, and the findings of reading it. Without changes the text is the one that was given. */
export interface Rewritten {
  readonly text: string
  readonly changes: readonly Change[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Changed lines. `line` counts from 1 in the text before any change; `now` is undefined when the lines are gone. */
export interface Change {
  readonly line: number
  readonly was: string
  readonly now: string | undefined
  readonly why: string
}

/** Makes one edit. `original` is the text before all edits, whose lines the changes count. New lines end as their neighbours do. */
export function applyEdit(
  text: string,
  edit: Edit,
  { original, why }: { readonly original: string; readonly why: string },
): Pick<Rewritten, 'text' | 'changes'> {
  const lines = linesOf(text)
  // Lines come and go only above the others, so all lines moved by the same number.
  const moved = linesOf(original).length - lines.length
  const offset = ({ line, column }: Edit['start']): number => (lines[line - 1]?.start ?? text.length) + column - 1
  const [start, end] = [offset(edit.start), offset(edit.end)]
  const lineEnd = /\r\n?|\n/.exec(text.slice(start))?.[0] ?? '\n'
  const changes = changesOf(edit, (line) => lines[line - 1]?.text ?? '')
  return {
    text: text.slice(0, start) + edit.text.replaceAll('\n', lineEnd) + text.slice(end),
    changes: changes.map((change) => ({ ...change, line: change.line + moved, why })),
  }
}

/** The lines without their ends, and where each begins behind a byte order mark. */
function linesOf(text: string): readonly { readonly start: number; readonly text: string }[] {
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  const lines = text.slice(mark).matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)
  return Array.from(lines, ({ 1: line = '', index }) => ({ start: mark + index, text: line }))
}

/** The changes of an edit in whole lines. */
function changesOf({ start, end, text }: Edit, lineAt: (line: number) => string): readonly Omit<Change, 'why'>[] {
  const { line } = start
  if (text.endsWith('\n')) return [{ line, was: '', now: text.slice(0, -1) }]
  const numbers = Array.from({ length: end.line - line + 1 }, (_, index) => line + index)
  if (text === '' && end.column === 1)
    return numbers.slice(0, -1).map((number) => ({ line: number, was: lineAt(number), now: undefined }))
  const was = numbers.map(lineAt).join('\n')
  const now = lineAt(line).slice(0, start.column - 1) + text + lineAt(end.line).slice(end.column - 1)
  const hidden = withoutUnseen(was) === withoutUnseen(now) ? unseenIn(was) : ''
  return [{ line, was: hidden === '' ? was : `${hidden} on this line`, now }]
}

/** True when a document says the same as before, but for one key of the frontmatter; the order of keys is free. */
export function isSameBut(key: string | undefined, before: SkillDocument, after: SkillDocument | undefined): boolean {
  if (after === undefined) return false
  const given = key === undefined ? {} : { [key]: after.frontmatter[key] }
  return meaning({ ...before, frontmatter: { ...before.frontmatter, ...given } as JsonObject }) === meaning(after)
}

function meaning({ frontmatter, ...fields }: SkillDocument): string {
  return JSON.stringify([sorted(fields), sorted(frontmatter)])
}

function sorted(fields: object): object {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)))
}
