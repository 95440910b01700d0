import { isMap, type ParsedNode, type YAMLMap } from 'yaml'
import {
  CLIENT_BLOCKS,
  type Diagnostic,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  type SkillDocument,
} from '../../../kernel/index.ts'
import { parseJson5 } from '../json5.ts'
import { type Found, found, WRITE_CODES, type WriteCode, wordsOf } from '../messages/messages.ts'
import { parseSkill } from '../parse.ts'
import { emitEntries, toJson } from './emit.ts'
import { applyEdits, asChanges, type Edit, joinLayout, type Layout, splitDocument } from './layout.ts'
import { isReadField, mergeAliases, underAlias } from './merge.ts'
import { movedUp } from './move-up.ts'
import { commentsIn, pairOf, readTree, regionOf, type Tree } from './region.ts'
import { readBack, type Rewritten, type RewriteOptions, unchanged } from './rewritten.ts'
import { asMember } from '../messages/words.ts'

const WHY_NEXUS = 'gating and display fields stand directly under metadata, as YAML'
const WHY_FLAT = 'for clients that accept only text under metadata; Nexus reads it back'

/**
 * Turns `metadata` of other clients (one-line JSON5, fields below openclaw, clawdbot, clawdis, moltbot) into ours: nested YAML directly
 * under `metadata`. What is read stays the same, and so does every byte outside `metadata`. Twice does nothing more. Never throws.
 * Source: seed 001 Appendix B; decisions, "metadata forms".
 */
export function migrateSkill(text: string, options: RewriteOptions): Rewritten {
  return rewrite(text, options, (metadata, form) => {
    if (!needsMigration(metadata, form)) return undefined
    const { metadata: merged, outweighed, isPlain } = mergeAliases(metadata)
    return { metadata: merged, lines: emitEntries(merged, '  '), outweighed, isPlain, why: WHY_NEXUS }
  })
}

/**
 * Turns `metadata` into text to text, as the specification has it: nested values become one JSON text under the key `nexus`, which
 * reading understands. Everything else as `migrateSkill`. Source: decisions, "metadata forms".
 */
export function exportFlat(text: string, options: RewriteOptions): Rewritten {
  return rewrite(text, options, (metadata, form) => {
    if (form !== 'text' && Object.values(metadata).every((value) => typeof value === 'string')) return undefined
    const { metadata: merged, outweighed } = mergeAliases(metadata)
    const flat = flatten(merged)
    return { metadata: flat, lines: emitFlat(flat), outweighed, isPlain: false, why: WHY_FLAT }
  })
}

interface Plan {
  readonly metadata: JsonObject
  /** The entries as block YAML, indented by two. */
  readonly lines: readonly string[]
  readonly outweighed: readonly string[]
  /** The fields of the aliases only move up. */
  readonly isPlain: boolean
  readonly why: string
}

/** How metadata is written: JSON5 in a text, a mapping in braces, or one key a line. */
type Form = 'text' | 'flow' | 'block'

type Planner = (metadata: JsonObject, form: Form) => Plan | undefined

function rewrite(text: string, options: RewriteOptions, planner: Planner): Rewritten {
  const { document, diagnostics } = parseSkill(text, options)
  const layout = document === undefined || !text.isWellFormed() ? undefined : splitDocument(text)
  const tree = layout && readTree(layout)
  if (document === undefined || layout === undefined || tree === undefined) return unchanged(text, diagnostics)
  const written = ownValue(document.frontmatter, 'metadata')
  const metadata = typeof written === 'string' ? parseJson5(written) : written
  const plan = isJsonObject(metadata) ? planner(metadata, formOf(tree, written)) : undefined
  if (plan === undefined) return unchanged(text, diagnostics)
  return firstThatReadsTheSame({ text, layout, tree, document, options, plan }, diagnostics)
}

function formOf({ root }: Tree, written: JsonValue | undefined): Form {
  if (typeof written === 'string') return 'text'
  const node = pairOf(root, 'metadata')?.value
  return isMap(node) && (node as unknown as YAMLMap).flow === true && root.flow !== true ? 'flow' : 'block'
}

interface Subject {
  readonly text: string
  readonly layout: Layout
  readonly tree: Tree
  readonly document: SkillDocument
  readonly options: RewriteOptions
  readonly plan: Plan
}

