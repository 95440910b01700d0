import { type CST, Lexer, type YAMLError } from 'yaml'
import { withoutUnseen } from '../../../kernel/index.ts'
import { wrongBracket } from '../json5.ts'
import { found } from '../messages/messages.ts'
import type { SyntaxFault } from '../messages/yaml.ts'
import type { YamlProblem } from '../report.ts'

interface YamlSource {
  readonly text: string
  readonly tokens: readonly CST.Token[]
}

/** What the YAML library reports, as data that needs no knowledge of the library. */
export function problemOf({ code, message, pos: [offset] }: YAMLError, source: YamlSource): YamlProblem {
  const { fault, at = offset } = bracketFault(message, source.tokens) ?? {
    fault: faultOf(code, message, { source, offset }),
  }
  return { ...found('yaml-invalid', fault), offset: at }
}

const BY_CODE: Readonly<Record<string, SyntaxFault>> = {
  BLOCK_AS_IMPLICIT_KEY: { kind: 'colon' },
  TAB_AS_INDENT: { kind: 'tab' },
  BAD_DQ_ESCAPE: { kind: 'escape' },
}
const NOT_A_KEY = /^Implicit (?:map )?keys need to be|^Sequence item without - indicator|must be at most 1024 chars/

function faultOf(
  code: string,
  message: string,
  { source, offset }: { source: YamlSource; offset: number },
): SyntaxFault {
  const quote = /^Missing closing (["'])quote$/.exec(message)?.[1]
  if (quote !== undefined) return { kind: 'quote', quote }
  if (/\bflow\b/.test(message)) return between(message, source.text.slice(0, offset))
  if (NOT_A_KEY.test(message)) return lineFault(source.text, offset)
  if (/^All (?:mapping|sequence) items must start at the same column$/.test(message)) return { kind: 'indent' }
  if (/^A block sequence may not|^Unexpected block-seq-ind/.test(message)) return { kind: 'list-on-line' }
  if (message.startsWith('Block scalar header')) return { kind: 'header' }
  if (message.endsWith('at node end') || /^Unexpected \w+-quoted-scalar token$/.test(message))
    return textBehind(source.text.slice(0, offset))
  if (code === 'BAD_SCALAR_START') return { kind: 'begins', sign: source.text.charAt(offset) }
  return BY_CODE[code] ?? { kind: 'other', message }
}

/** Only behind a whole value is it known what is missing. */
function between(message: string, before: string): SyntaxFault {
  const fault = textBehind(before)
  return /^Missing , (?:or : )?between/.test(message) && fault.kind === 'comma' ? fault : { kind: 'separators' }
}

/** Text goes on where the value has ended: behind a quote or a bracket. */
function textBehind(before: string): SyntaxFault {
  const sign = before.trimEnd().at(-1) ?? ''
  if (!/["'\]}]/.test(sign)) return { kind: 'value' }
  return { kind: isBetweenBrackets(before) ? 'comma' : 'follows', sign }
}

/** Whether the value of the last key at the margin has an open bracket there. */
function isBetweenBrackets(before: string): boolean {
  const start = Math.max(0, ...[...before.matchAll(/^[\w.-]+[ \t]*:/gm)].map(({ index, 0: key }) => index + key.length))
  const quoted = /"(?:\\.|[^"\\])*"|'[^']*'/g
  const signs = before.slice(start).replace(quoted, '')
  return (signs.match(/[[{]/g) ?? []).length > (signs.match(/[\]}]/g) ?? []).length
}

/** What the lexer writes between the pieces of a text. */
const LEXER_MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f'])
/** The lexer puts it before a scalar, whose text may be a bracket too. */
const SCALAR_MARK = '\u001f'

/** The first bracket that closes one of the other kind: the library reports only what follows from it. */
export function bracketProblem(text: string): YamlProblem | undefined {
  const pieces: { sign: string; at: number }[] = []
  let at = 0
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    if (before !== SCALAR_MARK) pieces.push({ sign: lexeme, at })
    if (!LEXER_MARKS.has(lexeme)) at += lexeme.length
    before = lexeme
  }
  const wrong = wrongBracket(pieces)
  if (wrong === undefined) return undefined
  const { at: offset, ...brackets } = wrong
  return { ...found('yaml-invalid', { kind: 'brackets', ...brackets }), offset }
}

/** A bracket that is not closed is reported where it opens, not where the text ends. */
function bracketFault(
  message: string,
  tokens: readonly CST.Token[],
): { readonly fault: SyntaxFault; readonly at?: number } | undefined {
  if (!/^(?:Block|Flow) (?:map|seq\w*|collection).* end with a [\]}]$/i.test(message)) return undefined
  const closer = message.at(-1) ?? ''
  const opener = closer === '}' ? '{' : '['
  const at = openBracket(tokens, opener)
  const fault = { kind: 'bracket', opener, closer, isOpen: at !== undefined } as const
  return at === undefined ? { fault } : { fault, at }
}

