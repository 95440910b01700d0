import type { Frontmatter } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'

/** White space that YAML itself does not count as text; a no-break space stays. */
export function trimText(text: string): string {
  return text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')
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
    report.add('field-type', `${key} must be text`, { ...front.place(key), fix: `write: ${key}: "some text"` })
    return undefined
  }
  return written.isNull ? undefined : trimText(written.text ?? '')
}

/** Checks `compatibility` against its length and returns it. */
export function readCompatibility(front: Frontmatter, report: Report): string | undefined {
  const text = readTextField(front, 'compatibility', report)
  const limit = FORMAT_LIMITS.maxCompatibilityLength
  if (text !== undefined && text.length > limit && countCharacters(text) > limit) {
    report.add(
      'compatibility-long',
      `compatibility has ${countCharacters(text)} characters, the specification allows ${limit}`,
      {
        ...front.place('compatibility'),
        fix: 'shorten it; details belong into the instructions',
      },
    )
  }
  return text
}

/** A text in quotes for a message, cut when long. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text)
}
