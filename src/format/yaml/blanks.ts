import { isMap, isScalar, isSeq, type ParsedNode, Scalar } from 'yaml'
import { CLIENT_BLOCKS } from '../../kernel/index.ts'
import { shown } from '../shown.ts'
import { REQUIREMENTS, TOP_LEVEL } from '../fields/metadata-keys.ts'
import { codePoint, namesOf, seenOf } from '../split.ts'
import type { YamlProblem } from './inspect.ts'
import { NOT_PROSE } from './prose.ts'
import { keyText } from './values.ts'

/** Blanks, seen or not, that are letters to YAML. */
const ODD = /[^\S \t\r\n]|[\u180e\u200b-\u200d\u2060]/

/** Keys and entries of lists that begin with a blank which looks like indentation and is none: they belong elsewhere than people see. */
export function oddBlanks(root: ParsedNode | null, text: string): YamlProblem[] {
  const problems: YamlProblem[] = []
  // Few texts have one at all.
  if (ODD.test(text) || seenOf(text) !== text) visit(root, problems)
  return problems
}

function visit(node: ParsedNode | null, problems: YamlProblem[]): void {
  if (isSeq(node)) for (const item of node.items) visit(item as ParsedNode | null, problems)
  else if (isMap(node)) {
    for (const { key, value } of node.items) {
      aboutKey(key, problems)
      visit(value as ParsedNode | null, problems)
    }
  } else aboutEntry(node, problems)
}

function aboutKey(key: unknown, problems: YamlProblem[]): void {
  const { source, start } = plain(key) ?? {}
  if (source === undefined || !ODD.test(source.slice(0, 1))) return aboutHidden(key, problems)
  const name = source.replace(/^[\s\u180e\u200b-\u200d\u2060]+/, '')
  problems.push({
    code: 'odd-blank',
    message: `${codePoint(source)} before the key ${shown(name)} is a letter to YAML, no indentation: the key stands elsewhere than it seems`,
    offset: start ?? 0,
    fix: `put common spaces in place of ${codePoint(source)} before ${shown(name)}, or nothing at the start of the line when it is a key of its own`,
  })
}

/** A key that people read as one of ours. */
function aboutHidden(key: unknown, problems: YamlProblem[]): void {
  const name = keyText(key) ?? ''
  const seen = seenOf(name)
  if (!isScalar(key) || seen === name || !KNOWN.has(seen)) return
  const at = [...name].findIndex((character) => seenOf(character) === '')
  const isQuoted = key.type !== Scalar.PLAIN
  problems.push({
    code: 'odd-blank',
    message: `${namesOf(name)}, which nobody sees, stands in the key ${shown(seen)}: the key is another one and is not read`,
    offset: (key.range?.[0] ?? 0) + (isQuoted ? 1 : 0) + at,
    fix: `type the key anew: ${seen}:`,
  })
}

const KNOWN: ReadonlySet<string> = new Set([
  ...['name', 'description', 'metadata', 'always', 'skillKey'],
  ...[...NOT_PROSE, ...CLIENT_BLOCKS, ...TOP_LEVEL, ...REQUIREMENTS],
])

/** A dash and such a blank begin a text, no entry of a list. */
function aboutEntry(node: unknown, problems: YamlProblem[]): void {
  const { source, start } = plain(node) ?? {}
  if (source === undefined || !source.startsWith('-') || !ODD.test(source.slice(1, 2))) return
  const blank = codePoint(source.slice(1))
  problems.push({
    code: 'odd-blank',
    message: `${blank} after a dash is a letter to YAML: this is a text, no entry of a list`,
    offset: start ?? 0,
    fix: `put a common space in place of ${blank} after the dash`,
  })
}

function plain(node: unknown): { readonly source: string; readonly start: number } | undefined {
  if (!isScalar(node) || node.type !== Scalar.PLAIN) return undefined
  return { source: node.source ?? '', start: node.range?.[0] ?? 0 }
}
