import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  type ParsedNode,
  Parser,
  Scalar,
} from 'yaml'
import { explainSyntax, type SyntaxKind, type Token } from './syntax.ts'

/** How much a text may have; `tokens` bounds the time of the library whatever the text is. */
export interface YamlLimits {
  readonly tokens: number
  /** Levels of nested mappings and lists. */
  readonly depth: number
  /** Keys and list entries in all. */
  readonly keys: number
  /** Backslashes in double quotes: each wrong one costs the library an error object. */
  readonly escapes: number
}

/** A problem as data; `offset` counts UTF-16 units from the start of the text. The words are those of who reads the text. */
export type YamlFault = { readonly offset: number } & (
  | { readonly kind: 'anchor' | 'alias' | 'tag' | 'core-tag' | 'directive'; readonly source: string }
  | { readonly kind: 'multiple-documents' | 'merge-key' | 'key-not-text' }
  | { readonly kind: 'too-complex'; readonly limit: number; readonly of: keyof YamlLimits }
  | ({ readonly kind: 'duplicate-key' } & Duplicate)
  | { readonly kind: 'syntax'; readonly of: SyntaxKind }
)

interface Duplicate {
  readonly path: readonly (string | number)[]
  /** Offset of the key where it was before. */
  readonly first: number
  /** Both pairs, in the order of the text. */
  readonly values: readonly [unknown, unknown]
  /** Each is a line of its own, not between brackets. */
  readonly isLine: boolean
}

/** `root` is undefined when a fault forbids its use, null when the text is empty. Of syntax errors there is only the first: others mostly follow from it. */
export interface YamlRead {
  readonly root: ParsedNode | null | undefined
  readonly faults: readonly YamlFault[]
}

/**
 * Parses one YAML 1.2 document with the core schema. Anchors, aliases, tags, merge keys, directives and further documents are faults.
 * Time is linear in the text: the library's own check for unique keys is quadratic and stays off, ours looks into a map.
 */
export function readYamlFully(text: string, limits: YamlLimits): YamlRead {
  const lexed = tokenize(text, limits.tokens)
  if ('fault' in lexed) return { root: undefined, faults: [lexed.fault] }
  const { tokens } = lexed
  const faults = inspect(tokens, limits)
  if (faults.some(({ kind }) => kind !== 'core-tag')) return { root: undefined, faults }
  const document = compose(tokens, text.length)
  if (document === undefined) return { root: null, faults }
  const [error] = document.errors
  if (error !== undefined) {
    const syntax = explainSyntax(error, text, () => walk(tokens))
    return { root: undefined, faults: [...faults, { kind: 'syntax', ...syntax }] }
  }
  const keys: YamlFault[] = []
  checkKeys(document.contents, [], keys)
  return { root: keys.length > 0 ? undefined : document.contents, faults: [...faults, ...keys] }
}

/** The tree of a text in which only the syntax counts; it may have errors. Undefined for an empty text and for one with more tokens. */
export function readYamlTree(text: string, tokens = Number.POSITIVE_INFINITY): Document.Parsed | undefined {
  const lexed = tokenize(text, tokens)
  return 'fault' in lexed ? undefined : compose(lexed.tokens, text.length)
}

function compose(tokens: readonly CST.Token[], length: number): Document.Parsed | undefined {
  const options = { version: '1.2', schema: 'core', merge: false, uniqueKeys: false, prettyErrors: false } as const
  for (const document of new Composer(options).compose(tokens, true, length)) return document
  return undefined
}

function tokenize(text: string, limit: number): { readonly tokens: CST.Token[] } | { readonly fault: YamlFault } {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > limit) return { fault: { kind: 'too-complex', limit, of: 'tokens', offset: parser.offset } }
    for (const token of parser.next(lexeme)) tokens.push(token)
  }
  for (const token of parser.end()) tokens.push(token)
  return { tokens }
}

interface Visited {
  readonly token: Token
  readonly depth: number
}

/** All tokens in the order of the text, with a stack of its own: no nesting exhausts the call stack. */
function* walk(tokens: readonly CST.Token[]): Generator<Visited, undefined> {
  const stack: Visited[] = tokens.map((token) => ({ token, depth: 0 })).reverse()
  for (let visited = stack.pop(); visited; visited = stack.pop()) {
    yield visited
    const { token, depth } = visited
    const below = COLLECTIONS.has(token.type) ? depth + 1 : depth
    for (const child of children(token)) stack.push({ token: child, depth: below })
  }
}

