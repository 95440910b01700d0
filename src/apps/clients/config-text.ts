/** config-text: changes one value in the text of a configuration file, and leaves comments, order and layout as they are. */
import { parse as parseToml, patch as patchToml } from '@decimalturn/toml-patch'
import { modify, parseTree, getNodeValue, type ParseError, printParseErrorCode } from 'jsonc-parser'
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { unreadable } from './text-file.ts'
import type { Client } from './table.ts'

type Format = Client['format']

/** `{}` for an empty text. Throws CONFIG_INVALID with the line. */
export function readDocument(text: string, format: Format, path: string): JsonObject {
  if (withoutMark(text).trim() === '') return {}
  const value = format === 'json' ? readJson(text, path) : readToml(text, path)
  if (!isJsonObject(value)) throw unreadable(path, 'it is not a mapping of keys')
  return value
}

function readJson(text: string, path: string): JsonValue {
  const errors: ParseError[] = []
  const own = withoutMark(text)
  const tree = parseTree(own, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) {
    const line = own.slice(0, first.offset).split('\n').length
    throw unreadable(`${path}:${line}`, `it is not JSON (${printParseErrorCode(first.error)})`)
  }
  return tree === undefined ? {} : (getNodeValue(tree) as JsonValue)
}

function readToml(text: string, path: string): JsonValue {
  try {
    return parseToml(text) as JsonValue
  } catch (error) {
    const { message, line } = error as Error & { line?: number }
    const place = line === undefined ? path : `${path}:${line}`
    throw unreadable(place, `it is not TOML (${message.split('\n')[0] ?? ''})`, error)
  }
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '')
}

/** The text with another value at `path`; without one, the key is removed. */
export function changeText(text: string, format: Format, path: readonly string[], value?: JsonObject): string {
  if (format === 'toml') return changeToml(text, path, value)
  const own = withoutMark(text)
  const mark = text.slice(0, text.length - own.length)
  const eol = own.includes('\r\n') ? '\r\n' : '\n'
  const json = own.trim() === '' ? '{}' : own
  const changed = changeJson(json, eol, path, value)
  return mark + (own.trim() === '' ? `${changed}${eol}` : changed)
}

/** One edit, so that the bytes around it stay; the library would lay out its neighbours anew. */
function changeJson(text: string, eol: string, path: readonly string[], value?: JsonObject): string {
  const [edit] = modify(text, [...path], value, {})
  if (edit === undefined) return text
  const { offset, length, content } = edit
  const [before, after] = [text.slice(0, offset), text.slice(offset + length)]
  // An object that is empty then keeps no white space.
  if (content === '')
    return /\{\s*$/.test(before) && /^\s*\}/.test(after) ? before.trimEnd() + after.trimStart() : before + after
  const [, indent = ''] = /^([ \t]*)[^\r\n]*$/m.exec(before.slice(before.lastIndexOf('\n') + 1)) ?? []
  const unit = indentationOf(text)
  const laidOut = (json: unknown, at: string): string =>
    JSON.stringify(json, undefined, unit).replaceAll('\n', eol + at)
  if (length > 0) return before + laidOut(JSON.parse(content), indent) + after
  const isFirst = !content.startsWith(',')
  const object: unknown = JSON.parse(`{${isFirst ? content : content.slice(1)}}`)
  if (isFirst) {
    const inside = laidOut(object, indent).slice(1, -1)
    return before + (/^[^}]*\n/.test(after) ? inside.trimEnd() : inside) + after
  }
  const opening = before.slice(before.lastIndexOf('{', before.lastIndexOf('\n')))
  if (!opening.includes('\n')) return `${before}, ${JSON.stringify(object).slice(1, -1)}${after}`
  const outer = indent.slice(0, Math.max(0, indent.length - unit.length))
  return `${before},${laidOut(object, outer).slice(1, -1).trimEnd()}${after}`
}

function changeToml(text: string, path: readonly string[], value?: JsonObject): string {
  const document = parseToml(text) as Record<string, unknown>
  const above = path.slice(0, -1).reduce<Record<string, unknown>>((map, key) => {
    map[key] ??= {}
    return map[key] as Record<string, unknown>
  }, document)
  const last = path.at(-1) ?? ''
  if (value === undefined) delete above[last]
  else above[last] = value
  return patchToml(text, document, { inlineTableStart: 2 })
}

/** The first line that is indented shows it; two spaces where none is. */
function indentationOf(text: string): string {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? []
  return indent.startsWith('\t') ? '\t' : indent
}
