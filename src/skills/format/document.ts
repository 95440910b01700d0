import { hiddenIn, type SkillDocument } from '../../kernel/index.ts'
import { readMetadata } from './fields/metadata.ts'
import { readName } from './fields/name.ts'
import { similarTopLevelKey } from './fields/slips.ts'
import { readAllowedTools, readArguments, readFlag, readTextField } from './fields/top-level.ts'
import { countCharacters, trimText } from './fields/text.ts'
import type { Frontmatter, KeyPlace, Written } from './front.ts'
import { FORMAT_LIMITS } from './limits.ts'
import type { Report } from './report.ts'

/** The fields of a frontmatter. */
export type DocumentHead = Omit<SkillDocument, 'body'>

/** Reads every field and reports what is odd about it. */
export function readHead(front: Frontmatter, directoryName: string | undefined, report: Report): DocumentHead {
  // First: its fixes give keys their names, before others add what is missing.
  reportTypos(front, report)
  const name = readName(front, directoryName, report)
  const description = readDescription(front, report)
  return {
    name,
    description,
    license: readTextField(front, 'license', report),
    compatibility: readTextField(front, 'compatibility', report),
    allowedTools: readAllowedTools(front, report),
    arguments: readArguments(front, report),
    invocation: {
      model: !readFlag(front, 'disable-model-invocation', false, report),
      user: readFlag(front, 'user-invocable', true, report),
    },
    metadata: readMetadata(front, report),
    frontmatter: front.values,
  }
}

/** A word processor writes them; to YAML they are characters of the text. */
const CURLY_QUOTES = /^[\u201c\u201d\u201e\u2018\u2019][^]*[\u201c\u201d\u2018\u2019]$/

function reportTypos(front: Frontmatter, report: Report): void {
  for (const key of Object.keys(front.values)) {
    const right = similarTopLevelKey(key, front.values)
    if (right !== undefined) {
      const isNeeded = (right === 'name' || right === 'description') && front.written(key) !== 'collection'
      const edit = isNeeded ? front.rename(key, right) : undefined
      report.add('key-similar', { ...front.place(key), edit }, key, right)
    }
    const value = front.values[key]
    if (typeof value === 'string' && CURLY_QUOTES.test(value)) report.add('curly-quotes', front.place(key), key)
  }
}

/** Texts that our own fixes and `skills init` propose. */
const TEMPLATE = /^What it does(?: in one sentence)?\. Use when (?:\u2026|\.\.\.|the user asks for this or that\.)$/

/** The description, or undefined when there is none: such a skill is held by the gate, not invalid. */
function readDescription(front: Frontmatter, report: Report): string | undefined {
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
