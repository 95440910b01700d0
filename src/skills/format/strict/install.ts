import { isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import type { UnsafeInstall } from '../messages/strict.ts'
import { INSTALL_KINDS, isFine, rulesOf } from './install-rules.ts'
import type { Subject } from './spec.ts'

/** Checks every install entry by its kind. Source: contracts §2.3 (fields and kinds), §2.4 (no leading "-", no ".."). */
export function checkInstall(subject: Subject, fields: JsonObject, path: KeyPath): void {
  const inside = ownValue(fields, 'requires')
  const nested = isJsonObject(inside) ? ownValue(inside, 'install') : undefined
  const [value, place] =
    nested !== undefined && ownValue(fields, 'install') === undefined
      ? [nested, [...path, 'requires', 'install']]
      : [ownValue(fields, 'install'), [...path, 'install']]
  if (value === undefined || value === null) return
  const entries: readonly JsonValue[] = Array.isArray(value) ? value : [value as JsonValue]
  entries.forEach((entry, index) => {
    if (isJsonObject(entry)) checkEntry(subject, entry, Array.isArray(value) ? [...place, index] : place)
  })
}

const BIN = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/

function checkEntry(subject: Subject, entry: JsonObject, path: KeyPath): void {
  const given = ownValue(entry, 'kind')
  // An entry without a kind is reported when the file is read.
  if (typeof given !== 'string' || given.trim() === '') return
  const kind = given.trim().toLowerCase()
  const rules = rulesOf(kind)
  if (!rules) subject.add('install-kind', { key: [...path, 'kind'] }, kind, INSTALL_KINDS)
  for (const rule of rules ?? []) {
    const value = ownValue(entry, rule.key)
    if (!isFine(value, rule)) unsafe(subject, path, { value, ...rule })
    if (rule.key === 'sha256' && value === undefined) subject.add('install-digest', { key: [...path, 'kind'] })
  }
  const bins = ownValue(entry, 'bins')
  const wrong = (Array.isArray(bins) ? (bins as readonly JsonValue[]) : []).filter(
    (bin) => typeof bin !== 'string' || !BIN.test(bin),
  )
  for (const value of wrong)
    unsafe(subject, path, { key: 'bins', value, wanted: 'a list of names of programs', example: 'bins: [gh]' })
}

type Unsafe = Pick<UnsafeInstall, 'key' | 'wanted' | 'example'> & { readonly value: JsonValue | undefined }

function unsafe({ add }: Subject, path: KeyPath, { value, key, wanted, example }: Unsafe): void {
  // JSON text of nothing is undefined.
  const given = typeof value === 'string' ? value : JSON.stringify(value)
  // The kind is where a missing key belongs.
  const at = [...path, value === undefined ? 'kind' : key]
  add('install-unsafe', { key: at }, { key, wanted, example, path: path.join('.'), value: given })
}
