import { isMarker, lineAt, LINES_AHEAD, namesOf, seenOf, splitFrontmatter } from '../split.ts'
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

const WHY = 'nobody sees it, and with it the line is not ---'

interface Found {
  readonly start: number
  readonly was: string
  readonly line: number
}

/** Lines to be cleaned, up to the one that then opens or closes the frontmatter; none when there is no such line. */
function hiddenLines(text: string, kind: 'missing' | 'unterminated'): readonly Found[] {
  const found: Found[] = []
  let number = 0
  for (let next = 0; next < text.length;) {
    const line = lineAt(text, next)
    next = line.next
    number++
    const seen = seenOf(line.text)
    const isMeant = kind === 'missing' ? isMarker(seen) || seen.trim() === '' : isMarker(seen) && !isMarker(line.text)
    if (isMeant && seen !== line.text) found.push({ start: line.start, was: line.text, line: number })
    if (isMarker(seen) && isMeant) return found
    if (kind === 'missing' && (!isMeant || number > LINES_AHEAD)) return []
  }
  return []
}