function inspect(tokens: readonly CST.Token[], limits: YamlLimits): YamlFault[] {
  const faults: YamlFault[] = []
  const counted = createCounts(limits)
  for (const visited of walk(tokens)) {
    const { token } = visited
    const excess = counted(visited)
    if (excess?.kind === 'too-complex') return [excess]
    const found = excess ?? refused(token.type, token.source ?? '', token.offset ?? 0)
    if (found) faults.push(found)
  }
  return faults.sort((a, b) => a.offset - b.offset)
}

const COLLECTIONS: ReadonlySet<string | undefined> = new Set(['block-map', 'block-seq', 'flow-collection'])

/** Counts what has a limit; returns a fault at the token that exceeds one. */
function createCounts(limits: YamlLimits): (visited: Visited) => YamlFault | undefined {
  const excess = (of: keyof YamlLimits, offset: number): YamlFault => ({
    kind: 'too-complex',
    limit: limits[of],
    of,
    offset,
  })
  let documents = 0
  let keys = 0
  let escapes = 0
  return ({ token, depth }) => {
    const { type, offset = 0, source = '' } = token
    if (COLLECTIONS.has(type) && depth >= limits.depth) return excess('depth', offset)
    switch (type) {
      case undefined:
        return ++keys > limits.keys ? excess('keys', placeOfItem(token)) : undefined
      case 'double-quoted-scalar':
        escapes += source.split('\\').length - 1
        return escapes > limits.escapes ? excess('escapes', offset) : undefined
      case 'document':
        return ++documents > 1 ? { kind: 'multiple-documents', offset } : undefined
      default:
        return undefined
    }
  }
}

const CORE_TAGS: ReadonlySet<string> = new Set(['!!str', '!!int', '!!float', '!!bool', '!!null', '!!map', '!!seq'])

function refused(type: string | undefined, source: string, offset: number): YamlFault | undefined {
  switch (type) {
    case 'tag':
      return { kind: CORE_TAGS.has(source) ? 'core-tag' : 'tag', source, offset }
    case 'anchor':
    case 'alias':
    case 'directive':
      return { kind: type, source, offset }
    default:
      return undefined
  }
}

/** Children of a token in reverse, so that a stack visits them in order. */
function children(token: object): Token[] {
  const { start, props, key, sep, value, items, end } = token as { [name: string]: unknown }
  const all = [start, props, key, sep, value, items, end].flat().reverse()
  return all.filter((child): child is Token => typeof child === 'object' && child !== null)
}

function placeOfItem(item: object): number {
  const { key, value, start } = item as { key?: CST.Token; value?: CST.Token; start?: CST.SourceToken[] }
  return key?.offset ?? start?.[0]?.offset ?? value?.offset ?? 0
}

/** Keys that cannot be data: given twice, merge keys, lists and mappings as keys. The depth is bounded. */
function checkKeys(node: unknown, path: readonly (string | number)[], faults: YamlFault[]): void {
  if (isSeq(node)) for (const [index, item] of node.items.entries()) checkKeys(item, [...path, index], faults)
  if (!isMap(node)) return
  const seen = new Map<string, Pair>()
  for (const pair of node.items) {
    const here = [...path, keyText(pair.key) ?? '']
    const offset = offsetOf(pair) ?? node.range?.[0] ?? 0
    const fault = keyFault(pair, seen, { path: here, isLine: node.flow !== true, offset })
    if (fault) faults.push(fault)
    checkKeys(pair.value, here, faults)
  }
}

function keyFault(
  pair: Pair,
  seen: Map<string, Pair>,
  about: Pick<Duplicate, 'path' | 'isLine'> & { readonly offset: number },
): YamlFault | undefined {
  const { key, value } = pair
  const { offset } = about
  const name = keyText(key)
  if (name === undefined) return { kind: 'key-not-text', offset }
  if (name === '<<' && isScalar(key) && key.type === Scalar.PLAIN) return { kind: 'merge-key', offset }
  const before = seen.get(name)
  if (before === undefined) seen.set(name, pair)
  else return { kind: 'duplicate-key', ...about, first: offsetOf(before) ?? 0, values: [before.value, value] }
  return undefined
}

function offsetOf({ key }: Pair): number | undefined {
  return (key as ParsedNode | null)?.range[0]
}

/** The text of a key; numbers and booleans as written, an absent key as the empty text, undefined for a list or mapping. */
export function keyText(key: unknown): string | undefined {
  if (key === null) return ''
  if (!isScalar(key)) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? '')
}
