import { isMap } from 'yaml'
import type { Edit, JsonObject } from '../../kernel/index.ts'
import { jsonComments, parseJson5, type TextRange } from '../json5.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { placeOf } from '../text.ts'
import { isFatal, readYaml } from './read.ts'
import { mapToJson } from './values.ts'

/** A comment of JSON in a YAML text. */
export interface JsonComment {
  readonly sign: string
  /** Writes it as a comment of YAML; places count from the start of the text. */
  readonly edit: Edit
}

/** A YAML entry with the comments of its JSON value as comments of YAML. It has as many lines as before. */
export interface YamlComments {
  readonly text: string
  /** As many as can be reported. */
  readonly comments: readonly JsonComment[]
}

/** Undefined when the value, which begins at `head`, has no comments, or when YAML reads something else without them. */
export function withYamlComments(entry: string, head: number): YamlComments | undefined {
  const value = /\/[/*]/.test(entry) ? parseJson5(entry.slice(head)) : undefined
  if (value === undefined) return undefined
  const comments: JsonComment[] = []
  let text = ''
  let last = 0
  for (const { start, end } of jsonComments(entry, head)) {
    const written = asYaml(entry, { start, end })
    text += entry.slice(last, start) + written
    last = end
    if (comments.length === FORMAT_LIMITS.maxFindings) continue
    const edit = { start: placeOf(entry, start), end: placeOf(entry, end), text: written }
    comments.push({ sign: entry.slice(start, start + 2), edit })
  }
  text += entry.slice(last)
  return comments.length > 0 && isReadAs(text, value) ? { text, comments } : undefined
}

function isReadAs(text: string, value: JsonObject): boolean {
  const { root, problems } = readYaml(text)
  if (problems.some(isFatal) || !isMap(root)) return false
  return JSON.stringify(Object.values(mapToJson(root))) === JSON.stringify([value])
}

/** A line of a comment becomes a YAML comment, or blanks when more follows on that line. */
function asYaml(text: string, { start, end }: TextRange): string {
  const isBlock = text.startsWith('/*', start)
  const endsLine = /[ \t]*(?:\n|$)/y
  endsLine.lastIndex = end
  const isLast = endsLine.test(text)
  const lines = text.slice(start + 2, isBlock ? end - 2 : end).split('\n')
  return lines
    .map((line, index) => {
      const isFirst = index === 0
      if (index === lines.length - 1 && !isLast) return ' '.repeat(line.length + (isFirst ? 4 : 2))
      const needsBlank = isFirst && /\S/.test(text[start - 1] ?? '')
      const indent = isFirst ? Number(needsBlank) : line.length - line.trimStart().length
      return `${' '.repeat(indent)}# ${line.trim()}`.trimEnd()
    })
    .join('\n')
}
