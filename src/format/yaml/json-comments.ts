import { isMap, isSeq, type ParsedNode } from 'yaml'
import { type JsonComment, jsonCommentsIn, parseJson5 } from '../json5.ts'
import { readSyntax } from './read.ts'
import type { Repair } from './repair.ts'
import { GATING_KEYS, keyText } from './values.ts'

/**
 * The text with the comments of JSON5 as those of YAML, or as blanks, where the value of a key that gates is JSON5 in braces: YAML takes
 * `// …` and its longer form for a part of the next key. Every other character keeps its place.
 */
export function withoutJsonComments(text: string): { text: string; repairs: readonly Repair[] } {
  const repairs: Repair[] = []
  let mended = text
  for (const { key, start, end } of /\/[/*]/.test(text) ? bracesIn(text) : []) {
    const value = text.slice(start, end)
    const comments = jsonCommentsIn(value)
    const [first] = comments
    if (first === undefined || parseJson5(value) === undefined) continue
    for (const { from, to } of comments) {
      const comment = asYaml(text, { from: start + from, to: start + to })
      mended = mended.slice(0, start + from) + comment + mended.slice(start + to)
    }
    const before = text.slice(0, start + first.from)
    const sign = value.slice(first.from, first.from + 2)
    repairs.push({
      key,
      line: before.split('\n').length,
      column: before.length - before.lastIndexOf('\n'),
      because: `the value of ${key} has a comment that begins with ${sign}, which is none in YAML; it was read without it`,
      fix: `remove the comment that begins with ${sign}, or write it as # … on a line of its own`,
      isComment: true,
    })
  }
  return { text: mended, repairs }
}

/** At the end of a line the comment stays one; before more on the line there are only blanks. */
function asYaml(text: string, { from, to }: JsonComment): string {
  const isLast = /^[ \t]*(?:\r?\n|$)/.test(text.slice(to, to + 200))
  return text
    .slice(from, to)
    .replace(/\*\/$/, '  ')
    .replace(/^\/[/*]/, isLast ? ' #' : '  ')
    .split('\n')
    .map((line, index) => (index === 0 ? (isLast ? line : blanksFor(line)) : blanksFor(line)))
    .join('\n')
}

function blanksFor(line: string): string {
  return line.replace(/[^\r]/g, ' ')
}

interface Braces {
  readonly key: string
  readonly start: number
  readonly end: number
}

/** The outermost mappings in braces that may gate. */
function bracesIn(text: string): readonly Braces[] {
  const root = readSyntax(text)
  return root === undefined ? bracesOfLines(text) : bracesBelow(root)
}

function bracesBelow(root: ParsedNode | null): readonly Braces[] {
  const found: Braces[] = []
  const visit = (node: unknown, key: string): void => {
    if (isMap(node) && node.flow === true) {
      const [start, end] = (node as ParsedNode).range
      found.push({ key, start, end })
    } else if (isMap(node)) for (const { value } of node.items) visit(value, key)
    else if (isSeq(node)) for (const item of node.items) visit(item, key)
  }
  if (isMap(root) && root.flow !== true) {
    for (const { key, value } of root.items) {
      const name = keyText(key) ?? ''
      if (GATING_KEYS.has(name)) visit(value, name)
    }
  } else visit(root, 'the frontmatter')
  return found
}

const BEGINS = /^(?:(metadata|requires|install)[ \t]*:[ \t]*(?:\n[ \t]+)?)?(?=\{)/gm

/** The same in a text that is no YAML: the value of a key at the first column, up to the next line that begins there. */
function bracesOfLines(text: string): readonly Braces[] {
  return [...text.matchAll(BEGINS)].map((match) => {
    const start = match.index + match[0].length
    const end = /\n(?=[^\s}])/.exec(text.slice(start))?.index ?? text.length - start
    return { key: match[1] ?? 'the frontmatter', start, end: start + text.slice(start, start + end).trimEnd().length }
  })
}
