import { STRICT_LIMITS } from '../limits.ts'

export interface BrokenLink {
  /** UTF-16 units from the start of the body. */
  readonly offset: number
  readonly target: string
  /** It leads out of the skill. */
  readonly isOutside: boolean
}

const MAX_TARGET_CHARS = 1_000
/** A line that begins or ends a block of code, from the line end before it. */
const FENCE = /(?:^|\n) {0,3}(`{3,}|~{3,})/g
const BASE_DIRECTORY = /^(?:\{baseDir\}|\$\{(?:CLAUDE|NEXUS)_SKILL_DIR\})\//

/** Relative Markdown links outside code whose target is not a file or directory of the skill. Linear in the body. */
export function brokenLinks(body: string, files: readonly string[]): readonly BrokenLink[] {
  let known: ReadonlySet<string> | undefined
  const broken: BrokenLink[] = []
  let looked = 0
  for (let at = body.indexOf(']('); at >= 0; at = body.indexOf('](', at + 2)) {
    const target = targetAt(body, at + 2)
    const path = target === undefined ? undefined : relativePath(target)
    if (target === undefined || path === undefined) continue
    if (++looked > STRICT_LIMITS.maxLinks) break
    const resolved = resolve(path)
    known ??= withDirectories(files)
    if (resolved !== undefined && known.has(resolved)) continue
    broken.push({ offset: at + 2, target, isOutside: resolved === undefined })
  }
  return broken.length === 0 ? broken : outsideCode(body, broken)
}

/** Paths behind {baseDir} anywhere in the body, code too, that the skill does not have; each once. */
export function brokenPaths(body: string, files: readonly string[]): readonly BrokenLink[] {
  const known = withDirectories(files)
  const broken = new Map<string, BrokenLink>()
  let looked = 0
  for (const { 0: target, 1: written = '', index } of body.matchAll(BASE_PATH)) {
    if (++looked > STRICT_LIMITS.maxLinks) break
    // A path with a part to fill in, and the end of a sentence.
    if (/^[*<{$\u0080-\uffff]/.test(body.slice(index + target.length))) continue
    const resolved = resolve(written.normalize('NFC').replace(/[.,:;]+$/, ''))
    if (resolved !== undefined && known.has(resolved)) continue
    const shown = target.replace(/[.,:;]+$/, '')
    if (!broken.has(shown)) broken.set(shown, { offset: index, target: shown, isOutside: resolved === undefined })
  }
  return [...broken.values()]
}

const BASE_PATH = /(?:\{baseDir\}|\$\{(?:CLAUDE|NEXUS)_SKILL_DIR\})\/([\w.\-/@+]{1,1000})/g

/** The target of an inline link: up to a blank or the closing parenthesis, or between angle brackets. */
function targetAt(body: string, at: number): string | undefined {
  const rest = body.slice(at, at + MAX_TARGET_CHARS)
  const found = /^[ \t]*(?:<([^<>\n]+)>|((?:[^\s()<>]|\([^\s()<>]*\))+))/.exec(rest)
  // `<name>` alone is a word to fill in, as in a template.
  return found?.[1] !== undefined && /^[\w-]+$/.test(found[1]) ? undefined : (found?.[1] ?? found?.[2])
}

/** Drops links in fenced blocks and in back quotes: they are examples. One pass over the fences and the lines with links. */
function outsideCode(body: string, links: readonly BrokenLink[]): readonly BrokenLink[] {
  const fences = new RegExp(FENCE)
  let mark = fences.exec(body)
  let fence: string | undefined
  const kept: BrokenLink[] = []
  for (let index = 0; index < links.length;) {
    const start = body.lastIndexOf('\n', (links[index] as BrokenLink).offset) + 1
    const next = body.indexOf('\n', start)
    const end = next < 0 ? body.length : next
    const first = index
    while ((links[index]?.offset ?? Infinity) <= end) index++
    for (; mark !== null && lineOf(mark) < start; mark = fences.exec(body)) fence = fenceAfter(fence, mark[1] ?? '')
    // The line of a fence has no links.
    const isFence = mark !== null && lineOf(mark) === start
    if (!isFence && fence === undefined) kept.push(...outsideQuotes(body, start, links.slice(first, index)))
  }
  return kept
}

/** Where the line of a fence begins. */
function lineOf({ 0: text, index }: RegExpExecArray): number {
  return text.startsWith('\n') ? index + 1 : index
}

/** Links of one line with an even number of back quotes before them. */
function outsideQuotes(body: string, start: number, links: readonly BrokenLink[]): readonly BrokenLink[] {
  let ticks = 0
  let at = start
  return links.filter(({ offset }) => {
    for (; at < offset; at++) if (body.charCodeAt(at) === 96) ticks++
    return ticks % 2 === 0
  })
}

/** The open fence after a line that has one: it ends with at least as many of its own marks. */
function fenceAfter(open: string | undefined, mark: string): string | undefined {
  if (open === undefined) return mark
  return mark.startsWith(open) ? undefined : open
}

function withDirectories(files: readonly string[]): ReadonlySet<string> {
  const known = new Set<string>([''])
  for (const file of files) {
    const path = file.normalize('NFC')
    known.add(path)
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) known.add(path.slice(0, at))
  }
  return known
}

/** The path of a relative link; undefined for addresses, anchors, absolute paths and placeholders. */
function relativePath(target: string): string | undefined {
  const own = target.replace(BASE_DIRECTORY, '')
  if (/^(?:[a-z][a-z0-9+.-]*:|[#/?\\{$%])/i.test(own) || /[{}<>*]|\.\.\./.test(own)) return undefined
  const path = own.replace(/[?#].*$/, '')
  try {
    return decodeURIComponent(path).normalize('NFC')
  } catch {
    // A lone % belongs to the name.
    return path.normalize('NFC')
  }
}

/** `.` and `..` resolved by text; undefined when the path leaves the skill. */
function resolve(path: string): string | undefined {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}
