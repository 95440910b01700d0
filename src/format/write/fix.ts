import type { Diagnostic, SkillDocument } from '../../kernel/index.ts'
import { nameBreaches } from '../fields/name.ts'
import { renamingIn } from '../fields/text.ts'
import { readLeniently } from '../frontmatter.ts'
import { parseSkill } from '../parse.ts'
import { withoutHidden } from './hidden.ts'
import { applyEdits, asChanges, type Change, type Edit, joinLayout, type Layout, layOut, yamlOf } from './layout.ts'
import { readBack, type Rewritten, type RewriteOptions, unchanged } from './rewritten.ts'

export interface FixOptions extends RewriteOptions {
  /** Also remove a byte order mark and turn lone CR line ends into LF, in the body too. Default false. */
  readonly encoding?: boolean
}

/**
 * Writes those fixes that need no author: quotes around repaired values, the spelling of known keys, keys that are to be renamed, a missing
 * name (the directory's), no blank lines and hidden characters before the frontmatter, --- at its end. Every other byte stays. Twice does nothing more. Never throws.
 * A text that cannot be read is returned as it is, with its diagnostics.
 */
export function fixSkill(text: string, options: FixOptions): Rewritten {
  const seen = withoutHidden(text)
  const encoded = options.encoding === true ? fixEncoding(seen) : seen
  const parsed = parseSkill(encoded.text, options)
  const layout = layOut(encoded.text)
  if (parsed.document === undefined || layout === undefined || !text.isWellFormed()) {
    return unchanged(text, parsed.diagnostics)
  }
  const fixed = fixLayout(layout, { document: parsed.document, diagnostics: parsed.diagnostics, options })
  if (fixed === undefined) return { ...encoded, diagnostics: parsed.diagnostics }
  return { ...fixed, changes: [...encoded.changes, ...fixed.changes] }
}

/** A text that is on its way to be mended. */
interface Mended {
  readonly text: string
  readonly changes: readonly Change[]
}

interface Read {
  readonly document: SkillDocument
  readonly diagnostics: readonly Diagnostic[]
  readonly options: RewriteOptions
}

/** The layout mended; undefined when there is nothing to mend, or mending would change what is read. */
function fixLayout(layout: Layout, read: Read): Rewritten | undefined {
  const { document, diagnostics, options } = read
  const respelled = diagnostics.filter(({ code }) => code === 'key-spelling')
  const renamed = diagnostics.flatMap(({ fix = '', ...found }) => {
    const keys = renamingIn(fix)
    return keys === undefined || Object.hasOwn(document.frontmatter, keys.to) ? [] : [{ ...found, ...keys }]
  })
  const except = [
    ...['name', ...respelled.flatMap(({ message }) => message.match(/[a-z_-]+/g) ?? [])],
    ...renamed.flatMap(({ from, to }) => [from, to]),
  ]
  const slips = [...respelled.map((found) => ({ ...found, rename: respell })), ...renamed.map(asSlip)]
  const frame = fixFrame(layout)
  for (const quotes of ['double', 'single'] as const) {
    const quoted = quoteEdits(layout, quotes)
    const edits = [...renameEdits(layout, { quoted, slips }), ...nameEdits(layout, read)]
    const changes = [...frame.blank, ...asChanges(layout, edits), ...frame.closer]
    if (changes.length === 0) return undefined
    const text = joinLayout(applyEdits(frame.layout, edits))
    const name = edits.some(({ why }) => why === WHY_NAME) ? options.directoryName : document.name
    const result = readBack(text, { ...document, name }, { options, except, free: renamed.map(({ to }) => to) })
    if (result !== undefined) return { text, changes, diagnostics: result.diagnostics }
  }
  return undefined
}

/** Everything about the two markers. */
function fixFrame(layout: Layout): { layout: Layout; blank: Change[]; closer: Change[] } {
  const dots = layout.closer.text.startsWith('.')
  const closerLine = layout.blank.length + layout.lines.length + 2
  return {
    layout: { ...layout, blank: [], closer: dots ? { ...layout.closer, text: '---' } : layout.closer },
    blank: layout.blank.map(({ text }, index) => ({
      line: index + 1,
      was: text,
      now: undefined,
      why: 'other clients find the frontmatter in the first line only',
    })),
    closer: dots
      ? [{ line: closerLine, was: layout.closer.text, now: '---', why: 'other clients want --- at the end' }]
      : [],
  }
}

const WHY_QUOTES = 'the value is not YAML as it stands; in quotes it is the text that was read'

