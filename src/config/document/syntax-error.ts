/** syntax-error: what is wrong with a text that is not YAML, where that begins, and what to write. */
import { type Document, isCollection, type Scalar, visit, type YAMLError } from 'yaml'
import { wrongIndent } from './indentation.ts'
import { ROOT, schemaFor, memberOf, settingNames } from '../schema/walk.ts'
import { shownValue } from '../secrets/mask.ts'

export interface SyntaxFault {
  readonly offset: number
  /** Completes "This is not YAML: …". */
  readonly why: string
  readonly fix: string
}

/** Of the first error; those after it mostly follow from it. */
export function explainSyntax(document: Document.Parsed, text: string, error: YAMLError): SyntaxFault {
  const [at] = error.pos
  return (
    joinedKey(text, at) ??
    indentedKey(text, error) ??
    openQuote(document, text, error) ??
    openBracket(document, text, at) ?? { offset: at, why: reasonOf(error), fix: fixFor(text, error) }
  )
}

/** `model:openai/x`: without a space the colon is a part of a string. Undefined for any other line. */
export function joinedKey(text: string, offset: number): SyntaxFault | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const [line = ''] = text.slice(start).split('\n', 1)
  const [, before = '', key = '', value = ''] = /^([ -]*)(\w+):([^\s:/].*)$/.exec(line) ?? []
  if (key === '' || !settingNames().has(key)) return undefined
  const schema = before === '' ? memberOf(schemaFor(ROOT, {}), key) : undefined
  // Only a public value may be shown again: another may be a secret.
  const isPublic = schema !== undefined && shownValue(value.trim(), schema) === value.trim()
  return {
    offset: start + before.length + key.length,
    why: `"${key}:" has no space after its colon`,
    fix: isPublic ? `Write: ${key}: ${value.trim()}` : `Write a space after "${key}:".`,
  }
}

/** A key or an item beside others, with more or fewer spaces. */
function indentedKey(text: string, { code, message, pos: [at] }: YAMLError): SyntaxFault | undefined {
  const isIndent = ['BAD_INDENT', 'BLOCK_AS_IMPLICIT_KEY'].includes(code) || message.startsWith('Sequence item without')
  const found = isIndent ? wrongIndent(text, at) : undefined
  if (!found) return undefined
  const { offset, line, spaces, wanted, of } = found
  return {
    offset,
    why: `line ${line} begins with ${spacesOf(spaces)}, the ${of} beside it with ${wanted}`,
    fix: `Begin line ${line} with ${spacesOf(wanted)}.`,
  }
}

function spacesOf(count: number): string {
  return count === 0 ? 'no space' : `${count} ${count === 1 ? 'space' : 'spaces'}`
}

/** A string in quotes without an end, or with its end on a later line. */
function openQuote(document: Document.Parsed, text: string, { code, pos }: YAMLError): SyntaxFault | undefined {
  const [at] = pos
  let start: number | undefined
  visit(document, {
    Scalar(_key, { type, range }: Scalar) {
      if (!range || (type !== 'QUOTE_DOUBLE' && type !== 'QUOTE_SINGLE')) return
      const [from, to, end] = range
      const isOpen = code === 'MISSING_CHAR' || text.slice(from, to).includes('\n')
      if (isOpen && from < at && end + 1 >= at) start = from
    },
  })
  if (start === undefined) return undefined
  const quote = text[start] === "'" ? "'" : '"'
  return {
    offset: start,
    why: `the quote ${quote} that opens here is not closed on its line`,
    fix: `Write the closing ${quote} at the end of the value.`,
  }
}

/** A list or map in brackets without an end. */
function openBracket(document: Document.Parsed, text: string, at: number): SyntaxFault | undefined {
  let start: number | undefined
  visit(document, {
    Collection(_key, node) {
      if (!isCollection(node) || node.flow !== true || !node.range) return
      const [from, to] = node.range
      const closing = text[from] === '[' ? ']' : '}'
      if (from < at && to >= at - 1 && text[to - 1] !== closing) start = from
    },
  })
  if (start === undefined) return undefined
  const closing = text[start] === '[' ? ']' : '}'
  return {
    offset: start,
    why: `the bracket ${text[start] ?? ''} that opens here is not closed`,
    fix: `Write the closing ${closing} after the last item.`,
  }
}

/** What the library says before it quotes the text, which may be a secret. */
function reasonOf({ code, message }: YAMLError): string {
  return code === 'BAD_DQ_ESCAPE' ? 'Invalid escape sequence' : (message.split(': ')[0] ?? '')
}

const FIXES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  TAB_AS_INDENT: 'Replace the tab at the beginning of the line with spaces.',
  BAD_INDENT: 'Start all settings of one map in the same column.',
  BLOCK_AS_IMPLICIT_KEY: 'Put quotes around the value: it contains a colon and a space.',
  BAD_DQ_ESCAPE: 'Write the backslash twice, or put single quotes around the value.',
  BAD_SCALAR_START: 'Put quotes around the value.',
  MULTILINE_IMPLICIT_KEY: 'Write "key: value", with a space after the colon.',
}

function fixFor(text: string, { code, pos: [at] }: YAMLError): string {
  if (text.slice(at - 1, at + 1) === '${') return 'Put quotes around the value: "${NAME}".'
  return FIXES[code] ?? 'Write "key: value", and put quotes around a value with special characters.'
}
