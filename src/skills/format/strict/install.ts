import { isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import type { UnsafeInstall } from '../messages/strict.ts'
import { ARCHIVES, BIN, isArchive, isCount, isHttps, isSafePackage, isTarget, PACKAGE_RULES } from './install-rules.ts'
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

function checkEntry(subject: Subject, entry: JsonObject, path: KeyPath): void {
  const given = ownValue(entry, 'kind')
  // An entry without a kind is reported when the file is read.
  if (typeof given !== 'string' || given.trim() === '') return
  const kind = given.trim().toLowerCase()
  if (kind === 'download') checkDownload(subject, entry, path)
  else checkPackage(subject, entry, { kind, path })
  const bins = ownValue(entry, 'bins')
  for (const bin of Array.isArray(bins) ? (bins as readonly JsonValue[]) : []) {
    if (typeof bin === 'string' && BIN.test(bin)) continue
    unsafe(subject, path, { key: 'bins', value: bin, wanted: 'a list of names of programs', example: 'bins: [gh]' })
  }
}

function checkPackage(subject: Subject, entry: JsonObject, { kind, path }: { kind: string; path: KeyPath }): void {
  const rule = Object.hasOwn(PACKAGE_RULES, kind) ? PACKAGE_RULES[kind] : undefined
  if (rule === undefined) {
    subject.add('install-kind', { key: [...path, 'kind'] }, kind, [...Object.keys(PACKAGE_RULES), 'download'])
    return
  }
  const { field, example } = rule
  const value = ownValue(entry, field)
  const wanted = `a name that ${kind} may be given`
  if (value === undefined) unsafe(subject, path, { key: field, wanted, example })
  else if (typeof value !== 'string' || !isSafePackage(value, rule))
    unsafe(subject, path, { key: field, value, wanted, example })
}

function checkDownload(subject: Subject, entry: JsonObject, path: KeyPath): void {
  const url = ownValue(entry, 'url')
  if (typeof url !== 'string' || !isHttps(url)) {
    const expected = { wanted: 'an address of https', example: 'url: https://example.com/tool.tar.gz' }
    unsafe(subject, path, { key: 'url', value: url, ...expected })
  }
  const digest = ownValue(entry, 'sha256')
  if (digest === undefined) subject.add('install-digest', { key: [...path, 'kind'] })
  const rules: readonly (readonly [key: string, ok: (value: JsonValue) => boolean, wanted: string, example: string])[] =
    [
      ['sha256', isDigest, '64 hex digits', 'sha256: "<64 hex digits>"'],
      ['archive', isArchive, `one of ${ARCHIVES.join(', ')}`, 'archive: tar.gz'],
      ['extract', (value) => typeof value === 'boolean', 'true or false', 'extract: true'],
      ['stripComponents', isCount, 'a number from 0 to 32', 'stripComponents: 1'],
      ['targetDir', isTarget, 'a directory inside the directory of tools', 'targetDir: bin'],
    ]
  for (const [key, accepts, wanted, example] of rules) {
    const value = ownValue(entry, key)
    if (value !== undefined && (value !== null || key === 'sha256') && !accepts(value))
      unsafe(subject, path, { key, value, wanted, example })
  }
}

function isDigest(value: JsonValue): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value)
}

type Unsafe = Pick<UnsafeInstall, 'key' | 'wanted' | 'example'> & { readonly value?: JsonValue }

function unsafe({ add }: Subject, path: KeyPath, { value, ...fault }: Unsafe): void {
  // JSON text of nothing is undefined.
  const given = typeof value === 'string' ? value : JSON.stringify(value)
  // The kind is where a missing key belongs.
  const key = [...path, value === undefined ? 'kind' : fault.key]
  add('install-unsafe', { key }, { ...fault, path: path.join('.'), value: given })
}
