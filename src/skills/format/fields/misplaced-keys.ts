import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue, unseenIn } from '../../../kernel/index.ts'
import type { KeyPath, KeyPlace } from '../front.ts'
import type { Report } from '../report.ts'
import { isSpelledLikeField, similarField, similarRequirement, REQUIREMENTS } from './metadata-keys.ts'
import type { KeyFault } from '../messages/fields.ts'

/** Where findings about metadata go. */
export interface Notes {
  /** Where a field is written; found only when it is asked for. */
  readonly place: (path: KeyPath) => KeyPlace
  readonly report: Report
}

/** Where gating fields were looked for. */
export interface Searched {
  /** The mappings below the names of clients. */
  readonly clients: readonly JsonObject[]
  readonly metadata: JsonObject
  /** The requirements that are read. */
  readonly requires: JsonObject | undefined
}

/** Reports keys that were meant to gate and do not. Below `metadata` itself keys are the author's own, unless their name or value is clear. */
export function reportMisplaced({ clients, metadata, requires }: Searched, notes: Notes): void {
  for (const fields of clients) {
    for (const key of Object.keys(fields)) checkField(key, fields[key] as JsonValue, notes)
  }
  for (const key of Object.keys(metadata)) {
    if (looksLikeGate(key, metadata[key] as JsonValue)) checkField(key, metadata[key] as JsonValue, notes)
  }
  reportRequirements(requires, { notes, isOurs: true })
}

/** Unknown keys of `requires`. Where it may be another client's, only those that are near to a requirement. */
export function reportRequirements(
  requires: JsonObject | undefined,
  { notes, isOurs }: { readonly notes: Notes; readonly isOurs: boolean },
): void {
  for (const [key, value] of Object.entries(requires ?? {})) {
    const meant = similarRequirement(key)
    if (meant === undefined) continue
    if (!isOurs && (meant === '' || (!Array.isArray(value) && typeof value !== 'string'))) continue
    add(notes, ['requires', key], { kind: 'unknown', requirement: true, ...(meant !== '' && { right: meant }) })
  }
}

/** Reports what is both beside `requires` and inside it. The one beside it is read. */
export function reportTwice(
  key: string,
  { beside, inside }: Readonly<Record<'beside' | 'inside', JsonValue | undefined>>,
  notes: Notes,
): void {
  const both = [beside, inside]
  if (both.some((value) => value === undefined || value === null)) return
  if (JSON.stringify(beside) === JSON.stringify(inside)) return
  add(notes, ['requires', key], { kind: 'twice' })
}

function checkField(key: string, value: JsonValue, notes: Notes): void {
  if (isMisplaced(key, value)) {
    const right = key.toLowerCase().startsWith('bin') ? 'bins' : key
    return add(notes, [key], { kind: 'outside-requires', right })
  }
  const right = similarField(key)
  if (right === undefined || (typeof value === 'boolean' && right !== 'always')) return
  const hidden = unseenIn(key)
  add(notes, [key], { kind: 'unknown', requirement: false, right, ...(hidden !== '' && { hidden }) })
}

/** Requirements that are not inside of `requires`. Others keep mappings of their own under these names. */
function isMisplaced(key: string, value: JsonValue): boolean {
  if (BINS.has(key)) return typeof value === 'string' || Array.isArray(value)
  return (key === 'env' || key === 'config') && Array.isArray(value)
}

const BINS: ReadonlySet<string> = new Set(['bins', 'bin', 'Bins'])

/** Keys there are the author's own, so only what surely means a field counts: its letters, or what it holds. */
function looksLikeGate(key: string, value: JsonValue): boolean {
  if (isSpelledLikeField(key)) return true
  // Nearly all of the author's own keys hold one text.
  if (typeof value === 'string') return /^bins?$/i.test(key) && isMisplaced(key, value)
  if (/^bins?$/i.test(key)) return isMisplaced(key, value)
  if ((CLIENT_BLOCKS as readonly string[]).includes(key)) return false
  if (isJsonObject(value))
    return Object.keys(value).some((name) => REQUIREMENTS.includes(name)) && similarField(key) === 'requires'
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : []
  return items.some((item) => isJsonObject(item) && item['kind'] !== undefined) && similarField(key) === 'install'
}

function add({ report, place }: Notes, path: KeyPath, fault: KeyFault): void {
  report.add('metadata-key', place(path), String(path.at(-1)), fault)
}
