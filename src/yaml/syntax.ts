import type { YAMLError } from 'yaml'

const ALIGN = 'Give all keys of one mapping, and all entries of one list, the same number of spaces.'
const QUOTE_IT = 'Correct the value, or put quotes around all of it if it is text.'

/** One sentence and one fix for each kind of syntax error; no text of the file is in them, because it may be a secret. */
export const SYNTAX = {
  quote: ['A closing quote is missing.', 'Write the quote at the end of the value, too.'],
  bracket: ['A bracket is not closed.', 'Write the missing ] or }, probably at the end of the value.'],
  separators: [
    'A comma, a colon, a quote or a bracket is missing or too many between brackets.',
    'Check the text before this place, or write one key a line without brackets.',
  ],
  line: [
    'The line is not "key: value".',
    'Indent it by two spaces when it belongs to the value above. Otherwise write "key: value", with a space after the colon.',
  ],
  indent: ['The line does not have the indentation of the lines that it belongs to.', ALIGN],
  continued: ['The value goes on in the next line, which looks like a key.', ALIGN],
  tab: ['The line is indented with a tab.', 'Indent with spaces.'],
  escape: [
    'Double quotes contain a backslash that YAML does not know.',
    "Use single quotes, '…', or write two backslashes for one.",
  ],
  colon: ['A value without quotes contains ": ".', QUOTE_IT],
  value: ['The value contains a sign that is syntax in YAML at its place.', QUOTE_IT],
  other: ['The YAML is not valid.', QUOTE_IT],
} as const

export type SyntaxKind = keyof typeof SYNTAX

/** The errors of the library by code and message; the first that fits decides. */
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

/** A token of the library, or an item of a collection, which has no type. */
export interface Token {
  readonly type?: string
  readonly offset?: number
  readonly source?: string
}

type Tokens = Iterable<{ readonly token: Token }>

/** Kind and place of an error, given the text and its tokens in order. */
export function explainSyntax(
  { code, message, pos: [at] }: YAMLError,
  text: string,
  tokens: () => Tokens,
): { readonly of: SyntaxKind; readonly offset: number } {
  const of = kindOf(`${code} ${message}`, text.slice(at).split('\n', 1)[0] ?? '')
  const quote = of === 'escape' ? undefined : openQuote(tokens(), at)
  if (quote !== undefined) return { of: 'quote', offset: quote }
  const bracket = of === 'bracket' ? openBracket(tokens(), message.endsWith('}') ? '{' : '[') : undefined
  return { of, offset: bracket ?? at }
}

function kindOf(error: string, line: string): SyntaxKind {
  const kind = KINDS.find(([pattern]) => pattern.test(error))?.[1] ?? 'other'
  if (kind === 'colon' && !/:(?:\s|$)/.test(line)) return 'continued'
  return kind === 'line' && /^ *(?:- +)*[\w.$-]+:(?: |$)/.test(line) ? 'indent' : kind
}

/** A quoted text that ends just before the error, without its closing quote or with that on a later line. */
function openQuote(tokens: Tokens, at: number): number | undefined {
  for (const { token } of tokens) {
    const { type, offset = 0, source = '' } = token
    if (type !== 'single-quoted-scalar' && type !== 'double-quoted-scalar') continue
    const isOpen = source.length < 2 || !source.endsWith(source.charAt(0)) || source.includes('\n')
    if (isOpen && offset < at && offset + source.length + 1 >= at) return offset
  }
  return undefined
}

/** The first bracket of a kind that nothing closes: the library reports where the text ends. */
function openBracket(tokens: Tokens, opener: string): number | undefined {
  for (const { token } of tokens) {
    if (token.type !== 'flow-collection') continue
    const { start, end } = token as unknown as { readonly start: Token; readonly end: readonly Token[] }
    const isOpen = !end.some(({ type }) => type === 'flow-map-end' || type === 'flow-seq-end')
    if (isOpen && start.source === opener) return token.offset
  }
  return undefined
}
