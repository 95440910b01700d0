import type { CST, YAMLError } from 'yaml'
import { withoutUnseen } from '../../../kernel/index.ts'
import { found } from '../messages/messages.ts'
import type { SyntaxKind } from '../messages/yaml.ts'
import type { YamlProblem } from '../report.ts'

interface YamlSource {
  readonly text: string
  readonly tokens: readonly CST.Token[]
}

/** The errors of the YAML library that have words of ours, by its code and message; the first that fits counts. */
const KINDS: readonly (readonly [pattern: RegExp, kind: SyntaxKind])[] = [
  [/ Missing closing ["']quote$/, 'quote'],
  [/ (?:Block|Flow) (?:map|seq\w*|collection).* end with a [\]}]$/i, 'bracket'],
  [/\bflow\b/, 'separators'],
  [/ Implicit (?:map )?keys need to be| Sequence item without - indicator|must be at most 1024 chars/, 'line'],
  [/ All (?:mapping|sequence) items must start at the same column$/, 'indent'],
  [/^TAB_AS_INDENT /, 'tab'],
  [/^BAD_DQ_ESCAPE /, 'escape'],
  [/^BLOCK_AS_IMPLICIT_KEY /, 'colon'],
  [
    /^BAD_SCALAR_START |at node end$| Unexpected \w+-quoted-scalar token$| A block sequence may not| Unexpected block-seq-ind| Block scalar header/,
    'value',
  ],
]

/** What the YAML library reports, as data that needs no knowledge of the library. */
export function problemOf({ code, message, pos: [at] }: YAMLError, { text, tokens }: YamlSource): YamlProblem {
  const kind = KINDS.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1] ?? 'other'
  if (kind === 'line') return { ...found('yaml-invalid', ...lineFault(text, at)), offset: at }
  // A bracket that is not closed is reported where it opens, not where the text ends.
  const offset = kind === 'bracket' ? openBracket(tokens, message.endsWith('}') ? '{' : '[') : undefined
  return { ...found('yaml-invalid', kind, message), offset: offset ?? at }
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

/** A line that is no key: near to one, or text behind a frontmatter without its end. */
function lineFault(text: string, offset: number): [kind: SyntaxKind, right?: string] {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const right = asKeyLine(text.slice(start).split('\n', 1)[0] ?? '')
  if (right !== undefined) return ['key', right]
  const above = text.slice(0, start).split('\n').slice(0, -1)
  const lastKey = above.findLastIndex((line) => /^[\w.-]+[ \t]*:(?:\s|$)/.test(line))
  // An empty line or a heading does not come between keys.
  return [above.slice(lastKey + 1).some((line) => line.trim() === '' || line.startsWith('#')) ? 'end' : 'line']
}

/** A key, and what is there instead of a colon and a space: also `=`, and colons of other alphabets. */
const KEY_AND_SIGN = /^\s*["']?([\w.-]+)["']?\s*([:=\uff1a\ua789\u2236])(.*)$/u
const KEY_WITHOUT_SIGN = /^(name|description|license|compatibility|version)[ \t]+([^:=\s].*)$/

/** A line that was probably meant as `key: value`, written right; undefined when it was not. */
export function asKeyLine(line: string): string | undefined {
  const [, word, text = ''] = KEY_WITHOUT_SIGN.exec(line) ?? []
  if (word !== undefined) return keyLine(word, text)
  const [, key = '', sign = '', value = ''] = KEY_AND_SIGN.exec(line) ?? []
  return key === '' || (sign === ':' && /^[ \t]|^$|^\/\//.test(value)) ? undefined : keyLine(key, value)
}

/** A long line is not repeated: it may not be cut. */
function keyLine(key: string, value: string): string {
  const characters = [...value]
  const first = characters.findIndex((character) => withoutUnseen(character).trim() !== '')
  const text = first < 0 ? '' : characters.slice(first).join('').trimEnd()
  return `${key}: ${text.length > 80 ? '<the text of the line>' : text}`
}
