import { splitFrontmatter } from '../split.ts'

/** One line with its own line end, so that what is not touched stays byte for byte. */
export interface Line {
  readonly text: string
  readonly end: string
}

/** A SKILL.md taken apart; joined again it is the same text. */
export interface Layout {
  /** The byte order mark, or nothing. */
  readonly mark: string
  /** Blank lines before the opening line. */
  readonly blank: readonly Line[]
  readonly opener: Line
  /** The lines between the markers. */
  readonly lines: readonly Line[]
  readonly closer: Line
  readonly body: string
}

/** Lines of the frontmatter to replace: `from` up to but without `to`, counted from 0. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly now: readonly string[]
  readonly why: string
}

/** What was changed. `line` counts from 1 in the text before any change; `now` is undefined when the lines are gone. */
export interface Change {
  readonly line: number
  readonly was: string
  readonly now: string | undefined
  readonly why: string
}

/** Takes a file apart; undefined when it has no frontmatter. */
export function splitDocument(text: string): Layout | undefined {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const split = splitFrontmatter(text.slice(mark.length))
  if (split.kind !== 'found') return undefined
  const head = toLines(text.slice(mark.length, text.length - split.body.length))
  const opener = head[split.firstLine - 2]
  const closer = head.at(-1)
  if (opener === undefined || closer === undefined) return undefined
  return {
    mark,
    blank: head.slice(0, split.firstLine - 2),
    opener,
    lines: head.slice(split.firstLine - 1, -1),
    closer,
    body: split.body,
  }
}

function toLines(text: string): Line[] {
  const lines: Line[] = []
  for (const [whole, line = ''] of text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)) {
    if (whole !== '') lines.push({ text: line, end: whole.slice(line.length) })
  }
  return lines
}

/** The YAML between the markers, with line ends of \n. */
export function yamlOf(layout: Layout): string {
  return layout.lines.map(({ text }) => `${text}\n`).join('')
}

/** The text again. */
export function joinLayout({ mark, blank, opener, lines, closer, body }: Layout): string {
  const head = [...blank, opener, ...lines, closer].map(({ text, end }) => text + end).join('')
  return mark + head + body
}

/** The layout with edits applied, in any order; they may not overlap. New lines end as their neighbours do. */
export function applyEdits(layout: Layout, edits: readonly Edit[]): Layout {
  const lines = [...layout.lines]
  for (const { from, to, now } of [...edits].sort((a, b) => b.from - a.from)) {
    const end = (lines[from] ?? layout.opener).end || '\n'
    lines.splice(from, to - from, ...now.map((text) => ({ text, end })))
  }
  return { ...layout, lines }
}

/** Edits as changes, in the order of their lines. */
export function asChanges(layout: Layout, edits: readonly Edit[]): Change[] {
  const first = layout.blank.length + 2
  return [...edits]
    .sort((a, b) => a.from - b.from)
    .map(({ from, to, now, why }) => ({
      line: first + from,
      was: layout.lines
        .slice(from, to)
        .map(({ text }) => text)
        .join('\n'),
      now: now.length === 0 ? undefined : now.join('\n'),
      why,
    }))
}
