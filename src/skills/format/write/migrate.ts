import { isMap, isScalar, Lexer, type ParsedNode, type YAMLMap } from 'yaml'
import {
  type Edit,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  type SkillDocument,
} from '../../../kernel/index.ts'
import { keyText } from '../../../yaml/index.ts'
import { readLeniently } from '../frontmatter.ts'
import { parseJson5 } from '../json5.ts'
import { parseSkill } from '../parse.ts'
import { createReport } from '../report.ts'
import { splitFrontmatter } from '../split.ts'
import { applyEdit, isSameBut, type Rewritten, type RewriteOptions } from './edits.ts'
import { emitEntries, toJson } from './emit.ts'
import { clientBlocks, isReadField, mergeBlocks } from './merge.ts'

const WHY_NEXUS = 'gating and display fields stand directly under metadata, as YAML'
const WHY_FLAT = 'for clients that accept only text under metadata; Nexus reads it back'

/**
 * Turns `metadata` of other clients (one-line JSON5, fields below openclaw, clawdbot, clawdis, moltbot) into ours: nested YAML directly
 * under `metadata`, its comments first. What is read stays the same, and so does every byte outside `metadata`. Twice does nothing more.
 * Never throws. Source: seed 001 Appendix B; decisions, "metadata forms".
 */
export function migrateSkill(text: string, options: RewriteOptions): Rewritten {
  return rewrite(text, options, (metadata, form) => {
    if (!needsMigration(metadata, form)) return undefined
    const merged = mergeBlocks(metadata)
    return { ...merged, lines: emitEntries(merged.metadata, '  '), why: WHY_NEXUS }
  })
}

/**
 * Turns `metadata` into text to text, as the specification has it: nested values become one JSON text under the key `nexus`, which
 * reading understands. Everything else as `migrateSkill`. Source: decisions, "metadata forms".
 */
export function exportFlat(text: string, options: RewriteOptions): Rewritten {
  return rewrite(text, options, (metadata, form) => {
    if (form !== 'text' && Object.values(metadata).every((value) => typeof value === 'string')) return undefined
    const { metadata: merged, outweighed } = mergeBlocks(metadata)
    const flat = flatten(merged)
    return { metadata: flat, lines: emitFlat(flat), outweighed, why: WHY_FLAT }
  })
}

interface Plan {
  readonly metadata: JsonObject
  /** The entries as block YAML, indented by two. */
  readonly lines: readonly string[]
  readonly outweighed: readonly string[]
  readonly why: string
}

/** How metadata is written: JSON5 in a text, a mapping in braces, or one key a line. */
type Form = 'text' | 'flow' | 'block'

/** Writes the value of `metadata` anew; a result that would be read differently is not used. */
function rewrite(text: string, options: RewriteOptions, planner: Planner): Rewritten {
  const { document, diagnostics } = parseSkill(text, options)
  const place = document && text.isWellFormed() ? placeOfMetadata(text) : undefined
  const plan = document && place ? planFor(document, place, planner) : undefined
  if (document === undefined || place === undefined || plan === undefined) return { text, changes: [], diagnostics }
  const { start, end } = place
  const report = createReport(options.path)
  const now = place.linesOf(plan)
  const edited = applyEdit(text, { start, end, text: now.join('\n') }, { original: text, why: plan.why })
  const after = parseSkill(edited.text, options)
  if (now.length === 0 || !isSameBut('metadata', document, after.document)) {
    report.add('migrate-refused', start)
    return { text, changes: [], diagnostics: [...diagnostics, ...report.diagnostics] }
  }
  for (const field of plan.outweighed) report.add('migrate-outweighed', start, field)
  return { ...edited, diagnostics: [...after.diagnostics, ...report.diagnostics] }
}

type Planner = (metadata: JsonObject, form: Form) => Plan | undefined

function planFor(document: SkillDocument, { form }: Place, planner: Planner): Plan | undefined {
  const written = ownValue(document.frontmatter, 'metadata')
  const metadata = typeof written === 'string' ? parseJson5(written) : written
  return isJsonObject(metadata) ? planner(metadata, typeof written === 'string' ? 'text' : form) : undefined
}

/** The lines of `metadata` in a file. */
interface Place extends Pick<Edit, 'start' | 'end'> {
  readonly form: Form
  /** The lines of the new value; none where it has no place for its comments. */
  linesOf(plan: Plan): readonly string[]
}

function placeOfMetadata(file: string): Place | undefined {
  const split = splitFrontmatter(file.replace(/^\uFEFF/, ''))
  const found = split.kind === 'found' ? metadataIn(split.yaml) : undefined
  if (split.kind !== 'found' || found === undefined) return undefined
  const { text, key, value, isJson } = found
  const start = isJson && value ? value.range[0] : key.range[0]
  const end = start + text.slice(start, (value ?? key).range[1]).trimEnd().length
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = `${text}\n`.indexOf('\n', end)
  const comments = commentsIn(text.slice(lineStart, lineEnd))
  const before = text.slice(lineStart, start)
  const last = text.slice(0, end).split('\n').length - 1
  // Repairs keep lines, but not their lengths.
  const column = (split.yaml.split('\n')[last] ?? '').length + 1
  return {
    form: isMap(value) && value.flow === true && !isJson ? 'flow' : 'block',
    start: { line: split.firstLine + text.slice(0, start).split('\n').length - 1, column: 1 },
    end: { line: split.firstLine + last, column },
    linesOf({ metadata, lines }) {
      // Inside a frontmatter that is one JSON object the new value is JSON too.
      if (isJson) return comments.length > 0 ? [] : [before + toJson(metadata) + text.slice(end, lineEnd)]
      const head = `${before}${text.slice(start, key.range[1])}:${lines.length === 0 ? ' {}' : ''}`
      return [head, ...comments.map((comment) => `  ${comment}`), ...lines]
    },
  }
}

/** The key and value in the text of a frontmatter, with the repairs of reading. */
function metadataIn(yaml: string) {
  const { text, read } = readLeniently(yaml)
  if (!isMap(read.root)) return undefined
  const root = read.root as unknown as YAMLMap<ParsedNode, ParsedNode | null>
  const { key, value } = root.items.find((pair) => keyText(pair.key) === 'metadata') ?? {}
  return isScalar(key) ? { text, key, value, isJson: root.flow === true } : undefined
}

/** The lexer of the library puts it before a scalar, whose text may begin with # too. */
const SCALAR_MARK = '\u001f'

/** Comments of a piece of YAML, without the white space around them. */
function commentsIn(yaml: string): string[] {
  if (!yaml.includes('#')) return []
  const lexemes = [...new Lexer().lex(yaml)]
  return lexemes
    .filter((lexeme, index) => lexeme.startsWith('#') && lexemes[index - 1] !== SCALAR_MARK)
    .map((comment) => comment.trim())
}

function needsMigration(metadata: JsonObject, form: Form): boolean {
  if (form === 'text' || (form === 'flow' && Object.keys(metadata).some(isReadField))) return true
  const clients = [...clientBlocks(metadata).keys()]
  // Our own mapping alone is a form of ours.
  if (clients.length === 1 && clients[0] === 'nexus') return typeof metadata['nexus'] === 'string'
  return clients.length > 0 && JSON.stringify(mergeBlocks(metadata).metadata) !== JSON.stringify(metadata)
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
