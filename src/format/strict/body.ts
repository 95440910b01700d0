import { STRICT_LIMITS } from './codes.ts'
import type { Subject } from './findings.ts'
import { brokenLinks } from './links.ts'

/** What the rules for a body need of a subject. */
type BodyOf = Pick<Subject, 'files' | 'profile' | 'add'> & { readonly document: { readonly body: string } }

/** Recommendations for the instructions; none of them makes a skill invalid. Source: the Agent Skills specification. */
export function checkBody(subject: BodyOf): void {
  const { body } = subject.document
  if (body.trim() === '') {
    subject.add('body-empty', 'no instructions follow the frontmatter', {
      body: 0,
      fix: 'say below the closing --- what to do, step by step',
    })
    return
  }
  checkLength(subject, body)
  if (body.includes('{')) checkPlaceholders(subject, body)
  if (subject.files === undefined || !body.includes('](')) return
  for (const { offset, message } of brokenLinks(body, subject.files)) {
    subject.add('link-target', message, { body: offset, fix: 'correct the link, or add the file to the skill' })
  }
}

/** No text of fewer bytes costs more than `maxBodyTokens`: three bytes are at most one token. */
const MIN_BYTES_OF_MANY_TOKENS = STRICT_LIMITS.maxBodyTokens * 3

function checkLength({ add }: BodyOf, body: string): void {
  const fix = 'move details into files under references/ and link to them'
  const { maxBodyLines, maxBodyTokens } = STRICT_LIMITS
  const lines = body.length > maxBodyLines ? countLines(body) : 0
  if (lines > maxBodyLines) {
    add('body-long', `the instructions have ${lines} lines; ${maxBodyLines} are recommended`, { body: 0, fix })
  }
  // Cheapest first: no UTF-16 unit costs more than one token.
  const isLong = body.length > maxBodyTokens && Buffer.byteLength(body) > MIN_BYTES_OF_MANY_TOKENS
  const tokens = isLong ? estimateTokens(body) : 0
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

/** As the catalog estimates: 4 ASCII characters, 2 of other alphabets or 1 of CJK and emoji make a token. */
function estimateTokens(text: string): number {
  let quarters = 0
  // By UTF-16 units: a loop over characters makes a text of each.
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) quarters++
    else if (unit < 0x2e80) quarters += 2
    else {
      quarters += 4
      if (isHigh(unit) && isLow(text.charCodeAt(at + 1))) at++
    }
  }
  return Math.ceil(quarters / 4)
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

/** What is filled in on loading. Source: decisions, "{baseDir}". */
const FILLED: ReadonlySet<string> = new Set(['{baseDir}', '${CLAUDE_SKILL_DIR}', '${NEXUS_SKILL_DIR}'])
/** Filled in by Claude Code alone. Source: skill-ecosystem §2b. */
const FILLED_BY_CLAUDE = /^\$\{CLAUDE_(?:SESSION_ID|EFFORT|SKILL_DIR|PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\}$/
const LIKE_A_DIRECTORY = /^\{\{?[ \t]{0,4}(?:base|skill)[_-]?dir[ \t]{0,4}\}\}?/i
const LIKE_A_VARIABLE = /^\{(?:CLAUDE|NEXUS)_[A-Z_]{1,40}\}/

function checkPlaceholders({ add, profile }: BodyOf, body: string): void {
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
