import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import type { KeyPath, KeyPlace } from '../front.ts'
import type { Report } from '../report.ts'
import { isSpelledLikeField, meantField, meantRequirement, REQUIREMENTS } from './metadata-keys.ts'
import { namesOf, seenOf } from '../split.ts'
import { shown } from '../shown.ts'

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
  /** The requirements that count. */
  readonly requires: JsonObject | undefined
}

/** Reports keys that were meant to gate and do not. Below `metadata` itself keys are the author's own, unless what they hold tells. */
export function reportSlips({ clients, metadata, requires }: Searched, notes: Notes): void {
  const hasRequires = requires !== undefined
  for (const fields of clients) {
    for (const [key, value] of Object.entries(fields)) aboutField(key, value, { notes, hasRequires })
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (looksLikeGate(key, value)) aboutField(key, value, { notes, hasRequires })
  }
  reportRequirements(requires, { notes, isOurs: true })
}

/** Unknown keys of `requires`. Where it may be another client's, only those that are near to a requirement. */
export function reportRequirements(
  requires: JsonObject | undefined,
  { notes, isOurs }: { readonly notes: Notes; readonly isOurs: boolean },
): void {
  for (const [key, value] of Object.entries(requires ?? {})) {
    const meant = meantRequirement(key)
    if (meant === undefined) continue
    if (!isOurs && (meant === '' || (!Array.isArray(value) && typeof value !== 'string'))) continue
    const like = meant === '' ? '' : `; it looks like ${meant}`
    const fix =
      meant === ''
        ? 'the requirements are bins, anyBins, env and config; move what is none of them out of requires'
        : `write ${meant}: instead of it`
    const message = `${shown(key)} in requires is no requirement and is not checked${like}`
    add(notes, ['requires', key], { message, fix })
  }
}

/** Reports what stands both beside `requires` and inside it. The one beside it counts. */
export function reportTwice(
  key: string,
  { beside, inside }: Readonly<Record<'beside' | 'inside', JsonValue | undefined>>,
  notes: Notes,
): void {
  const both = [beside, inside]
  if (both.some((value) => value === undefined || value === null)) return
  if (JSON.stringify(beside) === JSON.stringify(inside)) return
  const message = `${key} stands beside requires and inside it; the one inside is not read`
  add(notes, ['requires', key], { message, fix: `write one ${key}: with what is meant, and remove the other` })
}

interface Beside {
  readonly notes: Notes
  readonly hasRequires: boolean
}

function aboutField(key: string, value: JsonValue, { notes, hasRequires }: Beside): void {
  if (isMisplaced(key, value)) {
    const meant = key.toLowerCase().startsWith('bin') ? 'bins' : key
    return add(notes, [key], {
      message: `${shown(key)} ${hasRequires ? 'stands beside requires' : 'does not stand inside of requires'} and is not read there`,
      fix: `write it inside of requires: as ${meant}:`,
    })
  }
  const meant = meantField(key)
  if (meant === undefined || (typeof value === 'boolean' && meant !== 'always')) return
  const hidden = seenOf(key) === key ? '' : ` (${namesOf(key)} in it is not seen)`
  const message = `the key ${shown(key)} is not read; it looks like ${meant}${hidden}`
  add(notes, [key], { message, fix: `write ${meant}: instead of it` })
}

/** Requirements that are not inside of `requires`. Others keep mappings of their own under these names. */
function isMisplaced(key: string, value: JsonValue): boolean {
  if (BINS.has(key)) return typeof value === 'string' || Array.isArray(value)
  return (key === 'env' || key === 'config') && Array.isArray(value)
}

const BINS: ReadonlySet<string> = new Set(['bins', 'bin', 'Bins'])

/** Keys there are the author's own, so only what surely means a field counts: its letters, or what it holds. */
function looksLikeGate(key: string, value: JsonValue): boolean {
  if (/^bins?$/i.test(key)) return isMisplaced(key, value)
  if (isSpelledLikeField(key)) return true
  if ((CLIENT_BLOCKS as readonly string[]).includes(key)) return false
  if (isJsonObject(value))
    return Object.keys(value).some((name) => REQUIREMENTS.includes(name)) && meantField(key) === 'requires'
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : []
  return items.some((item) => isJsonObject(item) && item['kind'] !== undefined) && meantField(key) === 'install'
}

function add({ report, place }: Notes, path: KeyPath, { message, fix }: { message: string; fix: string }): void {
  report.add('metadata-key', message, { ...place(path), fix })
}
