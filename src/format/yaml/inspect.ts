import { type CST, Lexer, Parser } from 'yaml'
import { FORMAT_LIMITS } from '../limits.ts'
import type { FormatCode } from '../report.ts'

/** Something wrong in a YAML text; `offset` counts UTF-16 units from its start. */
export interface YamlProblem {
  readonly code: FormatCode
  readonly message: string
  readonly offset: number
  readonly fix?: string
}

const CORE_TAGS: ReadonlySet<string> = new Set(['!!str', '!!int', '!!float', '!!bool', '!!null', '!!map', '!!seq'])

/** The concrete syntax of a YAML text, or the reason why it is not looked at: too many tokens. */
export function tokenize(text: string): { tokens: CST.Token[] } | { problem: YamlProblem } {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > FORMAT_LIMITS.maxTokens) {
      return { problem: tooComplex(`more than ${FORMAT_LIMITS.maxTokens} tokens`, parser.offset) }
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
    if (COLLECTIONS.has(type) && depth >= maxDepth) return tooComplex(`more than ${maxDepth} levels`, offset)
    switch (type) {
      case undefined:
        return ++keys > maxKeys
          ? tooComplex(`more than ${maxKeys} keys and list entries`, placeOfItem(token))
          : undefined
      case 'double-quoted-scalar':
        escapes += source.split('\\').length - 1
        return escapes > maxEscapes ? tooComplex(`more than ${maxEscapes} backslashes in quotes`, offset) : undefined
      case 'document':
        return ++documents > 1
          ? { code: 'yaml-multiple-documents', message: 'a second YAML document begins here', offset }
          : undefined
      default:
        return undefined
    }
  }
}

function refused(type: string | undefined, source: string, offset: number): YamlProblem | undefined {
  switch (type) {
    case 'anchor':
      return {
        code: 'yaml-anchor',
        message: `the anchor ${shown(source)}: YAML anchors are not accepted`,
        offset,
        fix: `remove ${bare(source)}, and nothing else of the value`,
      }
    case 'alias':
      return {
        code: 'yaml-alias',
        message: `the alias ${shown(source)}: YAML aliases are not accepted`,
        offset,
        fix: `write what is meant in place of ${bare(source)}`,
      }
    case 'tag':
      return CORE_TAGS.has(source)
        ? {
            code: 'yaml-core-tag',
            message: `the tag ${source} is not needed`,
            offset,
            fix: source === '!!str' ? 'put quotes around text instead of a tag' : `remove ${source}`,
          }
        : {
            code: 'yaml-tag',
            message: `the tag ${shown(source)}: YAML tags are not accepted`,
            offset,
            fix: fixOfTag(source),
          }
    case 'directive':
      return {
        code: 'yaml-directive',
        message: `the directive ${shown(source)}: YAML directives are not accepted`,
        offset,
        fix: 'remove the line',
      }
    default:
      return undefined
  }
}

/** A flag may be all of a tag: without it nothing would be left. */
function fixOfTag(source: string): string {
  const [, word] = /^!(true|false|yes|no|on|off)$/i.exec(source) ?? []
  return word === undefined ? `remove the tag ${bare(source)}` : `write ${word} in place of ${bare(source)}`
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

function tooComplex(what: string, offset: number): YamlProblem {
  return {
    code: 'yaml-too-complex',
    message: `the frontmatter has ${what}`,
    offset,
    fix: 'move data into a file beside SKILL.md',
  }
}

function bare(source: string): string {
  return source.length > 40 ? `${source.slice(0, 40).toWellFormed()}…` : source
}

function shown(source: string): string {
  return JSON.stringify(source.length > 40 ? `${source.slice(0, 40)}…` : source)
}
