/** frame-lines: the lines of a nexus.yaml as they may be shown beside a finding. */
import { isCollection, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml'
import { MIN_SECRET_CHARS, nearest } from '../../kernel/index.ts'
import { keyText, readYamlTree } from '../../yaml/index.ts'
import { holdsOf, isSecretName, memberOf, ROOT, type Schema, schemaFor, settingNames } from '../schema/walk.ts'
import { shownValue } from '../secrets/mask.ts'
import { HIDDEN, type Path } from './path.ts'
import { shownKeyAt } from './shown-key.ts'

/** The lines of a file as they may be shown. */
export interface SourceLines {
  readonly lines: readonly string[]
  /** Where a column of the file, from 1, is in the line that is shown. */
  columnOf(line: number, column: number): number
}

/** For each character of a file: part of a value that is hidden, shown, or (0) between values. */
const IN_VALUE = 1
const SHOWN = 2

/**
 * Shows keys, the signs of YAML, and values that the schema marks as public; a misspelt key is read as the setting that it is near to.
 * Of a file that is not YAML only the names of settings at the beginning of a line are shown, with a plain word behind them: what else is
 * a key there cannot be known.
 */
export function frameLines(text: string, secrets: readonly string[]): SourceLines {
  const document = readYamlTree(text)
  const marks = new Uint8Array(text.length)
  if (document === undefined || document.errors.length > 0) markNames(text, marks)
  else {
    markNode(document.contents, { schema: ROOT, at: [] }, marks)
    markSigns(text, marks)
  }
  for (const secret of secrets) if (secret.length >= MIN_SECRET_CHARS) hide(text, secret, marks)
  const covered: Covered[] = []
  let from = 0
  for (const line of text.split('\n')) {
    covered.push(cover(line.replace(/\r$/, ''), marks.subarray(from)))
    from += line.length + 1
  }
  return {
    lines: covered.map(({ line }) => line),
    columnOf: (line, column) => covered[line - 1]?.columnOf(column) ?? column,
  }
}

/** A part of the file: the schema that applies to it, and its path. */
interface SchemaNode {
  readonly schema: Schema | undefined
  readonly at: Path
  /** The schema is that of the nearest name: then only plain words are shown. */
  readonly isGuess?: boolean
}

function markNode(node: unknown, { schema, at, isGuess = false }: SchemaNode, marks: Uint8Array): void {
  const known = holdsOf(schema) === 'secret' ? undefined : schema
  if (isScalar(node)) markRange(node, isPublic(node, known, isGuess), marks)
  else if (isSeq(node)) {
    const item = known && schemaFor(known, []).item
    if (item === undefined && node.flow === true && node.items.every(isScalar)) return markRange(node, false, marks)
    for (const [index, member] of node.items.entries())
      markNode(member, { schema: item, at: [...at, index], isGuess }, marks)
  } else if (isMap(node)) markMembers(node, { schema: known, at, isGuess }, marks)
}

function isPublic({ value }: Scalar, schema: Schema | undefined, isGuess: boolean): boolean {
  return shownValue(value as string, schema) === value && (!isGuess || PLAIN_WORD.test(String(value)))
}

function markMembers({ items }: YAMLMap, { schema, at, isGuess = false }: SchemaNode, marks: Uint8Array): void {
  const plain = Object.fromEntries(items.map((pair) => [keyText(pair.key), (pair.value as Scalar | null)?.value]))
  const form = schema && schemaFor(schema, plain)
  for (const pair of items) {
    const key = keyText(pair.key)
    const here = [...at, key ?? '']
    if (key === undefined) markNode(pair.key, { schema: undefined, at: here }, marks)
    else markRange(pair.key as Scalar, shownKeyAt(here, isCollection(pair.value)) === key, marks)
    const known = key === undefined ? undefined : memberOf(form, key)
    const near = known === undefined && key !== undefined ? meantBy(form, key) : undefined
    markNode(pair.value, { schema: known ?? near, at: here, isGuess: isGuess || near !== undefined }, marks)
  }
}

/** Not a secret: those have digits or signs in them, or are a setting of their own. */
const PLAIN_WORD = /^[A-Za-z][A-Za-z-]{0,31}$/

function meantBy(form: Schema | undefined, key: string): Schema | undefined {
  const near = nearest(key, Object.keys(form?.entries ?? {}))
  return near === undefined ? undefined : memberOf(form, near)
}

function markRange({ range }: Node, isShown: boolean, marks: Uint8Array): void {
  if (range) marks.fill(isShown ? SHOWN : IN_VALUE, range[0], range[1])
}

/** Between values: brackets, commas, the signs before a value, and that there is a comment. */
function markSigns(text: string, marks: Uint8Array): void {
  let isComment = false
  for (const { 0: sign, index } of text.matchAll(/[\n#[\]{},]|(?<![^\s])-(?=\s|$)|:(?=[\s,\]}]|$)/g)) {
    if (sign === '\n') isComment = false
    else if (marks[index] === 0 && !isComment) {
      marks[index] = SHOWN
      isComment = sign === '#'
    }
  }
}

/** A key at the beginning of a line, and a word behind it that is the whole value. */
const LINE = /^[ -]*(\w+):(?:(?=\s|$)(?:[ \t]+([A-Za-z][A-Za-z-]{0,31})(?=[ \t]*(?:\r?\n|$)))?)/gm

function markNames(text: string, marks: Uint8Array): void {
  const names = settingNames()
  for (const { 0: whole, 1: name = '', 2: word = '', index } of text.matchAll(LINE))
    if (names.has(name)) marks.fill(SHOWN, index, index + whole.length - (isSecretName(name) ? word.length : 0))
}

function hide(text: string, secret: string, marks: Uint8Array): void {
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length))
    marks.fill(IN_VALUE, at, at + secret.length)
}

// oxlint-disable-next-line no-control-regex
const HIDDEN_RUN = /\0(?:[\0 \t]*\0)?/g

interface Covered {
  readonly line: string
  columnOf(column: number): number
}

/** Puts one word in the place of each run of hidden characters; blanks inside a run belong to it. */
function cover(line: string, marks: Uint8Array): Covered {
  const open = Array.from(line.split(''), (character, index) =>
    marks[index] === SHOWN || /[ \t\uFEFF]/.test(character) ? character : '\0',
  ).join('')
  const runs = [...open.matchAll(HIDDEN_RUN)]
  return {
    line: open.replaceAll(HIDDEN_RUN, HIDDEN),
    columnOf(column) {
      let shift = 0
      for (const { index, 0: run } of runs) {
        if (column - 1 < index) break
        if (column - 1 < index + run.length) return index + shift + 1
        shift += HIDDEN.length - run.length
      }
      return column + shift
    },
  }
}
