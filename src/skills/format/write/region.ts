import { isMap, isScalar, Lexer, type Pair, type ParsedNode, type YAMLMap } from 'yaml'
import { readLeniently } from '../frontmatter.ts'
import { keyText } from '../../../yaml/index.ts'
import { type Layout, yamlOf } from './layout.ts'

/** The lines of a key and its value in a frontmatter, from 0. */
export interface Region {
  /** Line of the key, and the line after the last one of the value. */
  readonly from: number
  readonly to: number
  /** Column of the key, from 0. */
  readonly indent: number
  /** The key as written, with its quotes. */
  readonly keyText: string
  /** Comments on and between these lines, each beginning with #. */
  readonly comments: readonly string[]
}

/** The tree over a frontmatter's lines; `text` has the same lines, with the repairs of reading. */
export interface Tree {
  readonly text: string
  readonly root: YAMLMap
}

/** Parses the lines of a layout; undefined when they are no mapping. */
export function readTree(layout: Layout): Tree | undefined {
  const { text, read } = readLeniently(yamlOf(layout))
  const root = read.root
  return isMap(root) ? { text, root: root as unknown as YAMLMap } : undefined
}

/** The pair of a key. */
export function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => keyText(pair.key) === key)
}

/** The region of a pair of block style. */
export function regionOf({ text }: Tree, pair: Pair): Region | undefined {
  const key = pair.key as ParsedNode | null
  const value = pair.value as ParsedNode | null
  if (!isScalar(key)) return undefined
  const start = key.range[0]
  const from = text.slice(0, start).split('\n').length - 1
  let end = value?.range[1] ?? key.range[1]
  while (end > start && /\s/.test(text[end - 1] ?? '')) end--
  const to = from + text.slice(start, end).split('\n').length
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lastLineEnd = text.indexOf('\n', end)
  return {
    from,
    to,
    indent: start - lineStart,
    keyText: text.slice(start, key.range[1]),
    comments: commentsIn(text.slice(lineStart, lastLineEnd < 0 ? text.length : lastLineEnd)),
  }
}

/** What the lexer puts before a scalar, whose text may begin with # too. */
const SCALAR_MARK = '\u001f'

/** Comments of a piece of YAML, without the white space around them. */
export function commentsIn(yaml: string): string[] {
  if (!yaml.includes('#')) return []
  const lexemes = [...new Lexer().lex(yaml)]
  return lexemes
    .filter((lexeme, index) => lexeme.startsWith('#') && lexemes[index - 1] !== SCALAR_MARK)
    .map((comment) => comment.trim())
}
