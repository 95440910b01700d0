import { isMap, isScalar, type ParsedNode, Scalar } from 'yaml'
import type { FormatCode } from '../messages/messages.ts'
import type { YamlProblem } from '../report.ts'
import { isFatal, readSyntax } from './read.ts'

/** A top-level key with its lines, and what reading them alone finds. */
export interface Subject {
  readonly key: string
  readonly text: string
  readonly problems: readonly YamlProblem[]
}

/** Quotes would hide them: of a key given twice one value gets lost, and a merge key brings others. */
const NEVER_TEXT: ReadonlySet<FormatCode> = new Set(['yaml-duplicate-key', 'yaml-merge-key'])
/** Refused in YAML, and also how a text may begin. */
const MARKS: ReadonlySet<FormatCode> = new Set(['yaml-anchor', 'yaml-alias', 'yaml-tag'])

/** Their values are sentences for people or models. */
const PROSE: ReadonlySet<string> = new Set([
  ...['description', 'license', 'compatibility', 'argument-hint', 'when_to_use', 'title', 'summary', 'author'],
])

/**
 * True when a value that cannot be used as YAML was plausibly meant as text. YAML with an anchor, an alias or a tag is text only under keys
 * of sentences. Source: decisions, "YAML limits".
 */
export function isMeantAsText(subject: Subject): boolean {
  const codes = subject.problems.filter(isFatal).map(({ code }) => code)
  if (codes.some((code) => NEVER_TEXT.has(code))) return false
  if (!codes.some((code) => MARKS.has(code))) return true
  const root = readSyntax(subject.text)
  if (root === undefined) return true
  return PROSE.has(subject.key) && isPlainText(subject, root)
}

/** `&more words`, `!important words` and `!tag "words"`, and not `&name "words"`, blocks or brackets. */
function isPlainText({ text }: Subject, root: ParsedNode | null): boolean {
  const [, mark] = /^[^:]*:\s+([&!])/.exec(text) ?? []
  if (mark === undefined) return true
  const value: unknown = isMap(root) ? root.items[0]?.value : undefined
  if (!isScalar(value)) return false
  return value.type === Scalar.PLAIN || (mark === '!' && QUOTED.has(value.type))
}

const QUOTED: ReadonlySet<unknown> = new Set([Scalar.QUOTE_DOUBLE, Scalar.QUOTE_SINGLE])