/** Tries to move lines, then to write the value anew; a result that would be read differently is not used. */
function firstThatReadsTheSame(subject: Subject, diagnostics: readonly Diagnostic[]): Rewritten {
  const { layout, document, options, plan } = subject
  for (const edits of [plan.isPlain ? movedUp(subject.tree, layout, plan.why) : undefined, writtenAnew(subject)]) {
    if (edits === undefined || edits.length === 0) continue
    const text = joinLayout(applyEdits(layout, edits))
    const result = readBack(text, document, { options, except: ['metadata'] })
    if (result === undefined) continue
    const notes = plan.outweighed.map((field) => note(found('migrate-outweighed', field), subject))
    return { text, changes: asChanges(layout, edits), diagnostics: [...result.diagnostics, ...notes] }
  }
  return unchanged(subject.text, [...diagnostics, note(found('migrate-refused'), subject)])
}

function note(about: Found & { readonly code: WriteCode }, { tree, layout, options }: Subject): Diagnostic {
  const pair = pairOf(tree.root, 'metadata')
  const line = (pair && regionOf(tree, pair)?.from) ?? 0
  const { code } = about
  const [message, fix] = wordsOf(about)
  return {
    code,
    severity: WRITE_CODES[code],
    message,
    path: options.path,
    line: layout.blank.length + 2 + line,
    column: 1,
    ...asMember(fix),
  }
}

/** The whole value of `metadata` from data; comments that stood in it come first. */
function writtenAnew({ tree, plan }: Subject): Edit[] {
  const pair = pairOf(tree.root, 'metadata')
  if (pair === undefined) return []
  if (tree.root.flow === true) return inJson(tree, pair.value as ParsedNode | null, plan)
  const region = regionOf(tree, pair)
  if (region === undefined) return []
  const { from, to, keyText, comments } = region
  const empty = plan.lines.length === 0
  const now = [`${keyText}:${empty ? ' {}' : ''}`, ...comments.map((comment) => `  ${comment}`), ...plan.lines]
  return [{ from, to, now, why: plan.why }]
}

/** Inside a frontmatter that is one JSON object the new value is JSON too. */
function inJson({ text }: Tree, value: ParsedNode | null, plan: Plan): Edit[] {
  if (value === null) return []
  const [start, end] = value.range
  if (commentsIn(text.slice(start, end)).length > 0) return []
  const from = text.slice(0, start).split('\n').length - 1
  const to = from + text.slice(start, end).split('\n').length
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = text.indexOf('\n', end)
  const rest = text.slice(end, lineEnd < 0 ? text.length : lineEnd)
  return [{ from, to, now: [text.slice(lineStart, start) + toJson(plan.metadata) + rest], why: plan.why }]
}

function needsMigration(metadata: JsonObject, form: Form): boolean {
  if (form === 'text' || (form === 'flow' && Object.keys(metadata).some(isReadField))) return true
  const clients = CLIENT_BLOCKS.filter((alias) => underAlias(metadata, alias) !== undefined)
  // Our own mapping alone is a form of ours.
  if (clients.length === 1 && clients[0] === 'nexus') return typeof metadata['nexus'] === 'string'
  if (clients.length > 0) return JSON.stringify(mergeAliases(metadata).metadata) !== JSON.stringify(metadata)
  return false
}

/** Text stays; other single values become text, nested ones and those that gating reads as such go into one JSON text. */
function flatten(metadata: JsonObject): JsonObject {
  const flat = Object.create(null) as Record<string, JsonValue>
  const nested = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === 'string') flat[key] = value
    else if (value === null) {
      if (!isReadField(key)) flat[key] = ''
    } else if (isReadField(key) || typeof value === 'object') nested[key] = value
    else flat[key] = String(value)
  }
  if (Object.keys(nested).length > 0) flat['nexus'] = toJson(nested)
  return flat
}

function emitFlat(flat: JsonObject): string[] {
  const { nexus, ...texts } = flat
  const lines = emitEntries(texts, '  ')
  return typeof nexus === 'string' ? [...lines, `  nexus: '${nexus.replaceAll("'", "''")}'`] : lines
}
