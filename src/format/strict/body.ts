import { isAscii } from 'node:buffer'
import { type Profile, STRICT_LIMITS } from './codes.ts'
import type { Subject } from './findings.ts'
import { brokenLinks } from './links.ts'

/** The instructions of a skill. */
export interface Body {
  /** The text; or its bytes read as Latin-1, when there are no links to check and it is not blank. */
  readonly text: string
  /** The same as UTF-8. */
  readonly bytes: () => Buffer
}

interface BodySubject {
  readonly body: Body
  /** Paths of the skill's files, relative with forward slashes; undefined when nobody listed them. */
  readonly files: readonly string[] | undefined
  readonly profile: Profile
  readonly add: Subject['add']
}

/** Recommendations for the instructions; none of them makes a skill invalid. Source: the Agent Skills specification. */
export function checkBody(subject: BodySubject): void {
  const { text } = subject.body
  if (text.trim() === '') {
    subject.add('body-empty', 'no instructions follow the frontmatter', {
      body: 0,
      fix: 'say below the closing --- what to do, step by step',
    })
    return
  }
  checkLength(subject)
  if (text.includes('{')) checkPlaceholders(subject, text)
  if (subject.files === undefined || !text.includes('](')) return
  for (const { offset, message } of brokenLinks(text, subject.files)) {
    subject.add('link-target', message, { body: offset, fix: 'correct the link, or add the file to the skill' })
  }
}

/** No text of fewer bytes costs more than `maxBodyTokens`: three bytes are at most one token. */
const MIN_BYTES_OF_MANY_TOKENS = STRICT_LIMITS.maxBodyTokens * 3

function checkLength({ body: { text, bytes }, add }: BodySubject): void {
  const fix = 'move details into files under references/ and link to them'
  const { maxBodyLines, maxBodyTokens } = STRICT_LIMITS
  const lines = text.length > maxBodyLines ? countLines(text) : 0
  if (lines > maxBodyLines) {
    add('body-long', `the instructions have ${lines} lines; ${maxBodyLines} are recommended`, { body: 0, fix })
  }
  // Cheapest first: no unit of the text costs more than one token.
  const tokens = text.length > maxBodyTokens ? estimateTokens(bytes()) : 0
  if (tokens > maxBodyTokens) {
    add('body-tokens', `the instructions cost about ${tokens} tokens; ${maxBodyTokens} are recommended`, {
      body: 0,
      fix,
    })
  }
}

/** Lines with text; the last line end begins no line. */
function countLines(body: string): number {
  const end = body.includes('\n') ? '\n' : '\r'
  let lines = 1
  for (let at = body.indexOf(end); at >= 0 && at < body.length - 1; at = body.indexOf(end, at + 1)) lines++
  return lines
}

/** As the catalog estimates: 4 ASCII characters, 2 of other alphabets or 1 of CJK and emoji make a token. 0 when surely few. */
function estimateTokens(utf8: Buffer): number {
  if (utf8.length <= MIN_BYTES_OF_MANY_TOKENS) return 0
  return Math.ceil((isAscii(utf8) ? utf8.length : countQuarters(utf8)) / 4)
}

const WORD_BYTES = 4
const STEP_BYTES = 4 * WORD_BYTES
/** The high bits of four bytes: none is set when all are ASCII. */
const NOT_ASCII = 0x80808080

/** Quarters of tokens. Sixteen bytes at a time, since most texts have long runs of ASCII. */
function countQuarters(utf8: Buffer): number {
  const before = -utf8.byteOffset & (WORD_BYTES - 1)
  const words = new Int32Array(utf8.buffer, utf8.byteOffset + before, (utf8.length - before) >> 2)
  let quarters = quartersIn(utf8, 0, before)
  let word = 0
  for (; word + 3 < words.length; word += 4) {
    const all = word32(words, word) | word32(words, word + 1) | word32(words, word + 2) | word32(words, word + 3)
    const at = before + word * WORD_BYTES
    quarters += (all & NOT_ASCII) === 0 ? STEP_BYTES : quartersIn(utf8, at, at + STEP_BYTES)
  }
  return quarters + quartersIn(utf8, before + word * WORD_BYTES, utf8.length)
}

function word32(words: Int32Array, index: number): number {
  return words[index] as number
}

/** What a character costs, by its first byte; the other bytes of it cost nothing. */
const QUARTERS: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? 1 : byte < 0xc0 ? 0 : byte < 0xe3 ? 2 : 4,
)
/** The first byte of U+2000 to U+2FFF, and the second from which on they count as CJK: U+2E80. */
const LEAD_OF_2000 = 0xe2
const SECOND_OF_2E80 = 0xba

function quartersIn(utf8: Buffer, from: number, to: number): number {
  let quarters = 0
  for (let at = from; at < to; at++) {
    const byte = utf8[at] as number
    quarters += QUARTERS[byte] as number
    if (byte === LEAD_OF_2000 && (utf8[at + 1] as number) >= SECOND_OF_2E80) quarters += 2
  }
  return quarters
}

/** What is filled in on loading. Source: decisions, "{baseDir}". */
const FILLED: ReadonlySet<string> = new Set(['{baseDir}', '${CLAUDE_SKILL_DIR}', '${NEXUS_SKILL_DIR}'])
/** Filled in by Claude Code alone. Source: skill-ecosystem §2b. */
const FILLED_BY_CLAUDE = /^\$\{CLAUDE_(?:SESSION_ID|EFFORT|SKILL_DIR|PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\}$/
const LIKE_A_DIRECTORY = /^\{\{?[ \t]{0,4}(?:base|skill)[_-]?dir[ \t]{0,4}\}\}?/i
const LIKE_A_VARIABLE = /^\{(?:CLAUDE|NEXUS)_[A-Z_]{1,40}\}/

function checkPlaceholders({ add, profile }: BodySubject, body: string): void {
  const said = new Set<string>()
  for (let at = body.indexOf('{'); at >= 0; at = body.indexOf('{', at + 1)) {
    const found = placeholderAt(body, at)
    if (found === undefined || said.has(found) || FILLED.has(found)) continue
    if (profile === 'claude' && FILLED_BY_CLAUDE.test(found)) continue
    said.add(found)
    add('placeholder-unknown', `${found} is not filled in by Nexus`, {
      body: found.startsWith('$') ? at - 1 : at,
      fix: FILLED_BY_CLAUDE.test(found)
        ? 'it works in Claude Code only; for files of the skill write {baseDir}'
        : 'for the directory of the skill write {baseDir}',
    })
  }
}

/** Letters after which a brace may open something like a placeholder; most braces of code are passed by here. */
const FIRST_LETTERS = 'bBsSCN{ \t'

function placeholderAt(body: string, at: number): string | undefined {
  const next = body[at + 1]
  if (next === undefined || !FIRST_LETTERS.includes(next) || body[at - 1] === '{') return undefined
  const rest = body.slice(at, at + 60)
  const dollar = body[at - 1] === '$' ? '$' : ''
  const variable = dollar === '$' ? LIKE_A_VARIABLE.exec(rest)?.[0] : undefined
  const found = variable ?? LIKE_A_DIRECTORY.exec(rest)?.[0]
  return found === undefined ? undefined : dollar + found
}
