import { STRICT_LIMITS } from './codes.ts'
import type { Subject } from './findings.ts'
import { brokenLinks } from './links.ts'

/** Recommendations for the instructions; none of them makes a skill invalid. Source: the Agent Skills specification. */
export function checkBody(subject: Subject): void {
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

function checkLength({ add }: Subject, body: string): void {
  const fix = 'move details into files under references/ and link to them'
  const { maxBodyLines, maxBodyTokens } = STRICT_LIMITS
  const lines = body.length > maxBodyLines ? countLines(body) : 0
  if (lines > maxBodyLines) {
    add('body-long', `the instructions have ${lines} lines; ${maxBodyLines} are recommended`, { body: 0, fix })
  }
  const tokens = body.length > maxBodyTokens ? estimateTokens(body) : 0
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
  // oxlint-disable-next-line no-control-regex
  if (!/[^\u0000-\u007f]/.test(text)) return Math.ceil(text.length / 4)
  let quarters = 0
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0
    quarters += point < 0x80 ? 1 : point < 0x2e80 ? 2 : 4
  }
  return Math.ceil(quarters / 4)
}

/** What is filled in on loading. Source: decisions, "{baseDir}". */
const FILLED: ReadonlySet<string> = new Set(['{baseDir}', '${CLAUDE_SKILL_DIR}', '${NEXUS_SKILL_DIR}'])
/** Filled in by Claude Code alone. Source: skill-ecosystem §2b. */
const FILLED_BY_CLAUDE = /^\$\{CLAUDE_(?:SESSION_ID|EFFORT|SKILL_DIR|PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\}$/
const LIKE_ONE = /\$?\{\{?[ \t]{0,4}(?:base|skill)[_-]?dir[ \t]{0,4}\}?\}|\$\{(?:CLAUDE|NEXUS)_[A-Z_]{1,40}\}/gi

function checkPlaceholders({ add, profile }: Subject, body: string): void {
  for (const { 0: found, index } of body.matchAll(LIKE_ONE)) {
    if (FILLED.has(found) || (profile === 'claude' && FILLED_BY_CLAUDE.test(found))) continue
    add('placeholder-unknown', `${found} is not filled in by Nexus`, {
      body: index,
      fix: FILLED_BY_CLAUDE.test(found)
        ? 'it works in Claude Code only; for files of the skill write {baseDir}'
        : 'for the directory of the skill write {baseDir}',
    })
  }
}
