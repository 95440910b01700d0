import type { CST, YAMLError } from 'yaml'
import type { YamlProblem } from './inspect.ts'
import { codePoint } from '../split.ts'
import { fixWithoutQuotes } from './prose.ts'

/** Words for a person who does not know YAML. */
interface Words {
  readonly message: string
  readonly fix: string
  /** Where the cause is, when that is not where the library stumbled. */
  readonly offset?: number
}

const QUOTE_IT = 'put quotes around the whole value'

const BY_CODE: Readonly<Record<string, Words>> = {
  BLOCK_AS_IMPLICIT_KEY: { message: 'a second ": " in an unquoted value', fix: QUOTE_IT },
  BAD_SCALAR_START: { message: 'an unquoted value may not begin with this character', fix: QUOTE_IT },
  TAB_AS_INDENT: { message: 'a tab is used as indentation', fix: 'indent with spaces' },
  BAD_DQ_ESCAPE: {
    message: 'a backslash means something inside double quotes, and here nothing that YAML knows',
    fix: "use single quotes: '…', or write two backslashes for one",
  },
}

/** What the YAML library says, as a problem whose message and fix need no knowledge of YAML. */
export function inPlainWords(
  { code, message, pos: [offset] }: YAMLError,
  source: { readonly text: string; readonly tokens: readonly CST.Token[] },
): YamlProblem {
  const words = aboutQuotes(message) ?? aboutBrackets(message, source.tokens) ?? aboutKeys(message, source.text, offset)
  const found = words ?? aboutIndent(message) ?? aboutRest(message) ?? BY_CODE[code]
  const isGeneral = found === undefined || found.fix === QUOTE_IT
  const better = isGeneral ? fixWithoutQuotes(source.text, offset) : undefined
  return { code: 'yaml-invalid', message, offset, ...found, ...better }
}

function aboutQuotes(message: string): Words | undefined {
  const [, quote] = /^Missing closing (["'])quote$/.exec(message) ?? []
  if (quote === undefined) return undefined
  return { message: `the closing ${quote} is missing`, fix: `write ${quote} at the end of the value, too` }
}

/** A bracket that is not closed is told where it opens, not where the text ends. */
function aboutBrackets(message: string, tokens: readonly CST.Token[]): Words | undefined {
  if (!/^(?:Block|Flow) (?:map|seq\w*|collection).* end with a [\]}]$/i.test(message)) return aboutCommas(message)
  const closer = message.at(-1) ?? ''
  const opener = closer === '}' ? '{' : '['
  const open = openBracket(tokens, opener)
  if (open !== undefined) {
    return { message: `the ${opener} is never closed`, fix: `write the missing ${closer}`, offset: open }
  }
  return {
    message: `the closing ${closer} stands too far left`,
    fix: `indent every line between ${opener} and ${closer} by two spaces, the ${closer} too`,
  }
}

function aboutCommas(message: string): Words | undefined {
  if (!/ (?:in|between) flow (?:map|seq)| in flow collection/.test(message)) return undefined
  return {
    message: 'a comma, a colon or a quote is missing or too many between brackets',
    fix: 'check the commas, colons and quotes between the brackets, or write one key a line instead',
  }
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

const NOT_A_KEY = /^Implicit (?:map )?keys need to be|^Sequence item without - indicator|must be at most 1024 chars/

function aboutKeys(message: string, text: string, offset: number): Words | undefined {
  if (!NOT_A_KEY.test(message)) return undefined
  const before = text.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  const line = text.slice(start).split('\n', 1)[0] ?? ''
  const slip = slipOfKey(line)
  if (slip !== undefined) return { message: `the line is not "key: value": ${slip.why}`, fix: slip.fix }
  const above = before.slice(0, start).trimEnd().split('\n')
  const between = before
    .slice(0, start)
    .split('\n')
    .slice(lastKey(above) + 1, -1)
  if (between.some((each) => each.trim() === '' || each.startsWith('#'))) {
    return {
      message: 'the line is not "key: value"; it looks like instructions, so the closing --- is probably missing',
      fix: 'write a line of --- below the last key, above the instructions',
    }
  }
  return {
    message: 'the line is not "key: value"',
    fix: 'when it belongs to the value above it, indent it by two spaces; else write key: value, with a space after the colon',
  }
}

function lastKey(lines: readonly string[]): number {
  return lines.findLastIndex((line) => /^[\w.-]+[ \t]*:(?:\s|$)/.test(line))
}

/** What is wrong with a line that was meant as `key: value`, and what to type; undefined when it was not. */
export function slipOfKey(line: string): { readonly why: string; readonly fix: string } | undefined {
  return withoutColon(line) ?? withOddColon(line)
}

function withoutColon(line: string): ReturnType<typeof slipOfKey> {
  const [, word, rest = ''] = /^(name|description|license|compatibility|version)[ \t]+([^:=\s].*)$/.exec(line) ?? []
  if (word === undefined) return undefined
  return { why: `no colon after ${word}`, fix: write(word, rest) ?? `write a colon right behind ${word}` }
}

function withOddColon(line: string): ReturnType<typeof slipOfKey> {
  const [, key = '', odd = '', value = ''] = KEY_AND_SIGN.exec(line) ?? []
  if (key === '' || (odd === ':' && /^[ \t]|^$|^\/\//.test(value))) return undefined
  const fix = write(key, value.replace(ODD_START, '')) ?? inWords(key, odd, value)
  return { why: whyNot(odd, value), fix }
}

const ODD_START = /^[\s\u200b\u2060]+/

function inWords(key: string, sign: string, value: string): string {
  const blanks = ODD_START.exec(value)?.[0] ?? ''
  if (sign === ':' && blanks === '') return `put a space behind the colon of ${key}`
  return `write a common colon and a space behind ${key}, instead of ${codePoints(sign + blanks)}`
}

function codePoints(text: string): string {
  return [...text]
    .map((character) => (character > ' ' && character <= '~' ? character : codePoint(character)))
    .join(' ')
}

/** The whole line, unless it is long: a line that is typed as it is shown may not lose its end. */
function write(key: string, value: string): string | undefined {
  const text = value.trimEnd()
  return text.length > 80 ? undefined : `write: ${key}: ${text}`
}

/** A key and what stands where a colon belongs: also `=`, and colons that only look like one. */
const KEY_AND_SIGN = /^\s*["']?([\w.-]+)["']?\s*([:=\uff1a\ua789\u2236])(.*)$/u

function whyNot(sign: string, value: string): string {
  if (sign === '=') return '= instead of a colon'
  if (sign !== ':') return `${codePoint(sign)} instead of a common colon`
  const first = value.slice(0, 1)
  return /[\s\u200b\u2060]/.test(first) ? `${codePoint(first)} instead of a common space` : 'no space after the colon'
}

function aboutIndent(message: string): Words | undefined {
  if (!/^All (?:mapping|sequence) items must start at the same column$/.test(message)) return undefined
  return {
    message: 'the line is indented otherwise than the lines that it belongs to',
    fix: 'give all keys of one mapping, and all entries of one list, the same number of spaces',
  }
}

function aboutRest(message: string): Words | undefined {
  if (message.endsWith('at node end')) return { message: 'text follows where the value has ended', fix: QUOTE_IT }
  if (message.startsWith('Block scalar header includes extra characters')) {
    return {
      message: 'text follows | or > on its line',
      fix: 'begin the text on the next line, indented by two spaces',
    }
  }
  if (message.startsWith('Unexpected ')) return { message, fix: QUOTE_IT }
  return undefined
}
