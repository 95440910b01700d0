import { withoutUnseen } from '../../../kernel/index.ts'
import type { Frontmatter } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'

/** White space that YAML itself does not count as text; a no-break space stays. */
export function trimText(text: string): string {
  // Nearly all texts have nothing to trim.
  if (text.trim() === text) return text
  // Not a pattern with $: its time would be quadratic in the white space inside of the text.
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** A space, a tab or a line end. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d
}

/** Code points. */
export function countCharacters(text: string): number {
  let points = 0
  for (const _ of text) points++
  return points
}

/** The text of a known key; a list or a mapping is reported and ignored, a number is read as written. */
export function readTextField(front: Frontmatter, key: string, report: Report): string | undefined {
  const written = front.written(key)
  if (written === undefined) return undefined
  if (written === 'collection') {
    report.add('field-type', front.place(key), key, { wanted: 'text', example: `${key}: "some text"` })
    return undefined
  }
  return written.isNull ? undefined : trimText(written.text ?? '')
}

/** Checks `compatibility` against its length and returns it. */
export function readCompatibility(front: Frontmatter, report: Report): string | undefined {
  const text = readTextField(front, 'compatibility', report)
  const limit = FORMAT_LIMITS.maxCompatibilityLength
  if (text !== undefined && text.length > limit && countCharacters(text) > limit) {
    report.add('compatibility-long', front.place('compatibility'), countCharacters(text), limit)
  }
  return text
}

/** A key that was probably meant to be `key`: in other case, or with one letter wrong. Few letters are near to too many words. */
export function similarKey(front: Frontmatter, key: string): string | undefined {
  return Object.keys(front.values).find(
    (other) =>
      other !== key &&
      (withoutUnseen(other) === key || isNear(other.toLowerCase(), key)) &&
      front.written(other) !== 'collection',
  )
}

const FEW_LETTERS = 5

/** At most one letter dropped or swapped with its neighbour, in longer words also added or changed. */
function isNear(a: string, b: string): boolean {
  if (a === b) return true
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const [x, y] = [a.slice(start), b.slice(start)]
  if (x === y.slice(1) || (x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2))) return true
  return b.length > FEW_LETTERS && (x.slice(1) === y || x.slice(1) === y.slice(1))
}