/** Offset of the first bracket of a kind that nothing closes. Walks with its own stack: nesting may be deep. */
function openBracket(tokens: readonly CST.Token[], opener: string): number | undefined {
  const stack: unknown[] = [...tokens].reverse()
  while (stack.length > 0) {
    const at = stack.pop()
    if (typeof at !== 'object' || at === null) continue
    const { type, start, end, offset, items, key, value } = at as Readonly<Record<string, unknown>>
    const isOpen =
      Array.isArray(end) && !end.some(({ type: kind }: CST.Token) => kind === 'flow-map-end' || kind === 'flow-seq-end')
    if (type === 'flow-collection' && (start as CST.SourceToken).source === opener && isOpen) return Number(offset)
    stack.push(value, key, ...(Array.isArray(items) ? [...(items as unknown[])].reverse() : []))
  }
  return undefined
}

function lineFault(text: string, offset: number): SyntaxFault {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const line = text.slice(start).split('\n', 1)[0] ?? ''
  const right = asKeyLine(line)
  if (right !== undefined) {
    const [, key = '', sign] = KEY_AND_SIGN.exec(line) ?? []
    // A long line is not repeated, and only its space is missing.
    return sign === ':' && right.length < line.length ? { kind: 'colon-space', key } : { kind: 'line', right }
  }
  const above = text.slice(0, start).split('\n').slice(0, -1)
  if (/^[\w.-]+[ \t]*:[ \t]*$/.test(above.at(-1) ?? '')) return { kind: 'line', isBelowEmpty: true }
  const lastKey = above.findLastIndex((line) => /^[\w.-]+[ \t]*:(?:\s|$)/.test(line))
  // An empty line or a heading does not come between keys.
  const isText = above.slice(lastKey + 1).some((line) => line.trim() === '' || line.startsWith('#'))
  return { kind: 'line', isText }
}

/** A key, and what is there instead of a colon and a space: also `=`, and colons of other alphabets. */
const KEY_AND_SIGN = /^\s*["']?([\w.-]+)["']?\s*([:=\uff1a\ua789\u2236])(.*)$/u
const KEY_WITHOUT_SIGN = /^(name|description|license|compatibility|version)[ \t]+([^:=\s].*)$/

/** A line that was probably meant as `key: value`, written right; undefined when it was not. */
export function asKeyLine(line: string): string | undefined {
  const [, word, text = ''] = KEY_WITHOUT_SIGN.exec(line) ?? []
  if (word !== undefined) return keyLine(word, text)
  const [, key = '', sign = '', value = ''] = KEY_AND_SIGN.exec(line) ?? []
  if (key === '' || (sign === ':' && /^[ \t]|^$|^\/\//.test(value))) return undefined
  return keyLine(key, value)
}

/** A long line is not repeated: it may not be cut. */
function keyLine(key: string, value: string): string {
  const isSpace = (character: string): boolean => withoutUnseen(character).trim() === ''
  let start = 0
  while (start < value.length && isSpace(value.charAt(start))) start++
  const text = value.slice(start).trimEnd()
  return text.length > 80 ? `${key}: <the text of the line>` : `${key}: ${text}`
}
