import { isScalar } from 'yaml'
import type { Frontmatter } from '../frontmatter.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'
import { writtenText } from '../yaml/values.ts'

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
  const node = front.node(key)
  if (node === undefined || node === null) return undefined
  if (!isScalar(node)) {
    report.add('field-type', `${key} must be text`, { ...front.place(key), fix: `write: ${key}: "some text"` })
    return undefined
  }
  return node.value === null ? undefined : trimText(writtenText(node) ?? '')
}

/** Checks `compatibility` against its length and returns it. */
export function readCompatibility(front: Frontmatter, report: Report): string | undefined {
  const text = readTextField(front, 'compatibility', report)
  if (text !== undefined && countCharacters(text) > FORMAT_LIMITS.maxCompatibilityLength) {
    report.add(
      'compatibility-long',
      `compatibility has ${countCharacters(text)} characters, the specification allows ${FORMAT_LIMITS.maxCompatibilityLength}`,
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
