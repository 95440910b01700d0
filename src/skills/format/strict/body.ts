import { firstHidden, hiddenIn } from '../../../kernel/index.ts'
import { STRICT_LIMITS } from '../limits.ts'
import { brokenLinks } from './links.ts'
import type { Subject } from './spec.ts'

/** Recommendations for the instructions; none of them makes a skill invalid. Source: the Agent Skills specification. */
export function checkBody(subject: Subject, files: readonly string[] | undefined): void {
  const { document, add } = subject
  const { body } = document
  if (body.trim() === '') {
    add('body-empty', { body: 0 })
    return
  }
  checkLength(subject)
  const hidden = hiddenIn(body)
  if (hidden !== '') add('body-hidden', { body: Math.max(0, firstHidden(body)) }, hidden)
  if (body.includes('{')) checkPlaceholders(subject)
  if (files === undefined) return
  for (const { offset, target, isOutside } of brokenLinks(body, files))
    add('link-target', { body: offset }, target, isOutside)
}

function checkLength({ document: { body: text }, add }: Subject): void {
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

/** The catalog's estimate: 4 ASCII characters, 2 of other alphabets or 1 of CJK and emoji make a token. */
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

/** Filled in on loading. Source: decisions, "{baseDir}". */
const FILLED: ReadonlySet<string> = new Set(['{baseDir}', '${CLAUDE_SKILL_DIR}', '${NEXUS_SKILL_DIR}'])
/** Filled in by Claude Code alone. Source: skill-ecosystem §2b. */
const FILLED_BY_CLAUDE = /^\$\{CLAUDE_(?:SESSION_ID|EFFORT|SKILL_DIR|PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\}$/
const LIKE_A_DIRECTORY = /^\{\{?[ \t]{0,4}(?:base|skill)[_-]?dir[ \t]{0,4}\}\}?/i
const LIKE_A_VARIABLE = /^\{(?:CLAUDE|NEXUS)_[A-Z_]{1,40}\}/

function checkPlaceholders({ document: { body }, add, profile }: Subject): void {
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
