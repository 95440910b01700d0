import { STRICT_LIMITS } from '../limits.ts'

export interface BrokenLink {
  /** UTF-16 units from the start of the body. */
  readonly offset: number
  readonly target: string
  /** It leads out of the skill. */
  readonly isOutside: boolean
}

/** Blocks between fences, and text in back quotes. Links there are examples. */
const CODE = /(?:^|\n) {0,3}(`{3,}|~{3,})[^]*?(?:\n {0,3}\1[^\n]*|$)|`[^`\n]*`/g
/** The target of an inline link: between angle brackets, or up to a space or the closing parenthesis. */
const LINK = /\]\((?=[ \t]{0,99}(?:<([^<>\n]{1,1000})>|((?:[^\s()<>]|\([^\s()<>]{0,1000}\)){1,1000})))/g
const BASE_PATH = /(?:\{baseDir\}|\$\{(?:CLAUDE|NEXUS)_SKILL_DIR\})\/([\w.\-/@+]{1,1000})/g
const BASE_DIRECTORY = /^(?:\{baseDir\}|\$\{(?:CLAUDE|NEXUS)_SKILL_DIR\})\//

/**
 * Relative Markdown links outside code, and paths behind {baseDir} anywhere, each once, that do not lead to a file or directory of the
 * skill. Linear in the body.
 */
export function brokenLinks(body: string, files: readonly string[]): readonly BrokenLink[] {
  const links = body.includes('](') ? linksIn(body.replace(CODE, (code) => ' '.repeat(code.length))) : []
  const paths = pathsIn(body)
  if (links.length === 0 && paths.length === 0) return []
  const known = withDirectories(files)
  const broken = ({ offset, target, path }: Link): readonly BrokenLink[] => {
    const resolved = resolve(path)
    return resolved !== undefined && known.has(resolved) ? [] : [{ offset, target, isOutside: resolved === undefined }]
  }
  const first = links.flatMap(broken)
  const said = new Set(first.map(({ target }) => target))
  const others = paths.flatMap(broken).filter(({ target }) => !said.has(target) && said.add(target))
  return [...first, ...others]
}

interface Link {
  readonly offset: number
  readonly target: string
  /** Relative, without its base directory. */
  readonly path: string
}

function linksIn(text: string): readonly Link[] {
  const links: Link[] = []
  for (const { 1: quoted, 2: bare = '', index } of text.matchAll(LINK)) {
    // `<name>` alone is a word to fill in, as in a template.
    const path = quoted !== undefined && /^[\w-]+$/.test(quoted) ? undefined : relativePath(quoted ?? bare)
    if (path !== undefined) links.push({ offset: index + 2, target: quoted ?? bare, path })
    if (links.length === STRICT_LIMITS.maxLinks) break
  }
  return links
}

function pathsIn(body: string): readonly Link[] {
  const links: Link[] = []
  for (const { 0: written, 1: path = '', index } of body.matchAll(BASE_PATH)) {
    // A path with a part to fill in.
    if (/^[*<{$\u0080-\uffff]/.test(body.slice(index + written.length))) continue
    const [target, own] = [written, path.normalize('NFC')].map((each) => each.replace(/[.,:;]+$/, '')) as [
      string,
      string,
    ]
    links.push({ offset: index, target, path: own })
    if (links.length === STRICT_LIMITS.maxLinks) break
  }
  return links
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
