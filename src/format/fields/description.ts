import { isJsonObject, type JsonValue, toSafeText } from '../../kernel/index.ts'
import type { Frontmatter, Written } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'
import { countCharacters, renaming, similarKey, trimText } from './text.ts'
import { shown } from '../shown.ts'

const EXAMPLE = 'description: "What it does. Use when …"'

/** The description, or undefined when there is none: such a skill is held by the gate, not rejected. */
export function readDescription(front: Frontmatter, report: Report, body: string): string | undefined {
  const written = front.written('description')
  if (written === 'collection') {
    report.add('description-not-text', 'the description is a list or a mapping; the skill is held', {
      ...front.place('description'),
      fix: `write: ${EXAMPLE}`,
    })
    return undefined
  }
  // The word null is no description, although the same word is a name.
  const text = written === undefined || written.isNull ? '' : trimText(written.text ?? '')
  if (written === undefined || text === '') {
    reportMissing(front, { isThere: written !== undefined, body, report })
    return undefined
  }
  warnWriting(written, text, { front, report })
  warnLength(text, { front, report })
  warnHidden(text, { front, report })
  return text
}

/** Says where the description went, when that can be seen. */
function reportMissing(
  front: Frontmatter,
  { isThere, body, report }: { isThere: boolean; body: string; report: Report },
): void {
  const written = front.written('description')
  const add = (message: string, key: string, fix: string): void =>
    report.add('description-missing', `${message}; the skill is held`, { ...front.place(key), fix })
  const similar = similarKey(front, 'description')
  if (similar !== undefined) {
    if (isThere) return add('no description is given', similar, `move the text of ${shown(similar)} to description`)
    const renamed = renaming(front, similar, 'description')
    return report.add('description-missing', 'no description is given; the skill is held', renamed)
  }
  if (isThere) {
    return written !== undefined && written !== 'collection' && written.isBlock === true
      ? add('the description is empty', 'description', 'indent the lines of its text below it by two spaces')
      : add('the description is empty', 'description', `write: ${EXAMPLE}`)
  }
  const outer = Object.keys(front.values).find((key) => isObjectWith(front.values[key], 'description'))
  if (outer !== undefined) {
    return add(`the description stands below ${shown(outer)}`, outer, 'move description: to the start of a line')
  }
  if (/^description[ \t]*:/m.test(body.slice(0, 4_000))) {
    return add('the description stands below the closing ---', 'description', 'move its line above the closing ---')
  }
  add('no description is given', 'description', `add a line below the opening ---: ${EXAMPLE}`)
}

function isObjectWith(value: JsonValue | undefined, key: string): boolean {
  return isJsonObject(value) && Object.hasOwn(value, key)
}

interface Notes {
  readonly front: Frontmatter
  readonly report: Report
}

/** Warns when YAML reads the text as something else than what people see. */
function warnWriting({ isText, comment: dropped }: Written, text: string, { front, report }: Notes): void {
  if (!isText) {
    const fix = `write: description: "${text}"`
    report.add('description-not-text', `the description ${shown(text)} is no text in YAML; it is read as written`, {
      ...front.place('description'),
      fix,
    })
  }
  if (dropped === undefined) return
  const comment = shown(`#${dropped}`)
  report.add('comment-in-value', `${comment} is a YAML comment and was dropped from the description`, {
    ...front.place('description'),
    fix: 'put quotes around the whole value when the text belongs to it',
  })
}

function warnLength(text: string, { front, report }: Notes): void {
  const limit = FORMAT_LIMITS.maxDescriptionLength
  if (text.length <= limit) return
  const length = countCharacters(text)
  if (length <= limit) return
  report.add('description-long', `the description has ${length} characters, the specification allows ${limit}`, {
    ...front.place('description'),
    fix: 'say what it does and when to use it; move the rest below the frontmatter',
  })
}

/** What a text must have before anything in it can be hidden: a control or format character, or something outside the BMP. */
const MAYBE_HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /[\0-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ud800-\udfff]/

/** False when a text surely hides nothing; cheap. */
export function mayHide(text: string): boolean {
  return MAYBE_HIDDEN.test(text)
}

/** Warns about characters that people do not see. */
function warnHidden(text: string, { front, report }: Notes): void {
  if (!mayHide(text)) return
  const plain = withoutEmojiParts(text.normalize('NFC'))
  const breaks = plain.replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
  if (toSafeText(breaks) === breaks) return
  report.add('hidden-characters', 'the description holds control, bidi or invisible characters; they are stripped', {
    ...front.place('description'),
    fix: 'retype the text without them',
  })
}

/** Joiners and selectors inside emoji are hidden by themselves, but visible by their effect. */
function withoutEmojiParts(text: string): string {
  // Inside of the function: a pattern over all of Unicode is prepared where it stands, and few need it.
  return text.replace(
    /(?<=\p{Extended_Pictographic}|[#*0-9])\ufe0f|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/gu,
    '',
  )
}
