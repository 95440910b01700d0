import { shown } from '../fields/text.ts'
import { STRICT_LIMITS } from './codes.ts'

export interface BrokenLink {
  /** UTF-16 units from the start of the body. */
  readonly offset: number
  readonly message: string
}

const MAX_TARGET_CHARS = 1_000
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const BASE_DIRECTORY = /^(?:\{baseDir\}|\$\{(?:CLAUDE|NEXUS)_SKILL_DIR\})\//

/** Relative Markdown links outside code whose target is no file or directory of the skill. Linear in the body. */
export function brokenLinks(body: string, files: readonly string[]): readonly BrokenLink[] {
  const known = withDirectories(files)
  const broken: BrokenLink[] = []
  let looked = 0
  for (const { target, offset } of links(body)) {
    if (++looked > STRICT_LIMITS.maxLinks) break
    const path = relativePath(target)
    if (path === undefined) continue
    const resolved = resolve(path)
    if (resolved === undefined) broken.push({ offset, message: `the link ${shown(target)} leads out of the skill` })
    else if (!known.has(resolved))
      broken.push({ offset, message: `the link ${shown(target)} leads to no file of the skill` })
  }
  return broken
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

function* links(body: string): Generator<{ target: string; offset: number }> {
  let fence: string | undefined
  let start = 0
  while (start < body.length) {
    const next = body.indexOf('\n', start)
    const end = next < 0 ? body.length : next
    const line = body.slice(start, end)
    const mark = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) fence = undefined
    } else if (mark !== undefined) fence = mark
    else yield* linksOfLine(line, start)
    start = end + 1
  }
}

function* linksOfLine(line: string, start: number): Generator<{ target: string; offset: number }> {
  let ticks = 0
  let counted = 0
  for (let at = line.indexOf(']('); at >= 0; at = line.indexOf('](', at + 2)) {
    for (; counted < at; counted++) if (line.charCodeAt(counted) === 96) ticks++
    // An odd number of back quotes before it: the link is inside code.
    if (ticks % 2 === 1) continue
    const rest = line.slice(at + 2, at + 2 + MAX_TARGET_CHARS)
    const target = /^[ \t]*(?:<([^<>]+)>|((?:[^\s()<>]|\([^\s()<>]*\))+))(?:[ \t]+["'(][^\n]*)?[ \t]*\)?/.exec(rest)
    const found = target?.[1] ?? target?.[2]
    if (found !== undefined) yield { target: found, offset: start + at + 2 }
  }
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
