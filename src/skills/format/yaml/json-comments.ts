import { isMap } from 'yaml'
import type { Edit, JsonObject } from '../../../kernel/index.ts'
import { jsonComments, parseJson5, type TextRange } from '../json5.ts'
import { placeOf } from '../text.ts'
import { isFatal, readYaml } from './read.ts'
import { mapToJson } from './values.ts'

/** A YAML entry with the comments of its JSON value as comments of YAML. It has as many lines as before. */
export interface YamlComments {
  readonly text: string
  /** Begins the first comment. */
  readonly sign: string
  /** From the first comment to the last: a value with some of both kinds could not be read. Places count from the start of the entry. */
  readonly edit: Edit
}

/** Undefined when the value, which begins at `head`, has no comments, or when YAML reads something else without them. */
export function withYamlComments(entry: string, head: number): YamlComments | undefined {
  const value = /\/[/*]/.test(entry) ? parseJson5(entry.slice(head)) : undefined
  const comments = value === undefined ? [] : jsonComments(entry, head)
  const from = comments[0]?.start ?? 0
  const to = comments.at(-1)?.end ?? 0
  if (value === undefined || to === 0) return undefined
  let written = ''
  let last = from
  for (const comment of comments) {
    written += entry.slice(last, comment.start) + asYaml(entry, comment)
    last = comment.end
  }
  const text = entry.slice(0, from) + written + entry.slice(to)
  if (!isReadAs(text, value)) return undefined
  const edit = { start: placeOf(entry, from), end: placeOf(entry, to), text: written }
  return { text, sign: entry.slice(from, from + 2), edit }
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
