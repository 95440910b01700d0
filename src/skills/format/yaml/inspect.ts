import { type CST, Lexer, Parser } from 'yaml'
import { FORMAT_LIMITS } from '../limits.ts'
import { found } from '../messages/messages.ts'
import type { FormatFound } from '../report.ts'

/** Something wrong in a YAML text; `offset` counts UTF-16 units from its start. */
export interface YamlProblem extends FormatFound {
  readonly offset: number
  /** Where the same key was before; its line becomes the last fact. */
  readonly first?: number
}

const CORE_TAGS: ReadonlySet<string> = new Set(['!!str', '!!int', '!!float', '!!bool', '!!null', '!!map', '!!seq'])

/** The concrete syntax of a YAML text, or the reason why it is not looked at: too many tokens. */
export function tokenize(text: string): { tokens: CST.Token[] } | { problem: YamlProblem } {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > FORMAT_LIMITS.maxTokens) {
      return { problem: tooComplex(FORMAT_LIMITS.maxTokens, 'tokens', parser.offset) }
    }
    for (const token of parser.next(lexeme)) tokens.push(token)
  }
  for (const token of parser.end()) tokens.push(token)
  return { tokens }
}

/** A token, or an item of a collection, which has no type of its own. */
interface Visited {
  readonly token: { readonly type?: string; readonly offset?: number; readonly source?: string }
  readonly depth: number
}

/**
 * What a skill's frontmatter may not hold although it is YAML: anchors, aliases, tags, directives, further documents, and
 * more keys, levels or escapes than the limits. Walks with its own stack, so that no nesting exhausts the call stack.
 */
export function inspect(tokens: readonly CST.Token[]): YamlProblem[] {
  const problems: YamlProblem[] = []
  const counted = createCounts()
  const stack: Visited[] = tokens.map((token) => ({ token, depth: 0 })).reverse()
  for (let visited = stack.pop(); visited; visited = stack.pop()) {
    const { token, depth } = visited
    const excess = counted(visited)
    if (excess?.code === 'yaml-too-complex') return [excess]
    const found = excess ?? refused(token.type, token.source ?? '', token.offset ?? 0)
    if (found) problems.push(found)
    const below = COLLECTIONS.has(token.type) ? depth + 1 : depth
    for (const child of children(token)) stack.push({ token: child, depth: below })
  }
  return problems.sort((a, b) => a.offset - b.offset)
}

const COLLECTIONS: ReadonlySet<string | undefined> = new Set(['block-map', 'block-seq', 'flow-collection'])

/** Counts what has a limit; returns a problem at the token that exceeds one. */
function createCounts(): (visited: Visited) => YamlProblem | undefined {
  const { maxDepth, maxEscapes, maxKeys } = FORMAT_LIMITS
  let documents = 0
  let keys = 0
  let escapes = 0
  return ({ token, depth }) => {
    const { type, offset = 0, source = '' } = token
    if (COLLECTIONS.has(type) && depth >= maxDepth) return tooComplex(maxDepth, 'levels', offset)
    switch (type) {
      case undefined:
        return ++keys > maxKeys ? tooComplex(maxKeys, 'keys and list entries', placeOfItem(token)) : undefined
      case 'double-quoted-scalar':
        escapes += source.split('\\').length - 1
        return escapes > maxEscapes ? tooComplex(maxEscapes, 'backslashes in quotes', offset) : undefined
      case 'document':
        return ++documents > 1 ? { ...found('yaml-multiple-documents'), offset } : undefined
      default:
        return undefined
    }
  }
}

function refused(type: string | undefined, source: string, offset: number): YamlProblem | undefined {
  const what = source.length > 40 ? `${source.slice(0, 40).toWellFormed()}…` : source
  switch (type) {
    case 'anchor':
      return { ...found('yaml-anchor', what), offset }
    case 'alias':
      return { ...found('yaml-alias', what), offset }
    case 'tag':
      return { ...found(CORE_TAGS.has(source) ? 'yaml-core-tag' : 'yaml-tag', what), offset }
    case 'directive':
      return { ...found('yaml-directive', what), offset }
    default:
      return undefined
  }
}

/** Children of a token in reverse, so that a stack visits them in order. */
function children(token: object): Visited['token'][] {
  const { start, props, key, sep, value, items, end } = token as { [name: string]: unknown }
  const all = [start, props, key, sep, value, items, end].flat().reverse()
  return all.filter((child): child is Visited['token'] => typeof child === 'object' && child !== null)
}

function placeOfItem(item: object): number {
  const { key, value, start } = item as { key?: CST.Token; value?: CST.Token; start?: CST.SourceToken[] }
  return key?.offset ?? start?.[0]?.offset ?? value?.offset ?? 0
}

function tooComplex(limit: number, what: string, offset: number): YamlProblem {
  return { ...found('yaml-too-complex', limit, what), offset }
}