/** Lines that reading repaired. Values of one line get double quotes, as the diagnostic says, the others single ones. */
function quoteEdits(layout: Layout, quotes: 'double' | 'single'): Edit[] {
  const { text, repairs } = readLeniently(yamlOf(layout))
  if (repairs.length === 0) return []
  const repaired = text.split('\n')
  const edits: Edit[] = []
  for (let from = 0; from < layout.lines.length; from++) {
    let to = from
    while (to < layout.lines.length && repaired[to] !== layout.lines[to]?.text) to++
    if (to === from) continue
    const now = repaired.slice(from, to)
    edits.push({ from, to, now: quotes === 'double' ? now.map(inDoubleQuotes) : now, why: WHY_QUOTES })
    from = to
  }
  return edits
}

const SINGLE_QUOTED = /^((?:[ ]|- )*(?:[\w.-]+|"[^"]*"|'[^']*')?[ \t]*:?[ \t]+)'((?:[^']|'')*)'$/

function inDoubleQuotes(line: string): string {
  const [, head, value] = SINGLE_QUOTED.exec(line) ?? []
  return head === undefined || value === undefined ? line : head + JSON.stringify(value.replaceAll("''", "'"))
}

/** A key to be spelled otherwise, and how. */
interface Slip {
  readonly line?: number
  readonly column?: number
  readonly rename: (line: string, column: number) => string
}

/** `user_invocable: …` becomes `user-invocable: …`, also on lines that were quoted; quoting keeps the number of lines. */
function renameEdits(layout: Layout, { quoted, slips }: { quoted: readonly Edit[]; slips: readonly Slip[] }): Edit[] {
  const edits = [...quoted]
  // From the right, so that the columns of the others on the line stay.
  for (const { line = 0, column = 1, rename } of [...slips].sort((a, b) => (b.column ?? 1) - (a.column ?? 1))) {
    const at = line - layout.blank.length - 2
    const index = edits.findIndex(({ from, to }) => from <= at && at < to)
    const text = layout.lines[at]?.text
    const edit = edits[index] ?? { from: at, to: at + 1, now: text === undefined ? [] : [text], why: WHY_SPELLING }
    const now = edit.now.map((current, offset) => (edit.from + offset === at ? rename(current, column - 1) : current))
    if (index >= 0) edits[index] = { ...edit, now }
    else if (text !== undefined) edits.push({ ...edit, now })
  }
  return edits
}

const WHY_SPELLING = 'this is how the key is spelled'

function respell(line: string, column: number): string {
  return line.slice(0, column) + line.slice(column).replace(/^(["']?)([a-z]+(?:_[a-z]+)+)/, spelledWithHyphens)
}

function spelledWithHyphens(_: string, quote: string, key: string): string {
  return quote + key.replaceAll('_', '-')
}

/** `desciption: …` becomes `description: …`; a key that is written with escapes stays. */
function asSlip({ from, to, ...place }: Omit<Slip, 'rename'> & { from: string; to: string }): Slip {
  const rename = (line: string, column: number): string => {
    const at = column + (/^["']/.test(line.slice(column)) ? 1 : 0)
    return line.startsWith(from, at) ? line.slice(0, at) + to + line.slice(at + from.length) : line
  }
  return { ...place, rename }
}

const WHY_NAME = "the specification wants a name; the directory's name is the one that was used"

/** A name where there is none, when the directory's name keeps the rule. */
function nameEdits(layout: Layout, { diagnostics, options }: Read): Edit[] {
  const name = options.directoryName
  if (name === undefined || nameBreaches(name).length > 0 || /["'#:\\]/.test(name)) return []
  if (!diagnostics.some(({ code, fix = '' }) => code === 'name-missing' && renamingIn(fix) === undefined)) return []
  if (layout.lines.find(({ text }) => /^[^\s#]/.test(text))?.text.startsWith('{') === true) return []
  const at = layout.lines.findIndex(({ text }) => /^["']?name["']?[ \t]*:/.test(text))
  if (at < 0) return [{ from: 0, to: 0, now: [`name: ${name}`], why: WHY_NAME }]
  const isEmpty = /^name[ \t]*:[ \t]*(?:""|''|~)?[ \t]*$/.test(layout.lines[at]?.text ?? '')
  return isEmpty ? [{ from: at, to: at + 1, now: [`name: ${name}`], why: WHY_NAME }] : []
}

function fixEncoding(given: Mended): Mended {
  const changes = [...given.changes]
  let { text } = given
  if (text.startsWith('\uFEFF')) {
    text = text.slice(1)
    changes.push({ line: 1, was: 'a byte order mark', now: undefined, why: 'other clients do not skip it' })
  }
  if (/\r(?!\n)/.test(text)) {
    text = text.replace(/\r(?!\n)/g, '\n')
    changes.push({ line: 1, was: 'line ends CR', now: 'line ends LF', why: 'most programs do not know CR alone' })
  }
  return { text, changes }
}
