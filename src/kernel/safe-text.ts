import type { JsonValue } from './json.ts'

/** Characters that hide, turn or join text: bidi controls, and all that Unicode lets a program leave out when it shows a text. */
const INVISIBLE = String.raw`\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`
/** With the C0 and C1 controls that are no line break or tab. */
const HIDDEN = new RegExp(String.raw`[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f${INVISIBLE}]`, 'gu')
/** Unusual spaces, hidden characters and controls: what a reader does not see, or takes for a common space. */
const UNSEEN = new RegExp(
  String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000${INVISIBLE}]`,
  'gu',
)
/** Characters that JSON itself does not escape: DEL, C1 controls and the two separators. */
const UNSEEN_IN_JSON = new RegExp(String.raw`[\u007f-\u009f\u2028\u2029${INVISIBLE}]`, 'gu')
/** Joiners and variation selectors excepted, which emoji and some scripts need. */
const UNSEEN_IN_COMMAND = new RegExp(
  String.raw`(?![\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029${INVISIBLE}]`,
  'u',
)
/** More than printable ASCII, spaces, tabs and line breaks. */
const NOT_PLAIN = /[^\t-\r -~]/
const BLANKS = /[\t\n\v\f\r\u0085\u2028\u2029\u2800]+/g
const ESCAPE_SEQUENCE =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g

/** Printable ASCII words with single blanks between them: nothing to change, and nearly all there is. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/

/** One visible line: no escape sequences, controls, bidi or zero-width characters, no line breaks; blanks are spaces; NFC. */
export function toSafeLine(text: string): string {
  if (PLAIN_LINE.test(text)) return text
  return toSafeText(text).replace(BLANKS, ' ').replace(/ {2,}/g, ' ').trim()
}

/** Visible text for a terminal or a prompt: as `toSafeLine`, but line breaks (as \n) and tabs stay. */
export function toSafeText(text: string): string {
  return text
    .toWellFormed()
    .replace(ESCAPE_SEQUENCE, '')
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(HIDDEN, '')
    .normalize('NFC')
}

/** JSON of which every character can be seen: what is hidden or moves text is written as \\u…, which reads back the same. */
export function toSafeJson(value: JsonValue, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent)
  // JSON itself escapes what comes before the blank, so nothing is unseen in ASCII but DEL. Counting bytes is far quicker than a pattern.
  if (Buffer.byteLength(json) === json.length && !json.includes('\u007f')) return json
  return json.replace(UNSEEN_IN_JSON, (text) =>
    Array.from(
      { length: text.length },
      (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** A command as a person must see it before it runs: its own lines, and every hidden character as \\u…. Nothing is joined or left out. */
export function toVisibleLines(command: string): readonly string[] {
  return command.split('\n').map((line) => {
    const json = toSafeJson(line).slice(1, -1)
    return json.replaceAll('\\"', '"').replaceAll('\\\\', '\\')
  })
}

/** The first character of a command line that a reader does not see, as `U+200B`; undefined when there is none. Tabs and line feeds are seen. */
export function unseenInCommand(command: string): string | undefined {
  const found = UNSEEN_IN_COMMAND.exec(command)?.[0]
  return found === undefined ? undefined : codePointOf(found)
}

/** The first character of a text as people look it up, such as `U+00A0`. */
function codePointOf(text: string): string {
  return `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** A text without the characters that a reader does not see, or takes for a common space. */
export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, '')
}

/** Those characters, each once, such as `U+200B and U+00AD`; empty when there is none. */
export function unseenIn(text: string): string {
  return [...new Set(text.match(UNSEEN) ?? [])].map(codePointOf).join(' and ')
}

/** Index of the first of them; -1 when there is none. */
export function firstUnseen(text: string): number {
  return text.search(UNSEEN)
}

/** True when `toSafeText` removes a character from the text. */
export function hasHidden(text: string): boolean {
  // Nearly every text is plain, and the pattern of what is not takes three times as long.
  return NOT_PLAIN.test(text) && text.search(HIDDEN) >= 0
}

/** Names of those characters, each once, such as `U+202E, U+200B`, but not where they shape an emoji or a word of its script; empty when there is none. */
export function hiddenIn(text: string): string {
  if (!hasHidden(text)) return ''
  const found = [...new Set(withoutShaping(text).match(HIDDEN) ?? [])].map(codePointOf)
  const more = found.length - MAX_NAMED
  return found.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Index of the first hidden character; -1 when there is none. */
export function firstHidden(text: string): number {
  return text.search(HIDDEN)
}

const MAX_NAMED = 8

/** Joiners and selectors inside emoji, Indic, Arabic and Han text are hidden by themselves, but visible by their effect. */
function withoutShaping(text: string): string {
  // Inside of the function: a pattern over all of Unicode is prepared where it is, and few need it.
  return text.replace(
    /(?<=\p{Extended_Pictographic}|[#*0-9])\ufe0f|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|(?<=(?!\p{Script=Latin})[\p{L}\p{M}])[\u200c\u200d]|(?<=\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu,
    '',
  )
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

/** Text that cannot open or close a tag or an attribute. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => XML[character] ?? character)
}

const PLAIN_NAME = /^[\w.-]+$/

/**
 * The form in which names are compared: as a reader sees them, compatibility forms folded (NFKC), case kept.
 * Two names with one key look the same in a prompt, so they are one name.
 */
export function nameKey(name: string): string {
  return PLAIN_NAME.test(name) ? name : toSafeLine(name).normalize('NFKC')
}

/** A word as a POSIX shell reads it back: as it is when that is safe, else in single quotes. */
export function shellWord(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) && !word.startsWith('-') ? word : quotedWord(word)
}

/** A word in single quotes, so that it is neither an assignment nor a keyword. */
export function quotedWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
