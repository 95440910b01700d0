import { CST, Parser } from 'yaml'
import { tokensIn } from '../secrets/mask.ts'
import { isGuarded } from '../secrets/places.ts'
import type { PathKey } from './read-yaml.ts'
import { knownWords, takesAnyName, takesPlainValue } from './schema-walk.ts'

/** The lines of a file as they may be shown. */
export interface SourceLines {
  readonly lines: readonly string[]
  /** Where a column of the file, from 1, is in the line that is shown. */
  columnOf(line: number, column: number): number
}

/**
 * Shows what is known to be harmless: the signs of YAML, keys, and values where the schema takes a plain one that is no
 * secret. Everything else is `[hidden]`, so that no fault in the file, however odd, brings a secret to light.
 */
export function shownLines(text: string, secrets: readonly string[]): SourceLines {
  const shown = new Uint8Array(text.length)
  const marker: Marker = { shown, words: knownWords() }
  for (const token of new Parser().parse(text)) markDocument(token, marker)
  for (const secret of secrets) if (secret.length >= MIN_SECRET_CHARS) hide(text, secret, shown)
  for (const token of tokensIn(text)) hide(text, token, shown)
  const lines: Covered[] = []
  let from = 0
  for (const line of text.split('\n')) {
    lines.push(cover(line.replace(/\r$/, ''), (index) => shown[from + index] === 1))
    from += line.length + 1
  }
  return {
    lines: lines.map(({ line }) => line),
    columnOf: (line, column) => lines[line - 1]?.columnOf(column) ?? column,
  }
}

/** As the redactor: shorter ones are words of any text. */
const MIN_SECRET_CHARS = 6

interface Marker {
  /** 1 for every character that may be shown. */
  readonly shown: Uint8Array
  readonly words: ReadonlySet<string>
}

/** Shown whole. A password may look like any other sign, a comment included: of those only the first character is shown. */
const SIGNS: ReadonlySet<string> = new Set([
  ...['byte-order-mark', 'doc-mode', 'doc-start', 'doc-end', 'newline', 'space', 'comma'],
  ...['explicit-key-ind', 'map-value-ind', 'seq-item-ind'],
  ...['flow-map-start', 'flow-map-end', 'flow-seq-start', 'flow-seq-end'],
])
const SIGNED: ReadonlySet<string> = new Set([
  ...['comment', 'anchor', 'tag', 'alias', 'directive-line', 'block-scalar-header'],
])
/** As deep as settings may be nested, and some more. */
const MAX_DEPTH = 64

function markDocument(token: CST.Token, marker: Marker): void {
  if (token.type !== 'document') return markSigns([token as CST.SourceToken], marker)
  markSigns(token.start, marker)
  markValue(token.value, [], marker)
  markSigns(token.end, marker)
}

function markSigns(tokens: readonly CST.SourceToken[] | undefined, { shown }: Marker): void {
  for (const { type, offset, source } of tokens ?? []) {
    if (SIGNS.has(type)) shown.fill(1, offset, offset + source.length)
    else if (SIGNED.has(type)) shown[offset] = 1
  }
}

function markValue(token: CST.Token | null | undefined, keys: readonly PathKey[], marker: Marker): void {
  if (!token || keys.length > MAX_DEPTH) return
  if (CST.isCollection(token)) return markItems(token, keys, marker)
  if (token.type === 'alias') return markSigns([token as unknown as CST.SourceToken], marker)
  if (token.type === 'block-scalar') markSigns(token.props as CST.SourceToken[], marker)
  if (!isScalar(token)) return
  if (token.type !== 'block-scalar') markSigns(token.end, marker)
  if (isGuarded(keys)) return
  // A password in an address is hidden wherever the address stands.
  if (takesPlainValue(keys) && !/\/\/[^/]*@/.test(token.source))
    marker.shown.fill(1, token.offset, token.offset + lengthOf(token))
  else if (token.type === 'scalar') markWords(token, marker)
}

