import { firstHidden, hiddenIn } from '../../../kernel/index.ts'
import { STRICT_LIMITS } from '../limits.ts'
import type { Profile } from '../messages/words.ts'
import type { Subject } from './findings.ts'
import { brokenLinks, brokenPaths } from './links.ts'

interface BodySubject {
  readonly body: string
  /** Paths of the skill's files, relative with forward slashes; undefined when they were not listed. */
  readonly files: readonly string[] | undefined
  readonly profile: Profile
  readonly add: Subject['add']
}

/** Recommendations for the instructions; none of them makes a skill invalid. Source: the Agent Skills specification. */
export function checkBody(subject: BodySubject): void {
  const text = subject.body
  if (text.trim() === '') {
    subject.add('body-empty', { body: 0 })
    return
  }
  checkLength(subject)
  const hidden = hiddenIn(text)
  if (hidden !== '') subject.add('body-hidden', { body: Math.max(0, firstHidden(text)) }, hidden)
  if (text.includes('{')) checkPlaceholders(subject, text)
  if (subject.files === undefined) return
  const links = text.includes('](') ? brokenLinks(text, subject.files) : []
  for (const { offset, target, isOutside } of links) subject.add('link-target', { body: offset }, target, isOutside)
  const paths = /\{baseDir\}\/|_SKILL_DIR\}\//.test(text) ? brokenPaths(text, subject.files) : []
  for (const { offset, target, isOutside } of paths)
    if (!links.some((link) => link.target === target)) subject.add('link-target', { body: offset }, target, isOutside)
}

function checkLength({ body: text, add }: BodySubject): void {
  const { maxBodyLines, maxBodyTokens } = STRICT_LIMITS
  const lines = text.length > maxBodyLines ? countLines(text) : 0
  if (lines > maxBodyLines) add('body-long', { body: 0 }, lines, maxBodyLines)
  // Cheapest first: no unit of the text costs more than one token.
  const tokens = text.length > maxBodyTokens ? estimateTokens(text) : 0
  if (tokens > maxBodyTokens) add('body-tokens', { body: 0 }, tokens, maxBodyTokens)
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
  const bytes = Buffer.byteLength(text)
  if (bytes === text.length) return Math.ceil(bytes / 4)
  let quarters = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const other = code < FIRST_CJK ? 2 : 4
    quarters += code < 0x80 ? 1 : other
  }
  return Math.ceil(quarters / 4)
}

const FIRST_CJK = 0x2e80

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
    add('placeholder-unknown', { body: found.startsWith('$') ? at - 1 : at }, found, FILLED_BY_CLAUDE.test(found))
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
