import { isMarker, LINES_AHEAD, namesOf, seenOf, splitFrontmatter } from '../split.ts'
import type { Change } from './layout.ts'

/** The text without the hidden characters that keep its frontmatter from being found: on and before the opening line, and on the closing one. */
export function withoutHidden(given: string): { readonly text: string; readonly changes: readonly Change[] } {
  const mark = given.startsWith('\uFEFF') ? '\uFEFF' : ''
  const changes: Change[] = []
  let text = given.slice(mark.length)
  for (const kind of ['missing', 'unterminated'] as const) {
    if (splitFrontmatter(text).kind !== kind) continue
    let seen = ''
    let from = 0
    for (const { start, was, line } of hiddenLines(text, kind)) {
      seen += text.slice(from, start) + seenOf(was)
      from = start + was.length
      changes.push({ line, was: `${namesOf(was)} on this line`, now: seenOf(was), why: WHY })
    }
    text = seen + text.slice(from)
  }
  return { text: mark + text, changes }
}

const WHY = 'it is invisible, and with it the line is not ---'

interface Found {
  readonly start: number
  readonly was: string
  readonly line: number
}

/** Lines to be cleaned, up to the one that then opens or closes the frontmatter; none when there is no such line. */
function hiddenLines(text: string, kind: 'missing' | 'unterminated'): readonly Found[] {
  const found: Found[] = []
  let line = 0
  for (const { 0: was, index: start } of text.matchAll(/[^\r\n]*(?:\r\n?|\n|$)/g)) {
    line++
    const shownLine = was.replace(/[\r\n]+$/, '')
    const seen = seenOf(shownLine)
    const isMeant = kind === 'missing' ? isMarker(seen) || seen.trim() === '' : isMarker(seen) && !isMarker(shownLine)
    if (isMeant && seen !== shownLine) found.push({ start, was: shownLine, line })
    if (isMarker(seen) && isMeant) return found
    if (kind === 'missing' && (!isMeant || line > LINES_AHEAD)) return []
  }
  return []
}