type Scalar = CST.FlowScalar | CST.BlockScalar

function isScalar(token: CST.Token): token is Scalar {
  return /scalar$/.test(token.type)
}

/** Of a block scalar the offset is that of its header. */
function lengthOf(token: Scalar): number {
  const header =
    token.type === 'block-scalar' ? (token.props as CST.SourceToken[]).map(({ source }) => source).join('') : ''
  return header.length + token.source.length
}

function markItems(
  token: CST.BlockMap | CST.BlockSequence | CST.FlowCollection,
  keys: readonly PathKey[],
  marker: Marker,
): void {
  const isList =
    token.type === 'block-seq' || (token.type === 'flow-collection' && token.start.type === 'flow-seq-start')
  if (token.type === 'flow-collection') markSigns([token.start, ...token.end], marker)
  for (const [index, { start, key, sep, value }] of token.items.entries()) {
    const here = isList ? [...keys, index] : keys
    markSigns(start, marker)
    markSigns(sep, marker)
    const name = key ? nameOf(key) : undefined
    if (key && sep?.some(({ type }) => type === 'map-value-ind')) markKey(key, { name, keys: here, marker })
    else markValue(key, here, marker)
    markValue(value, name === undefined ? here : [...here, name], marker)
  }
}

/** The text of a key; what is wrong with it has been reported long before. */
function nameOf(key: CST.Token): string | undefined {
  if (!isScalar(key)) return undefined
  return CST.resolveAsScalar(key, false, () => undefined).value
}

/** A key is shown when it is a word, or may be any name; a key of a file that is broken can be anything. */
function markKey(
  key: CST.Token,
  { name = '', keys, marker }: { name: string | undefined; keys: readonly PathKey[]; marker: Marker },
): void {
  if (!isScalar(key)) return markValue(key, keys, marker)
  const isWord = marker.words.has(name) || /^[A-Za-z_][A-Za-z_.-]{0,39}$/.test(name)
  const isName = /^[\w.:-]{1,64}$/.test(name) && takesAnyName(keys) && !isGuarded([...keys, name])
  if (isWord || isName) marker.shown.fill(1, key.offset, key.offset + key.source.length)
  else if (key.type === 'scalar') markWords(key, marker)
}

/** Known words that begin a line of a plain text: a setting whose colon was forgotten. */
function markWords({ offset, source }: Pick<Scalar, 'offset' | 'source'>, { shown, words }: Marker): void {
  for (const { index, 0: begin, 1: word = '' } of source.matchAll(/^[ \t]*([A-Za-z_]\w*):?/gm))
    if (words.has(word)) shown.fill(1, offset + index, offset + index + begin.length)
}

function hide(text: string, secret: string, shown: Uint8Array): void {
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length))
    shown.fill(0, at, at + secret.length)
}

interface Covered {
  readonly line: string
  columnOf(column: number): number
}

const HIDDEN = '[hidden]'

/** Puts one mark in the place of each run of hidden characters; blanks inside a run belong to it. */
function cover(line: string, isShown: (index: number) => boolean): Covered {
  const starts: number[] = []
  const isOpen = (index: number): boolean => isShown(index) || isBlank(line[index])
  let covered = ''
  let index = 0
  while (index < line.length) {
    const end = isOpen(index) ? index + 1 : endOfRun(line, index, isShown)
    for (let at = index; at < end; at++) starts.push(covered.length)
    covered += isOpen(index) ? line[index] : HIDDEN
    index = end
  }
  return { line: covered, columnOf: (column) => (starts[column - 1] ?? covered.length) + 1 }
}

/** After the last hidden character that only blanks part from the one at `from`. */
function endOfRun(line: string, from: number, isShown: (index: number) => boolean): number {
  let end = from + 1
  for (let at = end; at < line.length && (isBlank(line[at]) || !isShown(at)); at++) if (!isBlank(line[at])) end = at + 1
  return end
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
