import { hiddenIn, isJsonObject, type JsonValue } from '../../../kernel/index.ts'
import type { Frontmatter, Written } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'
import type { DescriptionPlace } from '../messages/fields.ts'
import { countCharacters, similarKey, trimText } from './text.ts'

/** The description, or undefined when there is none: such a skill is held by the gate, not invalid. */
export function readDescription(front: Frontmatter, report: Report, body: string): string | undefined {
  const written = front.written('description')
  if (written === 'collection') {
    const value = front.values['description']
    const isTexts = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
    report.add('description-not-text', front.place('description'), undefined, isTexts ? 'list' : undefined)
    return undefined
  }
  // The word null is not a description, although the same word is a name.
  const text = written === undefined || written.isNull ? '' : trimText(written.text ?? '')
  if (written === undefined || text === '') {
    reportMissing(front, { isThere: written !== undefined, body, report })
    return undefined
  }
  if (TEMPLATE.test(text)) {
    report.add('description-missing', front.place('description'), { kind: 'template' })
    return undefined
  }
  warnWriting(written, text, { front, report })
  warnLength(text, { front, report })
  warnHidden(text, { front, report })
  return text
}

/** What our own fixes and `skills init` propose. */
const TEMPLATE = /^What it does(?: in one sentence)?\. Use when (?:\u2026|\.\.\.|the user asks for this or that\.)$/

interface Gap {
  readonly isThere: boolean
  readonly body: string
  readonly report: Report
}

/** Reports where the description is, when that can be seen. */
function reportMissing(front: Frontmatter, { isThere, body, report }: Gap): void {
  const missing = (key: string, place: DescriptionPlace): void =>
    report.add('description-missing', front.place(key), place)
  const similar = similarKey(front, 'description')
  if (similar !== undefined) {
    if (isThere) return missing(similar, { kind: 'beside', key: similar })
    const edit = front.rename(similar, 'description')
    return report.add('description-missing', { ...front.place(similar), edit }, { kind: 'renamed', key: similar })
  }
  if (isThere) {
    const written = front.written('description')
    const isBlock = written !== undefined && written !== 'collection' && written.isBlock === true
    return missing('description', { kind: isBlock ? 'empty-block' : 'empty' })
  }
  const outer = Object.keys(front.values).find((key) => isObjectWith(front.values[key], 'description'))
  if (outer !== undefined) return missing(outer, { kind: 'below', key: outer })
  missing('description', { kind: /^description[ \t]*:/m.test(body.slice(0, 4_000)) ? 'body' : 'absent' })
}

function isObjectWith(value: JsonValue | undefined, key: string): boolean {
  return isJsonObject(value) && Object.hasOwn(value, key)
}

interface Notes {
  readonly front: Frontmatter
  readonly report: Report
}

/** Warns when YAML reads the text as something else than what people see. */
function warnWriting({ isText, comment }: Written, text: string, { front, report }: Notes): void {
  if (!isText) report.add('description-not-text', front.place('description'), text)
  if (comment !== undefined) report.add('comment-in-value', front.place('description'), `#${comment}`)
}

function warnLength(text: string, { front, report }: Notes): void {
  const limit = FORMAT_LIMITS.maxDescriptionLength
  if (text.length <= limit) return
  const length = countCharacters(text)
  if (length > limit) report.add('description-long', front.place('description'), length, limit)
}

/** Warns about characters that people do not see. */
function warnHidden(text: string, { front, report }: Notes): void {
  if (hiddenIn(text) !== '') report.add('hidden-characters', front.place('description'))
}
