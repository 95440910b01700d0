import { isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import { shown } from '../shown.ts'
import type { Subject } from './findings.ts'
import { ARCHIVES, BIN, isArchive, isCount, isHttps, isSafePackage, isTarget, PACKAGE_RULES } from './install-rules.ts'

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
    unsafe(subject, path, { key: 'bins', message: `bins names ${text(bin)}, which is no program`, fix: 'bins: [gh]' })
  }
}

function checkPackage(subject: Subject, entry: JsonObject, { kind, path }: { kind: string; path: KeyPath }): void {
  const rule = Object.hasOwn(PACKAGE_RULES, kind) ? PACKAGE_RULES[kind] : undefined
  if (rule === undefined) {
    subject.add('install-kind', `the kind ${shown(kind)} is no installer that clients know`, {
      key: [...path, 'kind'],
      fix: `use one of ${Object.keys(PACKAGE_RULES).join(', ')}, download`,
    })
    return
  }
  const { field, example } = rule
  const value = ownValue(entry, field)
  if (value === undefined) {
    unsafe(subject, path, { key: 'kind', message: `kind ${kind} needs ${field}`, fix: example })
  } else if (typeof value !== 'string' || !isSafePackage(value, rule)) {
    const message = `${field} is ${text(value)}, which ${kind} may not be given`
    unsafe(subject, path, { key: field, message, fix: example })
  }
}

function checkDownload(subject: Subject, entry: JsonObject, path: KeyPath): void {
  const url = ownValue(entry, 'url')
  if (typeof url !== 'string' || !isHttps(url)) {
    const message = url === undefined ? 'a download needs url' : `url is ${text(url)}, not an address of https`
    unsafe(subject, path, { key: 'url', message, fix: 'url: https://example.com/tool.tar.gz' })
  }
  const digest = ownValue(entry, 'sha256')
  if (digest === undefined) {
    subject.add('install-digest', 'the download has no sha256, so nobody can verify it', {
      key: [...path, 'kind'],
      fix: 'write: sha256: <64 hex digits, as sha256sum prints them>',
    })
  } else if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/i.test(digest)) {
    unsafe(subject, path, { key: 'sha256', message: 'sha256 is not 64 hex digits', fix: 'sha256: "<64 hex digits>"' })
  }
  const rules: readonly (readonly [key: string, ok: (value: JsonValue) => boolean, message: string, fix: string])[] = [
    ['archive', isArchive, `archive is none of ${ARCHIVES.join(', ')}`, 'archive: tar.gz'],
    ['extract', (value) => typeof value === 'boolean', 'extract is not true or false', 'extract: true'],
    ['stripComponents', isCount, 'stripComponents is no small number', 'stripComponents: 1'],
    ['targetDir', isTarget, 'targetDir leaves the directory of tools', 'targetDir: bin'],
  ]
  for (const [key, accepts, message, fix] of rules) {
    const value = ownValue(entry, key)
    if (value !== undefined && value !== null && !accepts(value)) unsafe(subject, path, { key, message, fix })
  }
}

function unsafe(
  { add }: Subject,
  path: KeyPath,
  { key, message, fix }: { key: string; message: string; fix: string },
): void {
  add('install-unsafe', `${message} (in ${path.join('.')})`, { key: [...path, key], fix: `write: ${fix}` })
}

function text(value: JsonValue): string {
  return shown(typeof value === 'string' ? value : JSON.stringify(value))
}
