import type { JsonValue } from '../../../kernel/index.ts'
import type { Frontmatter } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'
import { asBoolean, TOP_FORMS } from './table.ts'
import { countCharacters, trimText } from './text.ts'
import { splitToolList } from './tool-list.ts'

function addForm(key: keyof typeof TOP_FORMS, found: string, front: Frontmatter, report: Report): void {
  report.add('field-type', front.place(found), found, TOP_FORMS[key])
}

/** The text of a key; a list or a mapping is reported and ignored, a number is read as written. */
export function readTextField(
  front: Frontmatter,
  key: 'license' | 'compatibility',
  report: Report,
): string | undefined {
  const written = front.written(key)
  if (written === 'collection') addForm(key, key, front, report)
  if (written === undefined || written === 'collection' || written.isNull) return undefined
  const text = trimText(written.text ?? '')
  const limit = FORMAT_LIMITS.maxCompatibilityLength
  if (key === 'compatibility' && text.length > limit && countCharacters(text) > limit)
    report.add('compatibility-long', front.place(key), countCharacters(text), limit)
  return text
}

/** A boolean key; `fallback` when absent. One that cannot be read keeps the skill from models. */
export function readFlag(
  front: Frontmatter,
  key: 'disable-model-invocation' | 'user-invocable',
  fallback: boolean,
  report: Report,
): boolean {
  const found = spelledKey(front, key, report)
  const value = front.values[found]
  if (value === undefined || value === null) return fallback
  const flag = asBoolean(value)
  if (flag === undefined) addForm(key, found, front, report)
  return flag ?? true
}

/** The key that is there: itself, or its spelling with underscores, which is reported. */
function spelledKey(front: Frontmatter, key: keyof typeof TOP_FORMS, report: Report): string {
  if (front.values[key] !== undefined) return key
  const other = key.replaceAll('-', '_')
  if (front.values[other] === undefined) return key
  report.add('key-spelling', { ...front.place(other), edit: front.rename(other, key) }, other, key)
  return other
}

/** The tools a skill lists, from a text with blanks or commas or from a list. They never widen what is allowed. */
export function readAllowedTools(front: Frontmatter, report: Report): readonly string[] {
  const key = spelledKey(front, 'allowed-tools', report)
  const value = front.values[key]
  if (value === undefined || value === null) return []
  const parts: readonly JsonValue[] = Array.isArray(value) ? value : [value]
  const texts = parts.filter((part) => typeof part === 'string')
  if (texts.length < parts.length) addForm('allowed-tools', key, front, report)
  const tools = texts.flatMap((text) => {
    // Curly quotes around it are reported for every key, and are part of no name.
    const list = splitToolList(text.replace(/^[\u201c\u201d\u201e]|[\u201c\u201d]$/g, ''), Array.isArray(value))
    if (!list.balanced) report.add('tools-unbalanced', front.place(key), key)
    return list.tools
  })
  return [...new Set(tools)]
}

/** Names of positional arguments: a list of texts or of mappings with `name`, or a text with blanks or commas. */
export function readArguments(front: Frontmatter, report: Report): readonly string[] {
  const value = front.values['arguments']
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return value.split(/[\s,]+/).filter(Boolean)
  const names = (Array.isArray(value) ? (value as readonly JsonValue[]) : []).map((item) =>
    typeof item === 'object' && item !== null && 'name' in item ? (item['name'] as JsonValue) : item,
  )
  const texts = names.filter((name) => typeof name === 'string' && name.trim() !== '') as string[]
  if (!Array.isArray(value) || texts.length < names.length) addForm('arguments', 'arguments', front, report)
  return texts.map((name) => name.trim())
}
