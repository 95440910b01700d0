import type { JsonValue } from '../../../kernel/index.ts'
import type { Frontmatter } from '../front.ts'
import type { Report } from '../report.ts'
import { spelledKey } from './flags.ts'
import { similarTool } from './known-tools.ts'
import { splitToolList } from './tool-list.ts'

/** The tools a skill lists, from a text with blanks or commas or from a list. They never widen what is allowed. */
export function readAllowedTools(front: Frontmatter, report: Report): readonly string[] {
  const key = spelledKey(front, 'allowed-tools', report)
  const value = front.values[key]
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return readToolList(value, { front, key, report, keepSpaces: false })
  const parts = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
  const texts = parts.filter((part) => typeof part === 'string')
  if (texts.length < parts.length) {
    report.add('field-type', front.place(key), key, {
      wanted: 'text or a list of texts',
      example: `${key}: Read Bash(git:*)`,
    })
  }
  return [...new Set(texts.flatMap((text) => readToolList(text, { front, key, report, keepSpaces: true })))]
}

interface ToolField {
  readonly front: Frontmatter
  readonly key: string
  readonly report: Report
  /** The text is one entry of a list. */
  readonly keepSpaces: boolean
}

function readToolList(text: string, { front, key, report, keepSpaces }: ToolField): readonly string[] {
  // Curly quotes around it are reported for every key, and are part of no name.
  const { tools, balanced } = splitToolList(text.replace(/^[\u201c\u201d\u201e]|[\u201c\u201d]$/g, ''), keepSpaces)
  if (!balanced) report.add('tools-unbalanced', front.place(key), key)
  for (const tool of tools) {
    const right = similarTool(tool)
    if (right !== undefined) report.add('tool-similar', front.place(key), tool, right)
  }
  return tools
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
  if (!Array.isArray(value) || texts.length < names.length) {
    report.add('field-type', front.place('arguments'), 'arguments', {
      wanted: 'a list of names',
      example: 'arguments: [first, second]',
    })
  }
  return texts.map((name) => name.trim())
}
