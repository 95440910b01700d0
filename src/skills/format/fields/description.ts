import { hiddenIn } from '../../../kernel/index.ts'
import type { Frontmatter, KeyPlace, Written } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'
import { countCharacters, trimText } from './text.ts'

/** Texts that our own fixes and `skills init` propose. */
const TEMPLATE = /^What it does(?: in one sentence)?\. Use when (?:\u2026|\.\.\.|the user asks for this or that\.)$/

/** The description, or undefined when there is none: such a skill is held by the gate, not invalid. */
export function readDescription(front: Frontmatter, report: Report): string | undefined {
  const written = front.written('description')
  // The word null is not a description, although the same word is a name.
  const isText = written !== undefined && written !== 'collection' && !written.isNull
  const text = isText ? trimText(written.text ?? '') : ''
  if (!isText || text === '' || TEMPLATE.test(text)) {
    report.add('description-missing', front.place('description'), written !== undefined)
    return undefined
  }
  checkText(text, written, front, report)
  return text
}

function checkText(text: string, { isText, comment }: Written, front: Frontmatter, report: Report): void {
  const place = (): KeyPlace => front.place('description')
  if (!isText) report.add('description-not-text', place(), text)
  if (comment !== undefined) report.add('comment-in-value', place(), `#${comment}`)
  const limit = FORMAT_LIMITS.maxDescriptionLength
  const length = text.length > limit ? countCharacters(text) : 0
  if (length > limit) report.add('description-long', place(), length, limit)
  if (hiddenIn(text) !== '') report.add('hidden-characters', place())
}
